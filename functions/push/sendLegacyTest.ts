import { testLegacyPush } from '../../shared/endpoints/push.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { serve } from '../../shared/serve/serve.ts';

/** Nobody can register a device without encryption here, so a token is none of the caller's (wire facts 12.5). */
export const handler = serve(testLegacyPush, {
  run: ({ input }) => {
    if (input.token !== undefined) throw refusal('invalidPushToken');
    return {};
  },
});
