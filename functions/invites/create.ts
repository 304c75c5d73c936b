import { sqsQueues } from '../../shared/adapters/queues.ts';
import { parseAddresses } from '../../shared/domain/invite/address.ts';
import { checkInvite, loadInviteSnapshot } from '../../shared/domain/invite/check.ts';
import {
  checkAddresses,
  doInvite,
  inviteLinks,
  loadAccounts,
  MAX_EVENTS,
  newTokens,
  parseInvite,
} from '../../shared/domain/invite/create.ts';
import { reportLinks, sendsMail, wakeMail } from '../../shared/domain/mail-out/letter.ts';
import { inviteUsers } from '../../shared/endpoints/invites.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { commitPlan } from '../../shared/log/bulk.ts';
import { loadDomains } from '../../shared/model/realm/domains.ts';
import { serve } from '../../shared/serve/serve.ts';

const accountOf = (email: string): LookupKey<'account'> => ({ kind: 'account', email });

export const handler = serve(
  inviteUsers,
  {
    parse: (parameters) => ({
      ...parseInvite(parameters),
      addresses: parseAddresses(parameters.invitee_emails),
      notifiesInviter: parameters.notify_referrer_on_join ?? true,
    }),
    keys: ({ addresses }) => addresses.valid.map(accountOf),
    load: async ({ input, outside, realm, userId, resolved }) => {
      const [snapshot, domains, accounts] = await Promise.all([
        loadInviteSnapshot(outside, realm, userId, input.grant),
        loadDomains(outside.table, realm),
        loadAccounts(outside, realm, input.addresses.valid, (email) => resolved.follow(accountOf(email))),
      ]);
      return { snapshot, domains, accounts };
    },
    reserve: MAX_EVENTS,
    run: async ({ input, caller, outside, realm, baseUrl, commit, clients }, loaded) => {
      const grant = checkInvite(caller, 'mail', input.grant, loaded.snapshot);
      const { addresses, taken } = checkAddresses(caller, input.addresses, loaded.accounts, loaded.domains);
      const request = { ...input, grant };
      const job = outside.uuid();
      const tokens = newTokens(outside, addresses.length);
      const delivery = sendsMail(outside) ? { job } : { tokens };
      const invitations = await commitPlan(commit, (number) =>
        doInvite(caller, request, addresses, delivery, number, outside.now()),
      );
      const links = inviteLinks(baseUrl, invitations, tokens);
      if (sendsMail(outside)) await wakeMail(outside, clients.queues, realm, job);
      else reportLinks(outside, links);
      if (taken.length > 0) throw refusal('invitationFailed', { errors: taken, sent: true });
      return sendsMail(outside) ? {} : { invite_links: links };
    },
  },
  { queues: sqsQueues },
);
