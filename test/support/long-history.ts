import { slotWrites } from '../../shared/log/commit.ts';
import { allocate } from '../../shared/log/log.ts';
import type { MessageEntry } from '../../shared/log/slot.ts';
import { topicConversation } from '../../shared/model/message/message.ts';
import type { Send } from '../../shared/table/table.ts';
import type { TestRealm } from './realm.ts';
import { TABLE } from './store.ts';
import { BatchWriteCommand } from './store-commands.ts';

/** Items of one request, and requests at once. */
const BATCH = 25;
const LANES = 4;

/** The text of the message with this index, as it was written and as it is shown. */
type TextOf = (index: number) => { readonly content: string; readonly rendered: string };

/**
 * A long history, put straight into the store as so many sends would have left it: channel messages, and every tenth
 * one a direct message. Returns the ids.
 */
export async function givenHistory(
  {
    log,
    people,
    channels,
  }: Pick<TestRealm, 'log' | 'channels'> & {
    readonly people: Readonly<Record<'member' | 'admin', { readonly userId: number }>>;
  },
  send: Send,
  count: number,
  textOf: TextOf,
): Promise<readonly number[]> {
  const [{ userId: senderId }, { userId: other }] = [people.member, people.admin];
  const numbers = await allocate(log, count, count);
  const messageOf = (index: number): MessageEntry['message'] => {
    const base = {
      senderId,
      timestamp: Math.floor(log.now() / 1000),
      client: 'test',
      ...textOf(index),
      isMe: false,
      readBySender: true,
    };
    if (index % 10 === 9) {
      const pair = [senderId, other].sort((a, b) => a - b);
      return { ...base, people: pair, recipientId: 1, conversation: `direct:${pair.join(',')}` };
    }
    const [channelId, topic] = [channels.general, `topic ${index % 50}`];
    return {
      ...base,
      channelId,
      topic,
      recipientId: channelId,
      conversation: topicConversation(channelId, topic),
    };
  };
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const start = next;
      next += BATCH;
      const puts = numbers.slice(start, start + BATCH).map((seq, i) => {
        const [write] = slotWrites(log, [seq], [{ kind: 'message', message: messageOf(start + i) }], 'given');
        if (!write || !('put' in write)) throw new Error('a message is put');
        return { PutRequest: { Item: { ...write.put, ...write.item } } };
      });
      await send(new BatchWriteCommand({ RequestItems: { [TABLE]: puts } }));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return numbers;
}
