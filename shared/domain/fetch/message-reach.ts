import type { Message, MessageHead } from '../../log/message.ts';
import type { MessageSlot, Slot } from '../../log/slot.ts';
import { indexes, key, padded, partition } from '../../table/keys.ts';
import type { Query, Table } from '../../table/table.ts';
import { isId } from '../channel/channel-access.ts';
import { topicConversation } from '../message/conversation.ts';
import type { Reach, Reached, Reacher } from '../message/message-strip.ts';
import type { Star } from '../unread/star.ts';
import type { Reader } from './reader.ts';

/** An entry of an index over messages. The id is the number of the message's slot, which is its sort key. */
type IndexEntry = Pick<MessageHead, 'senderId' | 'topic' | 'readBySender' | 'readIn' | 'mentions'> & {
  readonly sk: string;
};

const rangeOf = ({ from, to, side, limit }: Reach): Pick<Query, 'from' | 'to' | 'descending' | 'limit'> => ({
  from: padded(from),
  to: padded(to),
  descending: side === 'older',
  limit,
});

const headOf = (
  { sk, senderId, topic, readBySender, readIn, mentions }: IndexEntry,
  place: Pick<MessageHead, 'conversation' | 'channelId' | 'people'>,
): MessageHead => ({
  ...place,
  id: Number(sk),
  senderId,
  readBySender,
  ...(topic !== undefined && { topic }),
  ...(readIn !== undefined && { readIn }),
  ...(mentions !== undefined && { mentions }),
});

/** Where messages stand together in an index: a channel, or one conversation. */
export type Place =
  | { readonly channelId: number; readonly conversation?: undefined }
  | Pick<MessageHead, 'conversation' | 'channelId' | 'people'>;

/**
 * The messages of a place as its index shows them: changes come a moment late. Who needs those too asks `inPlace`
 * (message-place.ts).
 */
export const inIndex =
  (table: Table, realm: string, place: Place): Reacher =>
  async (reach) => {
    const { channelId, conversation } = place;
    const [index, pk] =
      conversation === undefined
        ? ([indexes.channel, indexes.channel.key(realm, channelId)] as const)
        : ([indexes.conversation, indexes.conversation.key(realm, conversation)] as const);
    const { items, more } = await table.page<IndexEntry>({ index, pk, ...rangeOf(reach) });
    const heads = items.map((entry) =>
      conversation === undefined
        ? headOf(entry, { channelId, conversation: topicConversation(channelId, entry.topic ?? '') })
        : headOf(entry, place),
    );
    return { heads, until: more ? heads.at(-1)?.id : undefined };
  };

const isMessage = (slot: Slot): slot is MessageSlot => slot.kind === 'message';

/** All messages of the organization, whoever may read them, from the log itself: a consistent read. */
export const inLog =
  (reader: Reader): Reacher =>
  async (reach) => {
    const pk = partition('slot', reader);
    const { items, more } = await reader.table.page<Slot>({ pk, ...rangeOf(reach) });
    const messages = items.filter(isMessage);
    reader.keep(messages);
    return { heads: messages, until: more ? items.at(-1)?.seq : undefined };
  };

/**
 * The messages that the reader starred, whether they may still read them or not. A star tells what the message was,
 * so that what goes with the messages is read beside them: two round trips, and then they can be told.
 */
export function starredBy(reader: Reader): Reacher {
  const { realm, userId, table } = reader;
  const skOf = (messageId: number): string => key('star', { realm, userId, messageId }).sk;
  const reading: Promise<unknown>[] = [];
  return async ({ from, to, side, limit }): Promise<Reached> => {
    const page = table.page<Star>({
      pk: partition('star', reader),
      from: skOf(from),
      to: skOf(to),
      descending: side === 'older',
      limit: Math.min(limit, AT_ONCE),
    });
    reading.push(page);
    const { items, more } = await page;
    // Where both sides are read at once, their messages travel together.
    await Promise.all(reading);
    const until = more ? items.at(-1)?.messageId : undefined;
    const stars = items.filter(({ removed }) => removed !== true);
    const ids = stars.map(({ messageId }) => messageId);
    reader.noteStars({
      from: side === 'older' ? (until ?? from) : from,
      to: side === 'newer' ? (until ?? to) : to,
      ids: Promise.resolve(new Set(ids)),
    });
    const [heads] = await Promise.all([
      listed(reader, ids),
      ...ids.map((id) => reader.reactions(id)),
      ...stars.map(({ head }) => head && reader.surroundings(head)),
    ]);
    // What moved since then has other surroundings.
    await Promise.all(heads.map((head) => reader.surroundings(head)));
    return { heads, until };
  };
}

/** The messages with these ids, wherever they stand. They are read when they are first needed. */
export const amongListed = (reader: Reader, ids: readonly number[]): Reacher =>
  allAtOnce(() => listed(reader, ids));

/** The same with all that telling them needs: two round trips. */
export const toldAmongListed = (reader: Reader, ids: readonly number[]): Reacher =>
  allAtOnce(async () => {
    const existing = ids.filter(isId);
    const [heads] = await Promise.all([
      listed(reader, existing),
      ...existing.map((id) => reader.reactions(id)),
      existing.length > 0 && reader.stars(Math.min(...existing), Math.max(...existing)),
    ]);
    await Promise.all(heads.map((head) => reader.surroundings(head)));
    return heads;
  });

function allAtOnce(read: () => Promise<readonly MessageHead[]>): Reacher {
  let reading: Promise<readonly MessageHead[]> | undefined;
  return async () => {
    reading ??= read();
    return { heads: await reading, until: undefined };
  };
}

async function listed(reader: Reader, ids: readonly number[]): Promise<readonly MessageHead[]> {
  const messages = await readMessages(reader.table, reader.realm, ids);
  reader.keep(messages);
  return messages;
}

/** The messages with these ids that exist. */
export async function readMessages(
  table: Table,
  realm: string,
  ids: readonly number[],
): Promise<MessageSlot[]> {
  const keys = [...new Set(ids)].filter(isId).map((seq) => key('slot', { realm, seq }));
  const slots = await table.getMany<Slot>(keys);
  return slots.filter(isMessage);
}

/** Messages that are read at once: as many large ones as a function's memory holds with ease. */
export const AT_ONCE = 500;

/** The heads of the messages with these ids that exist. One round trip for each 500 of them. */
export async function readHeads(
  table: Table,
  realm: string,
  ids: readonly number[],
): Promise<readonly MessageHead[]> {
  const heads: MessageHead[] = [];
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const messages = await readMessages(table, realm, ids.slice(start, start + AT_ONCE));
    heads.push(...messages.map(bare));
  }
  return heads;
}

/** A message without its text. */
export const bare = ({ id, conversation, people, channelId, ...message }: Message): MessageHead => ({
  ...headOf(
    { ...message, sk: String(id) },
    {
      conversation,
      ...(channelId !== undefined && { channelId }),
      ...(people !== undefined && { people }),
    },
  ),
});
