import { accessTyping, doTyping, loadTyping, parseTyping } from '../../shared/domain/typing/typing.ts';
import { sendTyping } from '../../shared/endpoints/typing.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(sendTyping, {
  parse: parseTyping,
  load: ({ input, outside, realm, userId, ownerId }) =>
    loadTyping(outside.table, realm, { userId, ...(ownerId !== undefined && { ownerId }) }, input),
  reserve: 1,
  run: async ({ input, outside, caller, commit }, snapshot) => {
    const place = await accessTyping(outside, caller, input, snapshot);
    if (place !== undefined) await commit(1, () => doTyping(caller.user, input.op, place));
    return {};
  },
});
