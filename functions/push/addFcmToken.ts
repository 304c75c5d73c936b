import {
  doAddLegacyToken,
  loadLegacyTokens,
  parseLegacyToken,
} from '../../shared/domain/push/legacy-token.ts';
import { addFcmToken } from '../../shared/endpoints/push.ts';
import { carryOutUnchanged } from '../../shared/log/carry-out.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(addFcmToken, {
  parse: ({ token }) => parseLegacyToken('fcm', token),
  load: ({ outside, realm, userId }) => loadLegacyTokens(outside.table, realm, userId),
  run: async ({ input: token, outside, realm, userId }, tokens) => {
    const writes = doAddLegacyToken(realm, userId, tokens, token);
    if (writes.length > 0) await carryOutUnchanged(outside, writes);
    return {};
  },
});
