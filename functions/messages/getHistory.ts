import { historyObjects, loadHistory } from '../../shared/domain/reader/history.ts';
import { accessTarget, loadTarget, messageLookupKeys } from '../../shared/domain/reader/target.ts';
import { getMessageHistory } from '../../shared/endpoints/messages.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { readableHistory, visibleHistory } from '../../shared/model/message/object.ts';
import { isGuest } from '../../shared/model/permission/permission.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getMessageHistory, {
  keys: (input) => messageLookupKeys(input.message_id),
  load: ({ input, resolved, outside, userId }) =>
    loadTarget(outside, resolved, userId, input.message_id, loadHistory),
  run: async ({ input, caller }, loaded) => {
    const { message, more: edits } = await accessTarget(caller.standing, loaded);
    const visibility = caller.realm.settings.message_edit_history_visibility_policy;
    if (visibility === 'none')
      throw badRequest('This organization does not show earlier versions of messages.');
    const emptyTopicName = input.allow_empty_topic_name ?? false;
    const readable = readableHistory(message.history, isGuest(caller.standing));
    const shown = { ...message, history: visibleHistory(readable, visibility) };
    return { message_history: historyObjects(shown, edits, { emptyTopicName }) };
  },
});
