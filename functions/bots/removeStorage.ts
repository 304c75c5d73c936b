import {
  accessBotValues,
  checkIsBot,
  doRemoveValues,
  loadBotStorage,
} from '../../shared/domain/account/bot-storage.ts';
import { removeBotStorage } from '../../shared/endpoints/bots.ts';
import { carryOutUnchanged } from '../../shared/log/carry-out.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(removeBotStorage, {
  load: ({ input, outside, realm, userId }) => loadBotStorage(outside.table, realm, userId, input.keys),
  run: async ({ input, caller, outside, realm, userId }, loaded) => {
    checkIsBot(caller);
    const values = accessBotValues(input.keys, loaded);
    await carryOutUnchanged(outside, doRemoveValues(realm, userId, values, loaded));
    return {};
  },
});
