import { resetKeys } from '../../shared/domain/account/api-key.ts';
import { accessBot } from '../../shared/domain/account/bot.ts';
import { regenerateBotKey } from '../../shared/endpoints/bots.ts';
import { folded } from '../../shared/kernel/text.ts';
import { loadBotOwner } from '../../shared/model/user/management.ts';
import { loadTarget, targetLookupKeys } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(regenerateBotKey, {
  keys: ({ bot_id: id }) => targetLookupKeys(String(id)),
  load: async ({ input: { bot_id: id }, resolved, outside: { table }, realm }) => {
    const bot = await loadTarget(table, String(id), resolved);
    const [owner, account] = await Promise.all([
      loadBotOwner(table, realm, bot),
      bot && table.get('account', { realm, email: folded(bot.email) }),
    ]);
    return { bot, owner, account };
  },
  reserve: 1,
  run: async ({ caller, outside, realm, commit }, { bot, owner, account }) => {
    const { email } = accessBot(caller, bot, owner);
    // Every user has an account item; it is written with the user.
    if (account === undefined) throw new Error('a bot without an account');
    return { api_key: await resetKeys(outside, commit, { realm, email, account }) };
  },
});
