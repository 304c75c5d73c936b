import { sqsQueues } from '../../shared/adapters/queues.ts';
import { accessInvitation, doResend, loadInvitation } from '../../shared/domain/invite/open.ts';
import { reportLinks, sendsMail, wakeMail } from '../../shared/domain/mail-out/letter.ts';
import { resendInvite } from '../../shared/endpoints/invites.ts';
import { carryOutUnchanged } from '../../shared/log/carry-out.ts';
import { linkAddress, newToken } from '../../shared/model/user/link.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  resendInvite,
  {
    load: ({ input, outside, realm }) => loadInvitation(outside, realm, input.invite_id),
    run: async ({ caller, outside, realm, baseUrl, clients }, found) => {
      const invitation = accessInvitation(caller, found, false);
      const job = outside.uuid();
      const token = newToken(outside);
      const delivery = sendsMail(outside) ? { job } : { tokens: [token] };
      const writes = doResend(realm, invitation, delivery, outside.now());
      await carryOutUnchanged(outside, writes);
      if (!sendsMail(outside)) {
        const invite_link = linkAddress(baseUrl, 'invitation', token);
        reportLinks(outside, [{ email: invitation.email, invite_link }]);
        return { invite_link };
      }
      await wakeMail(outside, clients.queues, realm, job);
      return {};
    },
  },
  { queues: sqsQueues },
);
