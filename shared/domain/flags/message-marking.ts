import { refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { chunksOf, uniqueSorted } from '../../lists.ts';
import type { Commit } from '../../log/bulk.ts';
import { type Change, ConflictError } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import { loadHeads } from '../../model/message/load.ts';
import { hasReceived, mayRead, readConversationOf } from '../../model/message/message.ts';
import {
  compactReadState,
  doMark,
  flagsEvent,
  MAX_ADDED_IDS,
  type ReadState,
} from '../../model/message/read-state.ts';
import { doStar, doUnstar, loadStars } from '../../model/message/star.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { isReadByMute } from '../../model/user/user.ts';
import { mentionsReader } from '../fetch/narrow-match.ts';
import type { Reader } from '../reader/reader.ts';
import { idsWhere, isUnreadBy } from '../reader/streams.ts';

/** A change of a flag of some messages for one user. */
export interface Marking {
  readonly op: 'add' | 'remove';
  readonly flag: 'read' | 'starred';
  readonly ids: readonly number[];
}

/** What the check of a marking needs. */
export interface MarkingSnapshot {
  readonly heads: readonly MessageHead[];
  readonly starred: ReadonlySet<number>;
}

/**
 * Reads the messages and their flags. One round trip for up to 500 messages. Removing a star does not read them.
 */
export async function loadMarking(reader: Reader, { op, flag, ids }: Marking): Promise<MarkingSnapshot> {
  const { table, realm, userId } = reader;
  const needsMessages = flag === 'read' || op === 'add';
  const [heads, starred] = await Promise.all([
    needsMessages ? loadHeads(table, realm, ids) : [],
    flag === 'starred' ? loadStars(table, realm, userId, ids) : new Set<number>(),
    needsMessages && reader.subscriptions(),
    flag === 'read' && reader.states(),
    flag === 'read' && reader.self(),
  ]);
  return { heads, starred };
}

/** The outcome of `checkMarking`. */
interface Marked {
  /** The messages that change, in id order. */
  readonly ids: readonly number[];
  /** Channels whose messages do not change: only subscribers have unread messages. */
  readonly ignoredChannels: readonly number[];
}

/**
 * Decides which messages a marking changes; one that has the flag already causes no event. A message without access
 * cannot be marked unread or starred: it is refused like one that does not exist. Marking it read and removing its star
 * do nothing.
 */
export async function checkMarking(
  reader: Reader,
  standing: Standing,
  { op, flag, ids }: Marking,
  { heads, starred }: MarkingSnapshot,
): Promise<Marked> {
  if (flag === 'starred' && op === 'remove') return changing(ids.filter((id) => starred.has(id)));
  if (flag === 'read' && op === 'add') return changing(await received(reader, heads, 'unread'));
  const readable = await idsWhere(heads, (head) => mayRead(reader, standing, head));
  if (ids.some((id) => !readable.has(id))) throw refusal('invalidMessages');
  if (flag === 'starred') return changing(ids.filter((id) => !starred.has(id)));
  const subscriptions = await reader.subscriptions();
  const elsewhere = heads.flatMap(({ channelId }) =>
    channelId === undefined || subscriptions.has(channelId) ? [] : channelId,
  );
  // What a muted user sent stays read.
  const self = await reader.self();
  const others = heads.filter((head) => !isReadByMute(self, head));
  return changing(await received(reader, others, 'read'), elsewhere);
}

/** The ids of the messages that the reader received and that have this state. */
async function received(
  reader: Reader,
  heads: readonly MessageHead[],
  state: 'read' | 'unread',
): Promise<number[]> {
  const ids = await idsWhere(
    heads,
    async (head) =>
      (await hasReceived(reader, head)) && (await isUnreadBy(reader, head)) === (state === 'unread'),
  );
  return [...ids];
}

const changing = (ids: readonly number[], ignoredChannels: readonly number[] = []): Marked => ({
  ids: uniqueSorted(ids),
  ignoredChannels: uniqueSorted(ignoredChannels),
});

/** Most messages of one event, which must fit into a slot. */
export const MAX_MESSAGES = 1_000;

/** Most items of one transaction. */
const MAX_ITEMS = 90;

/** The changes of a marking: one for each transaction, each complete by itself. */
export async function planMarking(
  reader: Reader,
  standing: Standing,
  { op, flag }: Marking,
  { ids }: Marked,
  { heads }: MarkingSnapshot,
  now: number,
): Promise<Change<void>[]> {
  const { realm, userId } = reader;
  if (flag === 'starred') {
    const headOf = new Map(heads.map((head) => [head.id, head]));
    return chunksOf(ids, MAX_ITEMS).map((part) => {
      const writes = part.map((id) => {
        const head = headOf.get(id);
        return op === 'add' && head ? doStar(realm, userId, head) : doUnstar(realm, userId, id, now);
      });
      return { writes, entries: [flagsEvent(userId, op, flag, part)], result: undefined };
    });
  }
  const changing = new Set(ids);
  const conversations = Map.groupBy(
    heads.filter(({ id }) => changing.has(id)),
    readConversationOf,
  );
  const parts = chunksOf([...conversations.values()], MAX_ITEMS).flatMap((some) =>
    chunksOf(some.flat(), MAX_MESSAGES),
  );
  return Promise.all(
    parts.map(async (part) => {
      // One item for each conversation.
      const writes = [...Map.groupBy(part, readConversationOf).values()].flatMap((here) =>
        here.slice(0, 1).map((head) => {
          const marked = uniqueSorted(here.map(({ id }) => id));
          return doMark(realm, userId, head, marked, op === 'add' ? 'read' : 'unread', now);
        }),
      );
      const messages = uniqueSorted(part.map(({ id }) => id));
      const details = op === 'add' ? undefined : await unreadDetails(reader, standing, part);
      return { writes, entries: [flagsEvent(userId, op, flag, messages, details)], result: undefined };
    }),
  );
}

/** The details that clients need to count messages as unread again, by id. */
async function unreadDetails(
  reader: Reader,
  standing: Standing,
  heads: readonly MessageHead[],
): Promise<Readonly<Record<string, object>>> {
  const details = await Promise.all(
    heads.map(async (head): Promise<[number, object]> => {
      const { id, channelId, topic = '', people = [] } = head;
      const mentioned = (await mentionsReader(reader, standing, head)) && { mentioned: true };
      const place =
        channelId === undefined
          ? { type: 'private', user_ids: people.filter((each) => each !== reader.userId) }
          : { type: 'stream', stream_id: channelId, topic };
      return [id, { ...place, ...mentioned }];
    }),
  );
  return Object.fromEntries(details);
}

/**
 * Commits a change of flags. If a read state has grown too large, it is compacted first: what is read stays the same.
 *
 * @throws ConflictError if another request changed the flags
 */
export async function commitMarking(
  outside: Pick<Outside, 'table' | 'now'>,
  reader: Reader,
  commit: Commit,
  change: Change<void>,
): Promise<void> {
  try {
    await commit(1, () => change);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const crowded = (error.found as readonly (ReadState | undefined)[]).filter(
      (state) => (state?.added ?? 0) >= MAX_ADDED_IDS,
    );
    if (crowded.length === 0) throw error;
    const self = await reader.self();
    await Promise.all(crowded.map((state) => state && compactReadState(outside, reader.realm, self, state)));
    await commit(1, () => change);
  }
}
