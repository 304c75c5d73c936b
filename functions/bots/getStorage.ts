import { accessBotValues, checkIsBot, loadBotStorage } from '../../shared/domain/account/bot-storage.ts';
import { getBotStorage } from '../../shared/endpoints/bots.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(getBotStorage, {
  load: ({ input, outside, realm, userId }) => loadBotStorage(outside.table, realm, userId, input.keys),
  run: ({ input, caller }, loaded) => {
    checkIsBot(caller);
    const values = accessBotValues(input.keys, loaded);
    return { storage: Object.fromEntries(values.map(({ key, value }) => [key, value])) };
  },
});
