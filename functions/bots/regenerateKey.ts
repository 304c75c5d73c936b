import { changeKey } from '../../shared/domain/api-key-change.ts';
import { accessBot } from '../../shared/domain/bot.ts';
import { isId } from '../../shared/domain/channel-access.ts';
import type { User } from '../../shared/domain/user.ts';
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
