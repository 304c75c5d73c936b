import {
  accessBotSnapshot,
  botLookupKeys,
  checkNewBot,
  doCreateBot,
  parseBot,
} from '../../shared/domain/account/bot-create.ts';
import { createBot } from '../../shared/endpoints/bots.ts';
import { digestOf } from '../../shared/kernel/text.ts';
import { newApiKey } from '../../shared/model/user/caller.ts';
import { avatarUrlOf } from '../../shared/model/user/object.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(createBot, {
  parse: parseBot,
  keys: botLookupKeys,
  load: ({ input, outside, resolved, userId }) => accessBotSnapshot(outside.table, resolved, userId, input),
  // The account, its two groups, and the bot for administrators and for its owner.
  reserve: 5,
  run: async ({ input, caller, outside, commit }, snapshot) => {
    const decided = checkNewBot(caller, input, snapshot, outside.now());
    const apiKey = newApiKey(outside);
    const bot = { ...decided, keyDigest: digestOf(apiKey) };
    const { length } = doCreateBot(caller, bot, []).entries;
    const user = await commit(length, (numbers) => doCreateBot(caller, bot, numbers));
    return { user_id: user.userId, api_key: apiKey, avatar_url: avatarUrlOf(user), ...bot.defaults };
  },
});
