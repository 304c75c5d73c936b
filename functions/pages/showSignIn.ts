import { accessOrganization } from '../../shared/domain/realm-edit/organization.ts';
import { showSignIn } from '../../shared/endpoints/pages.ts';
import { signInPage, waysToSignIn } from '../../shared/pages/sign-in.ts';
import { ownPath, servePageToAnyone, showPage } from '../../shared/serve/page.ts';
import { visitorSite } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(showSignIn, async (request) => {
  const { input, host, outside } = request;
  const ways = waysToSignIn(outside.environment, await accessOrganization(outside, host));
  const { site, headers } = visitorSite(request, outside);
  const shown = { ...ways, next: ownPath(input.next), done: input.done };
  return showPage(signInPage(site, shown), 200, headers);
});
