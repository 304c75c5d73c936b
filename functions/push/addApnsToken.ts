import {
  doAddLegacyToken,
  loadLegacyTokens,
  parseLegacyToken,
} from '../../shared/domain/push/legacy-token.ts';
import { addApnsToken } from '../../shared/endpoints/push.ts';
import { carryOutUnchanged } from '../../shared/log/carry-out.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(addApnsToken, {
  parse: ({ token }) => parseLegacyToken('apns', token),
  load: ({ outside, realm, userId }) => loadLegacyTokens(outside.table, realm, userId),
  run: async ({ input: token, outside, realm, userId }, tokens) => {
    const writes = doAddLegacyToken(realm, userId, tokens, token);
    if (writes.length > 0) await carryOutUnchanged(outside, writes);
    return {};
  },
});
