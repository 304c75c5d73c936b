import { sqsQueues } from '../../shared/adapters/queues.ts';
import { requestPasswordLink } from '../../shared/domain/account/password-link.ts';
import { sendsMail } from '../../shared/domain/mail-out/letter.ts';
import { accessOrganization } from '../../shared/domain/realm-edit/organization.ts';
import { requestPassword } from '../../shared/endpoints/pages.ts';
import { inField, Refusal } from '../../shared/kernel/errors.ts';
import { checkEmail } from '../../shared/model/user/name.ts';
import { passwordRequestedPage, passwordRequestPage } from '../../shared/pages/password.ts';
import { problemOf, servePageToAnyone, showPage, showRefusal } from '../../shared/serve/page.ts';
import { visitorSite } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(
  requestPassword,
  async (request) => {
    const { input, host, address, outside, clients } = request;
    const { name: organization } = await accessOrganization(outside, host);
    const { site } = visitorSite(request, outside);
    try {
      const email = await inField('email', () => checkEmail(input.email));
      await requestPasswordLink(outside, clients.queues, host, { email, address });
      return showPage(passwordRequestedPage(site, organization, email));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const refused = { email: input.email, problem: problemOf(error) };
      const shown = { organization, sendsMail: sendsMail(outside), ...refused };
      return showRefusal(passwordRequestPage(site, shown), error);
    }
  },
  { queues: sqsQueues },
);
