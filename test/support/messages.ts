import { handler as list } from '../../functions/messages/list.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { commit } from '../../shared/log/commit.ts';
import type { MessageEntry } from '../../shared/log/slot.ts';
import { topicConversation } from '../../shared/model/message/message.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

/** Where a test message goes: a channel and a topic, or people. */
export type Destination =
  | { readonly to: number; readonly topic?: string }
  | { readonly people: readonly Person[] };

/** Sends a message through the real handler and tells its id. */
export async function sent(
  realm: TestRealm,
  as: Person,
  destination: Destination,
  content = 'text',
  more: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const place =
    'to' in destination
      ? { type: 'channel', to: destination.to, topic: destination.topic ?? 'topic' }
      : { type: 'direct', to: destination.people.map(({ userId }) => userId) };
  const { status, body } = await realm.call(send, as, { ...place, content, ...more });
  if (status !== 200) throw new Error(`not sent: ${JSON.stringify(body)}`);
  return body.id;
}

/** Sends several messages, one after the other. */
export async function sentMany(
  realm: TestRealm,
  as: Person,
  destination: Destination,
  count: number,
): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < count; i++) ids.push(await sent(realm, as, destination));
  return ids;
}

/** Bytes that one transaction of a long history may take, and messages. */
const MAX_BYTES = 2_000_000;
const MAX_MESSAGES = 50;

/** A message of a channel as it is stored. `now` is in milliseconds. */
export const storedText = (
  {
    channelId,
    topic,
    senderId,
    now,
  }: { readonly channelId: number; readonly topic: string; readonly senderId: number; readonly now: number },
  content = 'text',
): MessageEntry['message'] => ({
  channelId,
  topic,
  conversation: topicConversation(channelId, topic),
  senderId,
  timestamp: Math.floor(now / 1000),
  client: 'test',
  recipientId: channelId,
  content,
  rendered: `<p>${content}</p>`,
  isMe: false,
  readBySender: true,
});

/** A long history of a topic, written straight into the log, as so many sends would have left it. */
export async function givenMessages(
  realm: TestRealm,
  sender: Person,
  channelId: number,
  topicOf: (index: number) => string,
  count: number,
  content = 'text',
): Promise<number[]> {
  const ids: number[] = [];
  const most = Math.min(MAX_MESSAGES, Math.ceil(MAX_BYTES / (2 * content.length + 1_000)));
  while (ids.length < count) {
    const size = Math.min(most, count - ids.length);
    const given = await commit(realm.log, size, (numbers) => {
      const entries = numbers.map((_, i): MessageEntry => {
        const topic = topicOf(ids.length + i);
        const message = storedText(
          { channelId, topic, senderId: sender.userId, now: realm.outside.now() },
          content,
        );
        return { kind: 'message', message };
      });
      return { writes: [], entries, result: numbers };
    });
    ids.push(...given);
  }
  return ids;
}

/** Fetches messages: the newest ones, unless said otherwise. */
export const fetched = (
  realm: TestRealm,
  as: Person,
  query: Readonly<Record<string, unknown>> = {},
): Promise<Reply> =>
  realm.call(
    list,
    as,
    {},
    { query: 'message_ids' in query ? query : { anchor: 'newest', num_before: 100, num_after: 0, ...query } },
  );

/** The ids that a fetch finds. */
export async function idsIn(
  realm: TestRealm,
  as: Person,
  query: Readonly<Record<string, unknown>> = {},
): Promise<number[]> {
  const { status, body } = await fetched(realm, as, query);
  if (status !== 200) throw new Error(`not fetched: ${JSON.stringify(body)}`);
  return body.messages.map(({ id }: { readonly id: number }) => id);
}

/** The flags of one message for a user. */
export async function flagsFor(realm: TestRealm, as: Person, id: number): Promise<string[] | undefined> {
  const { body } = await fetched(realm, as, { message_ids: [id] });
  return body.messages[0]?.flags;
}

/** Changes flags. */
export const flagged = (
  realm: TestRealm,
  as: Person,
  op: 'add' | 'remove',
  flag: string,
  messages: readonly number[],
): Promise<Reply> => realm.call(updateFlags, as, { op, flag, messages });
