import { openJoinLink } from '../../shared/endpoints/pages.ts';
import { seeOther, servePageToAnyone } from '../../shared/serve/page.ts';

export const handler = servePageToAnyone(openJoinLink, async ({ input, baseUrl }) =>
  seeOther(baseUrl, `/invite/${encodeURIComponent(input.token)}`),
);
