import { accessOrganization } from '../../shared/domain/realm-edit/organization.ts';
import { showSignIn } from '../../shared/endpoints/pages.ts';
import { signInProviders } from '../../shared/model/realm/sign-in-methods.ts';
import { signInPage } from '../../shared/pages/sign-in.ts';
import { ownPath, servePageToAnyone, showPage } from '../../shared/serve/page.ts';
import { visitorSite } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(showSignIn, async (request) => {
  const { input, host, outside } = request;
  const { name } = await accessOrganization(outside, host);
  const { site, headers } = visitorSite(request, outside);
  return showPage(
    signInPage(site, {
      organization: name,
      providers: signInProviders(outside.environment),
      next: ownPath(input.next),
    }),
    200,
    headers,
  );
});
