import { refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Commit } from '../../log/bulk.ts';
import { type Change, ConflictError } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import { loadHeads } from '../../model/message/load.ts';
import { hasReceived, mayRead, readConversationOf } from '../../model/message/message.ts';
import { compactReadState, doMark, MAX_ADDED_IDS, type ReadState } from '../../model/message/read-state.ts';
import { doStar, doUnstar, loadStars } from '../../model/message/star.ts';
import type { Standing } from '../../model/permission/permission.ts';
import type { Write } from '../../table/write.ts';
import { uniqueSorted } from '../../unique.ts';
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
  ]);
  return { heads, starred };
}

/** The outcome of `checkMarking`. */
export interface Marked {
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
  return changing(await received(reader, heads, 'read'), elsewhere);
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

/** Most messages of one event, which must fit into a slot, and most items of one transaction. */
const MAX_MESSAGES = 1_000;
const MAX_ITEMS = 90;

/** The messages and writes of one transaction, and the details of messages marked unread. */
interface Part {
  readonly ids: readonly number[];
  readonly writes: readonly Write[];
  readonly details?: Readonly<Record<string, object>>;
}

/** The changes of a marking: one for each transaction, each complete by itself. */
export async function planMarking(
  reader: Reader,
  standing: Standing,
  marking: Marking,
  { ids }: Marked,
  { heads }: MarkingSnapshot,
  now: number,
): Promise<Change<void>[]> {
  if (marking.flag === 'starred') {
    const writes = starWrites(reader, ids, heads, marking.op, now);
    return starParts(ids, writes).map((part) => changeOf(reader, marking, part));
  }
  const changing = new Set(ids);
  const parts = readParts(
    reader,
    heads.filter(({ id }) => changing.has(id)),
    marking.op,
    now,
  );
  if (marking.op === 'add') return parts.map((part) => changeOf(reader, marking, part));
  return Promise.all(
    parts.map(async (part) => {
      const ids = new Set(part.ids);
      const own = heads.filter(({ id }) => ids.has(id));
      return changeOf(reader, marking, { ...part, details: await unreadDetails(reader, standing, own) });
    }),
  );
}

function starWrites(
  { realm, userId }: Reader,
  ids: readonly number[],
  heads: readonly MessageHead[],
  op: Marking['op'],
  now: number,
): Write[] {
  if (op === 'remove') return ids.map((id) => doUnstar(realm, userId, id, now));
  const changing = new Set(ids);
  return heads
    .filter(({ id }) => changing.has(id))
    .sort((a, b) => a.id - b.id)
    .map((head) => doStar(realm, userId, head));
}

function starParts(ids: readonly number[], writes: readonly Write[]): Part[] {
  const parts: Part[] = [];
  for (let start = 0; start < ids.length; start += MAX_ITEMS) {
    const end = start + MAX_ITEMS;
    parts.push({ ids: ids.slice(start, end), writes: writes.slice(start, end) });
  }
  return parts;
}

/** Parts with one item per conversation. */
function readParts(
  { realm, userId }: Reader,
  heads: readonly MessageHead[],
  op: Marking['op'],
  now: number,
): Part[] {
  const parts: MessageHead[][] = [];
  let items = 0;
  for (const conversation of Map.groupBy(heads, readConversationOf).values()) {
    items++;
    for (const head of conversation) {
      const last = parts.at(-1);
      if (last !== undefined && last.length < MAX_MESSAGES && items <= MAX_ITEMS) last.push(head);
      else {
        parts.push([head]);
        items = 1;
      }
    }
  }
  const as = op === 'add' ? 'read' : 'unread';
  return parts.map((part) => ({
    ids: uniqueSorted(part.map(({ id }) => id)),
    writes: [...Map.groupBy(part, readConversationOf).values()].flatMap((here) =>
      here[0] ? [doMark(realm, userId, here[0], uniqueSorted(here.map(({ id }) => id)), as, now)] : [],
    ),
  }));
}

/** A part with its event for the caller's clients. */
function changeOf({ userId }: Reader, { op, flag }: Marking, { ids, writes, details }: Part): Change<void> {
  const payload = {
    type: 'update_message_flags',
    op,
    // Its name before feature level 32.
    operation: op,
    flag,
    messages: ids,
    all: false,
    ...(details && { message_details: details }),
  };
  return { writes, entries: [{ kind: 'event', hearers: { users: [userId] }, payload }], result: undefined };
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
 * Commits a change of flags. If a read state has grown too large, it is compacted before the retry.
 *
 * @throws ConflictError then, and if another request changed the flags
 */
export async function commitMarking(
  outside: Pick<Outside, 'table' | 'now'>,
  { realm, userId }: Reader,
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
    await Promise.all(crowded.map((state) => state && compactReadState(outside, realm, userId, state)));
    throw error;
  }
}
