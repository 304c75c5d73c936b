import { sqsQueues } from '../../shared/adapters/queues.ts';
import { deviceName } from '../../shared/domain/account/device-name.ts';
import { signInWithPassword } from '../../shared/domain/account/sign-in.ts';
import { accessOrganization } from '../../shared/domain/realm-edit/organization.ts';
import { signIn } from '../../shared/endpoints/pages.ts';
import { Refusal } from '../../shared/kernel/errors.ts';
import { checkEmail } from '../../shared/model/user/name.ts';
import { signInPage, waysToSignIn } from '../../shared/pages/sign-in.ts';
import { ownPath, seeOther, servePageToAnyone, showRefusal } from '../../shared/serve/page.ts';
import { beginSession, visitorSite } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(
  signIn,
  async (request) => {
    const { input, host, baseUrl, address, userAgent, outside, clients } = request;
    const next = ownPath(input.next);
    try {
      const signedIn = await signInWithPassword(outside, clients.queues, host, {
        email: checkEmail(input.email),
        password: input.password,
        address,
        label: deviceName(userAgent),
      });
      return seeOther(baseUrl, next ?? '/account', beginSession(baseUrl, signedIn.email, signedIn.apiKey));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const ways = waysToSignIn(outside.environment, await accessOrganization(outside, host));
      const { site } = visitorSite(request, outside);
      const typed = { email: input.email, problem: error.message };
      return showRefusal(signInPage(site, { ...ways, next, ...typed }), error);
    }
  },
  { queues: sqsQueues },
);
