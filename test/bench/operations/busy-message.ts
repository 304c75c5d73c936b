import { REACTED_TOPIC } from '../crowd.ts';
import { type Call, channelIdOf, type Operation, operation } from '../operation.ts';

const EMOJI = ['tada', 'heart', 'rocket'];

const narrowOf = (channelId: number) => [
  ['channel', channelId],
  ['topic', REACTED_TOPIC],
];

async function busyMessage(call: Call): Promise<number> {
  const query = { anchor: 'newest', num_before: 1, num_after: 0 };
  const narrow = narrowOf(await channelIdOf(call, 'general'));
  const { messages } = await call('messages.list', 'member', {}, { query: { ...query, narrow } });
  return messages[0].id;
}

/** What is done with the message that has many reactions (`crowd.ts`). */
export const busyMessageOperations: readonly Operation[] = [
  operation({
    name: 'reactions.add:to a busy message',
    as: 'member',
    repeatable: true,
    prepare: busyMessage,
    request: (message_id, n) => ({
      path: { message_id },
      parameters: { emoji_name: EMOJI[n % EMOJI.length] },
    }),
  }),
  operation({
    name: 'messages.get:a busy message',
    as: 'member',
    repeatable: true,
    prepare: busyMessage,
    request: (message_id) => ({ path: { message_id } }),
  }),
  operation({
    name: 'messages.list:a busy message',
    as: 'member',
    repeatable: true,
    prepare: (call) => channelIdOf(call, 'general'),
    request: (channelId) => ({
      query: { anchor: 'newest', num_before: 50, num_after: 0, narrow: narrowOf(channelId) },
    }),
  }),
];
