import {
  checkBotStorage,
  checkIsBot,
  doStoreValues,
  loadBotStorage,
} from '../../shared/domain/account/bot-storage.ts';
import { updateBotStorage } from '../../shared/endpoints/bots.ts';
import { carryOutUnchanged } from '../../shared/log/carry-out.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(updateBotStorage, {
  load: ({ input, outside, realm, userId }) =>
    loadBotStorage(outside.table, realm, userId, Object.keys(input.storage)),
  run: async ({ input: { storage }, caller, outside, realm, userId }, loaded) => {
    checkIsBot(caller);
    const growth = checkBotStorage(storage, loaded);
    await carryOutUnchanged(outside, doStoreValues(realm, userId, storage, loaded, growth));
    return {};
  },
});
