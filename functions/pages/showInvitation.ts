import { showInvitation } from '../../shared/endpoints/pages.ts';
import { accessShownInvitation, invitationPage } from '../../shared/pages/invitation.ts';
import { servePageToAnyone, showPage } from '../../shared/serve/page.ts';
import { visitorSite } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(showInvitation, async (request) => {
  const { input, host, outside } = request;
  const shown = await accessShownInvitation(outside, host, input.token);
  const { site, headers } = visitorSite(request, outside);
  return showPage(invitationPage(site, shown), 200, headers);
});
