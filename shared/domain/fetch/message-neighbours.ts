import type { MessageSlot } from '../../log/slot.ts';
import { indexes } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { recentMessages } from './message-reach.ts';

/** A message that may become the newest or the oldest of its place when others leave. */
export interface Neighbour {
  readonly id: number;
  /** As it spells its topic. */
  readonly topic?: string;
}

type Index = (typeof indexes)[keyof typeof indexes];

/** What a few of the messages at one end of a place are, nearest the end first. */
async function end(
  table: Table,
  index: Index,
  pk: string,
  descending: boolean,
  limit: number,
): Promise<Neighbour[]> {
  const { items } = await table.page<{ sk: string; topic?: string }>({ index, pk, descending, limit });
  return items.map(({ sk, topic }) => ({ id: Number(sk), ...(topic !== undefined && { topic }) }));
}

/** How many messages beyond those that leave are looked at: an index may still show some that left before. */
const SPARE = 3;

/** The ends of a conversation and of its channel, as the indexes and the newest part of the log tell them. */
export interface Ends {
  readonly newest: readonly Neighbour[];
  readonly oldest: readonly Neighbour[];
  /** The oldest messages of the channel. */
  readonly first: readonly Neighbour[];
  /** Those of the newest messages of the organization that are in the conversation, whole. */
  readonly recent: readonly MessageSlot[];
  /** Those of the newest that are elsewhere, wherever the index still shows them. */
  readonly elsewhere: ReadonlySet<number>;
}

/**
 * Looks for the messages that may be at the ends of a conversation when `leaving` of them leave. The indexes lag
 * behind, so the newest part of the log is read too, and whoever uses one of them holds it to be still there.
 * One round trip.
 */
export async function loadEnds(
  table: Table,
  realm: string,
  { conversation, channelId }: { readonly conversation: string; readonly channelId?: number },
  leaving: number,
): Promise<Ends> {
  const here = indexes.conversation.key(realm, conversation);
  const limit = leaving + SPARE;
  const [newest, oldest, first, recent] = await Promise.all([
    end(table, indexes.conversation, here, true, limit),
    channelId === undefined ? [] : end(table, indexes.conversation, here, false, limit),
    channelId === undefined
      ? []
      : end(table, indexes.channel, indexes.channel.key(realm, channelId), false, limit),
    recentMessages(table, realm),
  ]);
  const [recentHere, others] = parted(recent, (message) => message.conversation === conversation);
  const [inChannel, outside] = parted(recent, (message) => message.channelId === channelId);
  const elsewhere = new Set(others.map(({ id }) => id));
  const left = new Set(outside.map(({ id }) => id));
  const isHere = ({ id }: Neighbour): boolean => !elsewhere.has(id);
  return {
    newest: [...newest.filter(isHere), ...recentHere].sort((a, b) => b.id - a.id),
    oldest: [...oldest.filter(isHere), ...recentHere].sort((a, b) => a.id - b.id),
    first: [...first.filter(({ id }) => !left.has(id)), ...inChannel].sort((a, b) => a.id - b.id),
    recent: recentHere,
    elsewhere,
  };
}

/** Those for which it holds, and those for which not. */
const parted = <T>(list: readonly T[], holds: (item: T) => boolean): readonly [T[], T[]] => [
  list.filter(holds),
  list.filter((item) => !holds(item)),
];
