import { sendsMail } from '../../shared/domain/mail-out/letter.ts';
import { accessOrganization } from '../../shared/domain/realm-edit/organization.ts';
import { showPasswordRequest } from '../../shared/endpoints/pages.ts';
import { passwordRequestPage } from '../../shared/pages/password.ts';
import { servePageToAnyone, showPage } from '../../shared/serve/page.ts';
import { visitorSite } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(showPasswordRequest, async (request) => {
  const { host, outside } = request;
  const { name } = await accessOrganization(outside, host);
  const { site, headers } = visitorSite(request, outside);
  const shown = { organization: name, sendsMail: sendsMail(outside) };
  return showPage(passwordRequestPage(site, shown), 200, headers);
});
