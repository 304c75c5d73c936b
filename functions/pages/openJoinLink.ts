import { accessLinkedInvitation } from '../../shared/domain/account/join.ts';
import { openJoinLink } from '../../shared/endpoints/pages.ts';
import { seeOther, servePageToAnyone } from '../../shared/serve/page.ts';

export const handler = servePageToAnyone(openJoinLink, async ({ input, host, baseUrl, outside }) => {
  await accessLinkedInvitation(outside, host, input.token);
  return seeOther(baseUrl, `/invite/${encodeURIComponent(input.token)}`);
});
