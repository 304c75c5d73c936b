import { testLegacyPush } from '../../shared/endpoints/push.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

/** No device can be registered without encryption, so no token belongs to the caller (wire facts 12.5). */
export const handler = serveByRole(testLegacyPush, {
  run: ({ input }) => {
    if (input.token !== undefined) throw refusal('invalidPushToken');
    return {};
  },
});
