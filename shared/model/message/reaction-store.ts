/*
 * How the reactions to a message are stored.
 *
 * Each message with reactions has one small item of its own, the summary: it counts them and holds the first of them as
 * attributes. It is read beside the message, so most messages need nothing else. When it is full (about 1 KB), it is
 * marked as such for good, and each later reaction becomes an item of its own in the same partition. So a reaction costs
 * the same however many there are, and none of it is in the partition of the log or in the message.
 *
 * Every change of the reactions to a message goes through its summary, which makes these hold exactly:
 *
 * - A person reacts with one picture once: while there is room, that is a condition on the summary's attribute; later it is
 *   one on the item. The mark is never taken away, so the two cannot be mixed up.
 * - Nobody reacts to a message that is deleted: the deletion puts a summary in its place that says `gone`.
 * - A reaction is told in the channel where the message is: a move to another channel is noted in the summary.
 * - What the log tells last is what is stored (`lastWriterWins`).
 *
 * A change of topic within the channel is not noted, since it changes nothing about who hears of the reaction.
 */

import type { LookupCache } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Message } from '../../log/message.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import {
  type Emoji,
  type EmojiKey,
  isSameEmoji,
  type Reaction,
  type ReactionType,
  reactionsInMessage,
  type StoredReaction,
} from './reaction.ts';

/** The summary of a message's reactions. The first reactions are attributes of it besides. */
export interface ReactionSummary {
  /** How many there are, those that are items of their own included. */
  readonly count?: number;
  /** About how much room the first ones take in it. */
  readonly bytes?: number;
  /** It was full once: whoever reacted since then has an item of their own. */
  readonly isFull?: true;
  /** The number of the last move of the message to another channel (its `revision` then). */
  readonly moved?: number;
  /** The message was deleted. The item stays until nobody can react any more who read the message before that. */
  readonly isGone?: true;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    reactions: ReactionSummary;
    /** With the key, by which they are deleted. */
    reaction: Reaction & Key<'reaction'>;
  }
}

/** Bytes for reactions in a summary: with its key and counts it stays below 1 KB, which is one write unit. */
const ROOM = 800;

/** What a reaction takes in a summary besides its name and that of its attribute. */
const OVERHEAD = 20;

/** Seconds for which a deleted message is remembered: longer than any request lasts that read it before. */
const REMEMBERED = 86_400;

/** Reactions that are deleted in one transaction. */
const AT_ONCE = 100;

/** Between two such transactions (ms): by that they take 800 of the 1,000 write units that their partition has a second. */
const PACE = 250;

/** Emoji codes that are longer are no emoji's, and perhaps too long for a key. */
const LONGEST_CODE = 100;

const LETTERS: Readonly<Record<ReactionType, string>> = {
  unicode_emoji: 'u',
  realm_emoji: 'r',
  zulip_extra_emoji: 'z',
};
const TYPES = new Map(Object.entries(LETTERS).map(([type, letter]) => [letter, type as ReactionType]));

/** The attribute of a summary that holds this reaction. */
const attributeOf = ({ type, code }: EmojiKey, userId: number): string =>
  `${LETTERS[type]}/${code}/${userId}`;

const sizeOf = (attribute: string, name: string): number =>
  Buffer.byteLength(attribute) + Buffer.byteLength(name) + OVERHEAD;

const summaryKey = (realm: string, messageId: number): Key<'reactions'> =>
  key('reactions', { realm, messageId });

const reactionKey = (
  realm: string,
  messageId: number,
  { type, code }: EmojiKey,
  userId: number,
): Key<'reaction'> => key('reaction', { realm, messageId, type, code, userId });

/** Reads the summary of a message's reactions; undefined where there never was one. One round trip. */
export const loadSummary = (
  table: Table,
  realm: string,
  messageId: number,
): Promise<ReactionSummary | undefined> => table.get(summaryKey(realm, messageId));

/** The reactions that a summary holds, in no order. */
const reactionsIn = (summary: ReactionSummary): Reaction[] =>
  Object.entries(summary).flatMap(([attribute, value]): Reaction[] => {
    const [letter = '', code, userId] = attribute.split('/');
    const type = TYPES.get(letter);
    if (type === undefined || code === undefined || userId === undefined) return [];
    const { name, seq } = value as StoredReaction;
    return [{ type, code, name, userId: Number(userId), seq }];
  });

/** Whether a summary tells of reactions that are items of their own. */
const hasMore = (summary: ReactionSummary): boolean =>
  summary.isFull === true && (summary.count ?? 0) > reactionsIn(summary).length;

/** Reactions that are items of their own. */
const loadMore = (table: Table, realm: string, messageId: number): Promise<Reaction[]> =>
  table.all('reaction', { realm, messageId });

/**
 * Reads the reactions that are stored beside a message, in no order. One round trip; another one where they are more than
 * the summary holds and the container (`memory`) does not remember that.
 */
export async function loadReactions(
  table: Table,
  realm: string,
  messageId: number,
  memory?: LookupCache,
): Promise<Reaction[]> {
  const at = summaryKey(realm, messageId);
  const early = memory?.recall(at) === undefined ? undefined : loadMore(table, realm, messageId);
  const [summary, expected] = await Promise.all([table.get(at), early]);
  if (summary === undefined) return [];
  const first = reactionsIn(summary);
  if (!hasMore(summary)) return first;
  memory?.keep(at, { isFull: true });
  return [...first, ...(expected ?? (await loadMore(table, realm, messageId)))];
}

/** Whether anybody reacted to a message. One round trip. */
export async function hasReactions(table: Table, realm: string, message: Message): Promise<boolean> {
  const summary = await loadSummary(table, realm, message.id);
  return (summary?.count ?? 0) > 0 || reactionsInMessage(message).length > 0;
}

/** What decides whether somebody may react with an emoji, or take that back. */
export interface ReactionState {
  readonly summary: ReactionSummary;
  /** Their reaction with it, where it is an item of its own. */
  readonly own: StoredReaction | undefined;
  /** Somebody's reaction with the same emoji, where it is an item of its own. */
  readonly same: Reaction | undefined;
}

/** Reads it; `emoji` is undefined where the request names none. One round trip. */
export async function loadReactionState(
  table: Table,
  realm: string,
  messageId: number,
  emoji: EmojiKey | undefined,
  userId: number,
): Promise<ReactionState> {
  const isKey = emoji !== undefined && emoji.code.length <= LONGEST_CODE;
  const [summary = {}, own, same] = await Promise.all([
    loadSummary(table, realm, messageId),
    isKey ? table.get(reactionKey(realm, messageId, emoji, userId)) : undefined,
    isKey
      ? table.page('reaction', { realm, messageId, type: emoji.type, code: emoji.code }, { limit: 1 })
      : undefined,
  ]);
  return { summary, own, same: same?.items[0] };
}

/** Somebody's reaction with the emoji, as far as it is in the summary. */
export const inSummary = (
  { summary }: ReactionState,
  emoji: EmojiKey,
  userId: number,
): StoredReaction | undefined =>
  (summary as Readonly<Record<string, StoredReaction | undefined>>)[attributeOf(emoji, userId)];

/** Anybody's reaction with the emoji. */
export const anyWithEmoji = ({ summary, same }: ReactionState, emoji: EmojiKey): Reaction | undefined =>
  reactionsIn(summary).find((reaction) => isSameEmoji(reaction, emoji)) ?? same;

/** Whether the summary knows of a deletion, or of a move to another channel, that came after the message was read. */
export const isOutdated = ({ revision = 0 }: Message, { summary }: ReactionState): boolean =>
  summary.isGone === true || (summary.moved ?? 0) > revision;

/** Holds a change to the message being where it was seen. */
const stillThere = ({ moved }: ReactionSummary): Readonly<Record<string, unknown>> => ({
  isGone: undefined,
  moved,
});

/** Adds a reaction under the number `seq`, unless there are `most` by now. */
export function doReact(
  realm: string,
  messageId: number,
  { summary }: ReactionState,
  { name, ...emoji }: Emoji,
  by: { readonly userId: number; readonly seq: number; readonly most: number },
): Write[] {
  const { userId, seq, most } = by;
  const attribute = attributeOf(emoji, userId);
  const size = sizeOf(attribute, name);
  const equals = { ...stillThere(summary), [attribute]: undefined };
  const update = summaryKey(realm, messageId);
  if (summary.isFull !== true && (summary.bytes ?? 0) + size <= ROOM) {
    return [
      {
        update,
        change: { set: { [attribute]: { name, seq } }, add: { count: 1, bytes: size } },
        when: { equals: { ...equals, isFull: undefined }, below: { count: most, bytes: ROOM - size + 1 } },
        lastWriterWins: true,
      },
    ];
  }
  return [
    {
      update,
      change: { set: { isFull: true }, add: { count: 1 } },
      when: { equals, below: { count: most } },
      lastWriterWins: true,
    },
    {
      put: reactionKey(realm, messageId, emoji, userId),
      item: { ...emoji, name, userId, seq },
      when: { absent: true },
    },
  ];
}

/** Takes a reaction back from wherever it was seen; one that stands in the message itself is not its business. */
export function doUnreact(
  realm: string,
  messageId: number,
  state: ReactionState,
  emoji: EmojiKey,
  userId: number,
): Write[] {
  const { summary, own } = state;
  const attribute = attributeOf(emoji, userId);
  const first = inSummary(state, emoji, userId);
  const count = (first === undefined ? 0 : -1) + (own === undefined ? 0 : -1);
  const add = {
    ...(count !== 0 && { count }),
    ...(first !== undefined && { bytes: -sizeOf(attribute, first.name) }),
  };
  return [
    {
      update: summaryKey(realm, messageId),
      change: { add, ...(first !== undefined && { remove: [attribute] }) },
      when: { equals: { ...stillThere(summary), [attribute]: first } },
      lastWriterWins: true,
    },
    ...(own === undefined
      ? []
      : [
          {
            delete: reactionKey(realm, messageId, emoji, userId),
            when: { equals: { name: own.name, seq: own.seq } },
          },
        ]),
  ];
}

/** Notes that a message goes to another channel by the revision `moved`, so that nobody tells of a reaction where it was. */
export const doRecordMove = (realm: string, messageId: number, moved: number): Write => ({
  update: summaryKey(realm, messageId),
  change: { set: { moved } },
  lastWriterWins: true,
});

/**
 * Forgets the reactions to a message that is deleted, held to where they were seen, and keeps anybody from adding one.
 * Those that are items of their own are left to `deleteReactions`. `now` is in milliseconds.
 */
export const doForgetReactions = (
  realm: string,
  messageId: number,
  summary: ReactionSummary | undefined,
  now: number,
): Write => ({
  put: summaryKey(realm, messageId),
  item: { isGone: true, expires: Math.floor(now / 1000) + REMEMBERED },
  when: { equals: { isFull: summary?.isFull } },
  lastWriterWins: true,
});

/** Deleted messages with reactions that are items of their own. */
export interface ReactionsTask {
  readonly messageIds: readonly number[];
}

/** Deletes the reactions to a deleted message that are items of their own. To do it again changes nothing. */
export async function deleteReactions(
  { table, uuid, wait }: Pick<Outside, 'table' | 'uuid' | 'wait'>,
  realm: string,
  messageId: number,
): Promise<void> {
  for (let more = true; more; ) {
    const page = await table.page('reaction', { realm, messageId }, { limit: AT_ONCE });
    const deletes = page.items.map((item): Write => ({ delete: { pk: item.pk, sk: item.sk } }));
    if (deletes.length > 0) {
      const outcome = await table.transact(deletes, uuid());
      if (outcome.state !== 'done') throw new Error(`reactions to a deleted message stay: ${outcome.state}`);
    }
    more = page.more;
    if (more) await wait(PACE);
  }
}
