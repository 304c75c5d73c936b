import { isId } from '../../kernel/id.ts';
import type { Message, MessageHead } from '../../log/message.ts';
import type { MessageSlot, Slot } from '../../log/slot.ts';
import type { IndexEntry } from '../../table/index-projection.ts';
import { indexes, key } from '../../table/keys.ts';
import type { Range, Table } from '../../table/table.ts';
import { topicConversation } from './conversation.ts';
import type { RangeReader, Reach } from './strip.ts';

export const rangeOf = ({ from, to, side, limit }: Reach): Range<'slot'> => ({
  from: { seq: from },
  to: { seq: to },
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
  (table: Table, realm: string, place: Place): RangeReader =>
  async (reach) => {
    const { channelId, conversation } = place;
    const [index, pk] =
      conversation === undefined
        ? ([indexes.channel, indexes.channel.key(realm, channelId)] as const)
        : ([indexes.conversation, indexes.conversation.key(realm, conversation)] as const);
    const { items, more } = await table.indexPage(index, pk, rangeOf(reach));
    const heads = items.map((entry) =>
      conversation === undefined
        ? headOf(entry, { channelId, conversation: topicConversation(channelId, entry.topic ?? '') })
        : headOf(entry, place),
    );
    return { heads, until: more ? heads.at(-1)?.id : undefined };
  };

export const isMessage = (slot: Slot): slot is MessageSlot => slot.kind === 'message';

/** The messages with these ids that exist. */
export async function readMessages(
  table: Table,
  realm: string,
  ids: readonly number[],
): Promise<MessageSlot[]> {
  const keys = [...new Set(ids)].filter(isId).map((seq) => key('slot', { realm, seq }));
  const slots = await table.getMany(keys);
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
