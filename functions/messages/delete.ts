import {
  accessTarget,
  checkChangeable,
  loadTarget,
  messagePointers,
} from '../../shared/domain/fetch/message-target.ts';
import {
  checkDeletion,
  forgetEdits,
  loadDeletion,
  planDeletion,
} from '../../shared/domain/message/message-delete.ts';
import { thinOut } from '../../shared/domain/topic/topic-leave.ts';
import { deleteMessage } from '../../shared/endpoints/message-edit.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(deleteMessage, {
  pointers: (input) => messagePointers(input.message_id),
  load: ({ input, known, outside: { table }, userId }) =>
    loadTarget(table, known, userId, input.message_id, loadDeletion),
  ahead: 1,
  run: async ({ realm, caller, outside, commit }, loaded) => {
    const target = await accessTarget(caller.standing, loaded);
    checkChangeable(target);
    checkDeletion(caller, target, outside.now());
    const { table, uuid, now } = outside;
    const { message, more } = target;
    const edits = await forgetEdits(table, realm, message.id, more.edits, uuid);
    const { left } = more;
    const thinned =
      left.kind === 'direct'
        ? left
        : { ...left, state: await thinOut(table, realm, left.leaving, left.state, uuid) };
    return commit(1, planDeletion(realm, message, { edits, left: thinned }, now()));
  },
});
