import {
  accessTarget,
  checkChangeable,
  loadTarget,
  messageLookupKeys,
} from '../../shared/domain/reader/target.ts';
import { checkEditTyping, doEditTyping, loadEditTyping } from '../../shared/domain/typing/edit.ts';
import { sendTypingEdit } from '../../shared/endpoints/typing.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(sendTypingEdit, {
  keys: ({ message_id }) => messageLookupKeys(message_id),
  load: ({ input, outside, resolved, realm, userId }) =>
    loadTarget(outside, resolved, userId, input.message_id, (message) =>
      loadEditTyping(outside.table, realm, userId, message),
    ),
  reserve: 1,
  run: async ({ input, outside, caller, commit }, loaded) => {
    const target = await accessTarget(caller.standing, loaded);
    checkChangeable(target);
    checkEditTyping(caller, target.message, target.more, outside.now());
    const change = doEditTyping(target.message, input.op, target.more);
    if (change !== undefined) await commit(1, () => change);
    return {};
  },
});
