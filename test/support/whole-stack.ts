import { join } from 'node:path';
import type { Bundles } from '../../infra/build.ts';
import { stackId, synthesize } from '../../infra/synthesize.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { Template } from './template.ts';

const bundle = {
  directory: join(import.meta.dirname, '../infra/fixtures/functions/messages'),
  bytes: 1,
  hash: 'none',
  code: 'none',
};

/** Something for each function of the service, so that none has to be built where it is nothing what they hold. */
export const standIns: Bundles = Object.fromEntries([...endpoints, ...workers].map(({ id }) => [id, bundle]));

/** What an operator sets who wants all that there is: without it some workers, alarms and limits are not there. */
export const everySetting = {
  mailDomain: 'mail.example.com',
  pushRelayUrl: 'https://push.example.com',
  zoomClientId: 'zoom',
  webexClientId: 'webex',
  domain: 'chat.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a-1b',
  corsOrigins: 'https://app.example.com',
  addressLimit: '3000',
  alarmEmail: 'operator@example.com',
};

/** The template of the stack of the service, as somebody sets it. */
export const wholeStack = (outdir: string, context: Readonly<Record<string, string>>): Template =>
  new Template(synthesize(standIns, { outdir, context }).getStackArtifact(stackId).templateFullPath);
