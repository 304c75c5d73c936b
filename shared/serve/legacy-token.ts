import type { TokenKind } from '../domain/push/device.ts';
import { type LegacyTokens, loadLegacyTokens, parseLegacyToken } from '../domain/push/legacy-token.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { addFcmToken } from '../endpoints/push.ts';
import { carryOutUnchanged } from '../log/carry-out.ts';
import type { Write } from '../table/write.ts';
import { serveByRole } from './serve.ts';

/**
 * Makes the Lambda handler of an endpoint that changes the push tokens of an older client (companion facts 3.11).
 *
 * @param check refuses a change
 */
export const serveLegacyToken = (
  endpoint: Endpoint<(typeof addFcmToken)['parameters'], object>,
  kind: TokenKind,
  change: (realm: string, userId: number, before: LegacyTokens, token: string) => Write[],
  check?: (before: LegacyTokens, token: string) => void,
) =>
  serveByRole(endpoint, {
    parse: ({ token }) => parseLegacyToken(kind, token),
    load: ({ outside, realm, userId }) => loadLegacyTokens(outside.table, realm, userId),
    run: async ({ input: token, outside, realm, userId }, before) => {
      check?.(before, token);
      const writes = change(realm, userId, before, token);
      if (writes.length > 0) await carryOutUnchanged(outside, writes);
      return {};
    },
  });
