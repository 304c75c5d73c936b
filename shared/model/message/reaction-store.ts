/*
 * How the reactions to a message are stored.
 *
 * Each message with reactions has a summary item with their count, and the first of them as attributes. It is read beside
 * the message, and most messages need nothing else. When it is full (about 1 KB), it is marked so for good, and each later
 * reaction becomes an item in the same partition. So a reaction costs the same however many there are.
 *
 * Every change of a message's reactions writes its summary, which guarantees:
 *
 * - A user reacts with an emoji once: a condition on the attribute of the summary, or on the item once it is full.
 * - No reaction is added to a deleted message: the deletion sets `isGone`.
 * - A reaction event goes to the channel that has the message: a move to another channel is recorded. A change of topic is
 *   not, since the audience stays the same.
 * - The last change in the log is what is stored (`lastWriterWins`).
 *
 * Each reaction is also an event in the log, in the same transaction and after its message. So who has read the log from a
 * message to the end knows whether anybody reacted to it (`reactedIn`), and most summaries, which do not exist, need not be
 * asked for. That holds for as long as events are kept.
 */

import type { LookupCache } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Message } from '../../log/message.ts';
import type { Slot } from '../../log/slot.ts';
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

/** The summary of a message's reactions. The first reactions are further attributes. */
export interface ReactionSummary {
  /** How many there are, including separate items. */
  readonly count?: number;
  /** Approximate size of the reactions in it. */
  readonly bytes?: number;
  /** It was full once. Later reactions are separate items. */
  readonly isFull?: true;
  /** The log number of the message's last move to another channel. */
  readonly moved?: number;
  /** The message was deleted. Kept until all requests have ended that read the message before. */
  readonly isGone?: true;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    reactions: ReactionSummary;
    /** With the key, which deletes it. */
    reaction: Reaction & Key<'reaction'>;
  }
}

/** With its key and counts, the summary stays below 1 KB, which is one write unit. */
const MAX_SUMMARY_BYTES = 800;

/** Size of a reaction without its name and the name of its attribute. */
const OVERHEAD_BYTES = 20;

/** How long `isGone` is kept: longer than any request. */
const GONE_TTL_SECONDS = 86_400;

/** Reactions that are deleted in one transaction. */
const DELETE_BATCH = 100;

/** Between two such transactions, so that they take 800 of the 1,000 write units per second of their partition. */
const PAUSE_MS = 250;

/** No emoji has a longer code, and a key may not fit one. */
const MAX_CODE_LENGTH = 100;

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
  Buffer.byteLength(attribute) + Buffer.byteLength(name) + OVERHEAD_BYTES;

const summaryKey = (realm: string, messageId: number): Key<'reactions'> =>
  key('reactions', { realm, messageId });

const reactionKey = (
  realm: string,
  messageId: number,
  { type, code }: EmojiKey,
  userId: number,
): Key<'reaction'> => key('reaction', { realm, messageId, type, code, userId });

/** The summary of a message's reactions; undefined if it never had one. One round trip. */
export const loadSummary = (
  table: Table,
  realm: string,
  messageId: number,
): Promise<ReactionSummary | undefined> => table.get(summaryKey(realm, messageId));

/** The reactions in a summary, in no order. */
const reactionsIn = (summary: ReactionSummary): Reaction[] =>
  Object.entries(summary).flatMap(([attribute, value]): Reaction[] => {
    const [letter = '', code, userId] = attribute.split('/');
    const type = TYPES.get(letter);
    if (type === undefined || code === undefined || userId === undefined) return [];
    const { name, seq } = value as StoredReaction;
    return [{ type, code, name, userId: Number(userId), seq }];
  });

/**
 * The reactions that are stored beside a message, in no order. One round trip; two if some are separate items and the
 * container's `memory` does not know that yet.
 */
export async function loadReactions(
  table: Table,
  realm: string,
  messageId: number,
  memory?: LookupCache,
): Promise<Reaction[]> {
  const at = summaryKey(realm, messageId);
  const loadMore = () => table.all('reaction', { realm, messageId });
  const reading = table.get(at);
  const early = memory?.recall(at) === undefined ? undefined : loadMore();
  // If the first fails, the other has no one to wait for it.
  early?.catch(() => {});
  const summary = await reading;
  if (summary === undefined) return [];
  const first = reactionsIn(summary);
  if (summary.isFull !== true || (summary.count ?? 0) <= first.length) return first;
  memory?.keep(at, { isFull: true });
  return [...first, ...(await (early ?? loadMore()))];
}

/** The messages to which somebody reacted in these slots of the log. */
export const reactedIn = (slots: readonly Slot[]): number[] =>
  slots.flatMap((slot) =>
    slot.kind === 'event'
      ? slot.events.flatMap(({ payload }) =>
          payload.type === 'reaction' ? [payload.message_id as number] : [],
        )
      : [],
  );

/** Whether a message has reactions. One round trip. */
export async function hasReactions(table: Table, realm: string, message: Message): Promise<boolean> {
  const summary = await loadSummary(table, realm, message.id);
  return (summary?.count ?? 0) > 0 || reactionsInMessage(message).length > 0;
}

/** The state before a user adds or removes a reaction. */
export interface ReactionState {
  readonly summary: ReactionSummary;
  /** Their reaction with the emoji, if it is a separate item. */
  readonly own: StoredReaction | undefined;
  /** Any reaction with the same emoji, if it is a separate item. */
  readonly same: Reaction | undefined;
}

/** Loads it; `emoji` is undefined if the request has no valid one. One round trip. */
export async function loadReactionState(
  table: Table,
  realm: string,
  messageId: number,
  emoji: EmojiKey | undefined,
  userId: number,
): Promise<ReactionState> {
  const isKey = emoji !== undefined && emoji.code.length <= MAX_CODE_LENGTH;
  const [summary = {}, own, same] = await Promise.all([
    loadSummary(table, realm, messageId),
    isKey ? table.get(reactionKey(realm, messageId, emoji, userId)) : undefined,
    isKey
      ? table.page('reaction', { realm, messageId, type: emoji.type, code: emoji.code }, { limit: 1 })
      : undefined,
  ]);
  return { summary, own, same: same?.items[0] };
}

/** A user's reaction with the emoji, if it is in the summary. */
export const inSummary = (
  { summary }: ReactionState,
  emoji: EmojiKey,
  userId: number,
): StoredReaction | undefined =>
  (summary as Readonly<Record<string, StoredReaction | undefined>>)[attributeOf(emoji, userId)];

/** Any reaction with the emoji. */
export const anyWithEmoji = ({ summary, same }: ReactionState, emoji: EmojiKey): Reaction | undefined =>
  reactionsIn(summary).find((reaction) => isSameEmoji(reaction, emoji)) ?? same;

/** Whether the message was deleted or moved to another channel after it was read. */
export const isOutdated = ({ revision = 0 }: Message, { summary }: ReactionState): boolean =>
  summary.isGone === true || (summary.moved ?? 0) > revision;

/** The condition that the message was neither deleted nor moved to another channel. */
const stillThere = ({ moved }: ReactionSummary): Readonly<Record<string, unknown>> => ({
  isGone: undefined,
  moved,
});

/** Adds a reaction with the log number `seq`, unless there are `most` already. */
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
  if (summary.isFull !== true && (summary.bytes ?? 0) + size <= MAX_SUMMARY_BYTES) {
    return [
      {
        update,
        change: { set: { [attribute]: { name, seq } }, add: { count: 1, bytes: size } },
        when: {
          equals: { ...equals, isFull: undefined },
          below: { count: most, bytes: MAX_SUMMARY_BYTES - size + 1 },
        },
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

/** Removes a reaction from the summary or its item, but not from the message itself. */
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

/** Records a move to another channel, so that a concurrent reaction fails. `moved` is its log number. */
export const doRecordMove = (realm: string, messageId: number, moved: number): Write => ({
  update: summaryKey(realm, messageId),
  change: { set: { moved } },
  lastWriterWins: true,
});

/**
 * Deletes the summary of a deleted message, and blocks further reactions. `deleteReactions` deletes the separate items.
 * `now` is in milliseconds.
 */
export const doForgetReactions = (
  realm: string,
  messageId: number,
  summary: ReactionSummary | undefined,
  now: number,
): Write => ({
  put: summaryKey(realm, messageId),
  item: { isGone: true, expires: Math.floor(now / 1000) + GONE_TTL_SECONDS },
  when: { equals: { isFull: summary?.isFull } },
  lastWriterWins: true,
});

/** Deleted messages that have reactions in separate items. */
export interface ReactionsTask {
  readonly messageIds: readonly number[];
}

/** Deletes the separate reaction items of a deleted message. Idempotent. */
export async function deleteReactions(
  { table, uuid, wait }: Pick<Outside, 'table' | 'uuid' | 'wait'>,
  realm: string,
  messageId: number,
): Promise<void> {
  for (let more = true; more; ) {
    const page = await table.page('reaction', { realm, messageId }, { limit: DELETE_BATCH });
    const deletes = page.items.map((item): Write => ({ delete: { pk: item.pk, sk: item.sk } }));
    if (deletes.length > 0) {
      const outcome = await table.transact(deletes, uuid());
      if (outcome.state !== 'done') throw new Error(`reactions to a deleted message stay: ${outcome.state}`);
    }
    more = page.more;
    if (more) await wait(PAUSE_MS);
  }
}
