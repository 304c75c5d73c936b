import { accessLinkedAccount } from '../../shared/domain/account/password-link.ts';
import { showPasswordLink } from '../../shared/endpoints/pages.ts';
import { passwordLinkPage } from '../../shared/pages/password.ts';
import { servePageToAnyone, showPage } from '../../shared/serve/page.ts';
import { visitorSite } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(showPasswordLink, async (request) => {
  const { input, host, outside } = request;
  const { organization, user } = await accessLinkedAccount(outside, host, input.token);
  const { site, headers } = visitorSite(request, outside);
  const shown = { organization: organization.name, email: user.email, token: input.token };
  return showPage(passwordLinkPage(site, shown), 200, headers);
});
