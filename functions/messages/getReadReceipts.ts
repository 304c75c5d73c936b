import { checkRecipientCount, loadReaders, loadRecipients } from '../../shared/domain/reader/receipts.ts';
import { accessTarget, loadTarget, messageLookupKeys } from '../../shared/domain/reader/target.ts';
import { getReadReceipts } from '../../shared/endpoints/messages.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { dropHiddenUsers } from '../../shared/model/subscription/user-access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getReadReceipts, {
  keys: (input) => messageLookupKeys(input.message_id),
  load: ({ input, resolved, outside, realm, userId }) =>
    loadTarget(outside, resolved, userId, input.message_id, (message) =>
      loadRecipients(outside.table, realm, message),
    ),
  run: async ({ caller, outside, realm }, loaded) => {
    const { message, more: recipients } = await accessTarget(caller.standing, loaded);
    if (!caller.realm.settings.enable_read_receipts)
      throw badRequest('This organization does not show who has read a message.');
    checkRecipientCount(recipients);
    const readers = await loadReaders(outside.table, realm, message, recipients, caller.user);
    const shown = await dropHiddenUsers(outside, caller, readers);
    return { user_ids: shown.map(({ userId }) => userId) };
  },
});
