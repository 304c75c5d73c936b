import { sqsQueues } from '../../shared/adapters/queues.ts';
import { addKey } from '../../shared/domain/account/api-key.ts';
import { deviceName } from '../../shared/domain/account/device-name.ts';
import { joinByInvitation } from '../../shared/domain/account/join.ts';
import { join } from '../../shared/endpoints/pages.ts';
import { Refusal } from '../../shared/kernel/errors.ts';
import { accessShownInvitation, invitationPage } from '../../shared/pages/invitation.ts';
import { problemOf, seeOther, servePageToAnyone, showRefusal } from '../../shared/serve/page.ts';
import { beginSession, visitorSite } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(
  join,
  async (request) => {
    const { input, host, baseUrl, userAgent, outside, clients } = request;
    const { token, full_name: fullName, email: given, password } = input;
    const joiner = { fullName, email: given, password };
    try {
      const { realm, email } = await joinByInvitation(outside, clients.queues, host, token, joiner);
      const apiKey = await addKey(outside, realm, email, deviceName(userAgent));
      return seeOther(baseUrl, '/account?done=joined', beginSession(baseUrl, email, apiKey));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const shown = await accessShownInvitation(outside, host, token);
      const { site } = visitorSite(request, outside);
      const refused = { typed: { fullName, email: given }, problem: problemOf(error) };
      return showRefusal(invitationPage(site, shown, refused), error);
    }
  },
  { queues: sqsQueues },
);
