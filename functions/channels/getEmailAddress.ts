import {
  checkMailAddress,
  loadMailGround,
  mailAddress,
  tokenFor,
} from '../../shared/domain/channel/channel-mail.ts';
import { getChannelEmailAddress } from '../../shared/endpoints/channel-mail.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getChannelEmailAddress, {
  load: (look) => loadMailGround(look.outside.table, look, look.input.stream_id, look.input.sender_id),
  run: async ({ input, caller, outside, realm }, ground) => {
    const decided = checkMailAddress(caller, ground, input.sender_id);
    const { mailPattern } = outside;
    if (mailPattern === undefined) return { email: '' };
    return { email: mailAddress(mailPattern, decided.channel, await tokenFor(outside, realm, decided)) };
  },
});
