import { accessLinkedAccount, setPasswordByLink } from '../../shared/domain/account/password-link.ts';
import { setPassword } from '../../shared/endpoints/pages.ts';
import { Refusal } from '../../shared/kernel/errors.ts';
import { passwordLinkPage } from '../../shared/pages/password.ts';
import { seeOther, servePageToAnyone, showRefusal } from '../../shared/serve/page.ts';
import { visitorSite } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(setPassword, async (request) => {
  const { input, host, baseUrl, outside } = request;
  const { token, password } = input;
  try {
    await setPasswordByLink(outside, host, token, password);
    return seeOther(baseUrl, '/login/?done=password');
  } catch (error) {
    if (!(error instanceof Refusal) || error.field === undefined) throw error;
    const { organization, user } = await accessLinkedAccount(outside, host, token);
    const { site } = visitorSite(request, outside);
    const shown = { organization: organization.name, email: user.email, token, problem: error.message };
    return showRefusal(passwordLinkPage(site, shown), error);
  }
});
