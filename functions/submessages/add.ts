import {
  accessTarget,
  checkChangeable,
  loadTarget,
  messageLookupKeys,
} from '../../shared/domain/reader/target.ts';
import { checkSubmessage, doAddSubmessage } from '../../shared/domain/submessage/submessage.ts';
import { addSubmessage } from '../../shared/endpoints/submessages.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(addSubmessage, {
  keys: ({ message_id }) => messageLookupKeys(message_id),
  load: ({ input, resolved, outside, userId }) =>
    loadTarget(outside, resolved, userId, input.message_id, async () => undefined),
  reserve: 1,
  run: async ({ input, realm, caller, commit }, loaded) => {
    const target = await accessTarget(caller.standing, loaded);
    checkChangeable(target);
    const { message } = target;
    const { userId } = caller.user;
    checkSubmessage(userId, message, input.content);
    return commit(1, ([number]) => doAddSubmessage(realm, userId, message, input.content, number as number));
  },
});
