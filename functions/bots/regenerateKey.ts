import { changeKey } from '../../shared/domain/account/api-key.ts';
import { accessBot } from '../../shared/domain/account/bot.ts';
import { regenerateBotKey } from '../../shared/endpoints/bots.ts';
import { loadBotOwner } from '../../shared/model/user/management.ts';
import { loadTarget, targetLookupKeys } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(regenerateBotKey, {
  keys: ({ bot_id: id }) => targetLookupKeys(String(id)),
  load: async ({ input: { bot_id: id }, resolved, outside: { table }, realm }) => {
    const bot = await loadTarget(table, String(id), resolved);
    return { bot, owner: await loadBotOwner(table, realm, bot) };
  },
  run: async ({ caller, outside, realm }, { bot, owner }) => {
    const { email } = accessBot(caller, bot, owner);
    return { api_key: await changeKey(outside, realm, email) };
  },
});
