import { endpoint, writes } from './endpoint.ts';
import { ids, integer, optional, text, word } from './parameter.ts';

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
    op: word('`start` or `stop`. Clients repeat `start` while the user goes on typing.', ['start', 'stop']),
    to: optional(ids('The IDs of the users in the direct conversation; the caller is added.')),
    stream_id: optional(integer('The ID of the channel.')),
    topic: optional(text('The topic in the channel.')),
  },
  needs: { table: writes },
});
