import { endpoint, writes } from './endpoint.ts';
import { ids, integer, optional, pathId, text, word } from './parameter.ts';

const messageId = pathId('The ID of the message.');
const op = word('`start` or `stop`. Clients repeat `start` while the user goes on typing.', [
  'start',
  'stop',
]);

export const sendTyping = endpoint({
  id: 'typing.send',
  route: 'POST /api/v1/typing',
  source: 'https://zulip.com/api/set-typing-status, companion facts 1.13',
  description: 'Tells others that the caller has started or stopped typing a message.',
  access: 'user',
  parameters: {
    type: optional(
      word('`direct` (default) or `channel`. `stream` is its deprecated name.', [
        'direct',
        'channel',
        'stream',
      ]),
    ),
    op,
    to: optional(ids('The IDs of the users in the direct conversation; the caller is added.')),
    stream_id: optional(integer('The ID of the channel.')),
    topic: optional(text('The topic in the channel.')),
  },
  needs: { table: writes },
});

export const sendTypingEdit = endpoint({
  id: 'typing.sendEdit',
  route: 'POST /api/v1/messages/{message_id}/typing',
  source: 'https://zulip.com/api/set-typing-status-for-message-edit, companion facts 1.13',
  description: 'Tells others that the caller has started or stopped typing an edit of a message.',
  access: 'user',
  parameters: { message_id: messageId, op },
  needs: { table: writes },
});
