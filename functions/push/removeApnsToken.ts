import {
  checkHasToken,
  doRemoveLegacyToken,
  loadLegacyTokens,
  parseLegacyToken,
} from '../../shared/domain/push/legacy-token.ts';
import { removeApnsToken } from '../../shared/endpoints/push.ts';
import { carryOutUnchanged } from '../../shared/log/carry-out.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(removeApnsToken, {
  parse: ({ token }) => parseLegacyToken('apns', token),
  load: ({ outside, realm, userId }) => loadLegacyTokens(outside.table, realm, userId),
  run: async ({ input: token, outside, realm, userId }, tokens) => {
    checkHasToken(tokens, token);
    await carryOutUnchanged(outside, doRemoveLegacyToken(realm, userId, tokens, token));
    return {};
  },
});
