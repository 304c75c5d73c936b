import { isId } from '../../shared/domain/channel/channel-access.ts';
import { changeKey } from '../../shared/domain/user/api-key-change.ts';
import { accessBot } from '../../shared/domain/user/bot.ts';
import type { User } from '../../shared/domain/user/user.ts';
import { regenerateBotKey } from '../../shared/endpoints/bots.ts';
import { serve } from '../../shared/serve/serve.ts';
import { key } from '../../shared/table/keys.ts';

export const handler = serve(regenerateBotKey, {
  load: async ({ input: { bot_id: userId }, outside, realm }) =>
    isId(userId) ? outside.table.get<User>(key('user', { realm, userId })) : undefined,
  run: async ({ caller, outside, realm }, target) => {
    const { email } = accessBot(caller, target);
    return { api_key: await changeKey(outside, realm, email) };
  },
});
