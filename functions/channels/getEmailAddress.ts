import {
  checkMailAddress,
  loadMailSnapshot,
  mailAddress,
  tokenFor,
} from '../../shared/domain/mail/channel-address.ts';
import { getChannelEmailAddress } from '../../shared/endpoints/channels.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getChannelEmailAddress, {
  load: (look) => loadMailSnapshot(look.outside.table, look, look.input.stream_id, look.input.sender_id),
  run: async ({ input, caller, outside, realm }, snapshot) => {
    const decided = checkMailAddress(caller, snapshot, input.sender_id);
    const { mailDomain } = outside;
    if (mailDomain === undefined) return { email: '' };
    return { email: mailAddress(mailDomain, decided.channel, await tokenFor(outside, realm, decided)) };
  },
});
