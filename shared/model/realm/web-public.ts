import type { Environment } from '../../environment.ts';

/** Whether the operator lets organizations have web-public channels (specification 4.2): yes, unless said otherwise. */
export const isWebPublicEnabled = ({ WEB_PUBLIC_STREAMS_ENABLED: value }: Environment): boolean =>
  value !== 'false';
