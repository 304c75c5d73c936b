import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { readConversationOf } from '../../model/message/message.ts';
import {
  floorOf,
  isUnread,
  newestSettled,
  type ReadState,
  readStateFields,
  SETTLED_MS,
} from '../../model/message/read-state.ts';
import type { RecentChanges } from '../../model/message/recent.ts';
import { currentMessages } from '../../model/message/recent.ts';
import { key, LARGEST_NUMBER } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';

/** Messages above the floor that one raise reads. */
const MAX_READ = 4_000;

/** Most messages that one raise lists as unread below the new floor, so that they fit into a transaction. */
const MAX_UNREAD = 1_000;
const MAX_CONVERSATIONS = 90;
/** Most read states that one raise deletes because the new floor makes them redundant. */
const MAX_COVERED = 100;

/** The new floor, and the unread messages below it by the conversation of their read state. */
interface Raise {
  readonly floor: number;
  readonly unread: ReadonlyMap<string, readonly MessageHead[]>;
}

/**
 * Raises the read floor of a subscription over the messages that are read, so that a search for unread messages does
 * not go through all that were ever read. Old unread messages are listed by id in the read states of their topics.
 * Does nothing if one of those changed concurrently; the next registration tries again.
 *
 * `known` is what is known of this person besides.
 */
export async function raiseFloor(
  outside: Pick<Outside, 'table' | 'now' | 'uuid'>,
  realm: string,
  userId: number,
  subscription: Subscription,
  known: KnownRead,
): Promise<void> {
  const { states, recent } = known;
  const reach = currentMessages(outside.table, realm, { channelId: subscription.channelId }, recent);
  const from = floorOf(subscription, undefined) + 1;
  const { heads } = await reach({ from, to: LARGEST_NUMBER, side: 'newer', limit: MAX_READ });
  const settled = await newestSettled(
    outside,
    realm,
    heads.toSorted((a, b) => a.id - b.id),
  );
  const raise = planRaise(userId, subscription, states, heads, settled);
  const { floor, unread } = raise;
  if (floor < from) return;
  const raised = await outside.table.transact(
    raiseWrites(realm, userId, subscription, states, raise),
    outside.uuid(),
  );
  if (raised.state !== 'done') return;
  const covered = [...states.values()]
    .filter(({ channelId }) => channelId === subscription.channelId)
    .filter((state) => !unread.has(state.conversation) && isCovered(state, floor, outside.now()))
    .slice(0, MAX_COVERED);
  if (covered.length === 0) return;
  await outside.table.transact(
    covered.map(({ conversation, version }) => ({
      delete: key('read', { realm, userId, conversation }),
      when: { equals: { version } },
    })),
    outside.uuid(),
  );
}

/** What a user has read and not read. */
export interface KnownRead {
  /** All their read states, by conversation. */
  readonly states: ReadonlyMap<string, ReadState>;
  /** Recent changes in the log: a message that just moved here must not get below the floor unnoticed. */
  readonly recent: () => Promise<RecentChanges>;
}

function planRaise(
  userId: number,
  subscription: Subscription,
  states: KnownRead['states'],
  heads: readonly MessageHead[],
  settled: number,
): Raise {
  const unread = new Map<string, MessageHead[]>();
  let floor = 0;
  let listed = 0;
  let read = 0;
  for (const head of [...heads].sort((a, b) => a.id - b.id)) {
    if (head.id > settled) break;
    const conversation = readConversationOf(head);
    const state = states.get(conversation);
    if (!isUnread(head, userId, subscription, state)) {
      read++;
      // Do not list more messages than the raise skips.
      if (read >= listed) floor = head.id;
      continue;
    }
    if (state?.unread?.has(head.id) !== true) {
      const noted = unread.get(conversation);
      const isFull = noted === undefined && unread.size === MAX_CONVERSATIONS;
      if (isFull || listed === MAX_UNREAD) break;
      if (noted) noted.push(head);
      else unread.set(conversation, [head]);
      listed++;
    }
  }
  const below = [...unread].map(([name, noted]) => [name, noted.filter(({ id }) => id <= floor)] as const);
  return {
    floor,
    unread: new Map(below.filter(([, noted]) => noted.length > 0)),
  };
}

function raiseWrites(
  realm: string,
  userId: number,
  { channelId, since }: Subscription,
  states: KnownRead['states'],
  { floor, unread }: Raise,
): Write[] {
  return [
    {
      update: key('subscription', { realm, userId, channelId }),
      change: { set: { readFloor: floor } },
      when: { equals: { since }, below: { readFloor: floor } },
    },
    ...[...unread].flatMap(([conversation, noted]): Write[] =>
      noted.slice(0, 1).map((head) => ({
        update: key('read', { realm, userId, conversation }),
        change: {
          set: { ...readStateFields(head) },
          add: { unread: new Set(noted.map(({ id }) => id)), version: 1 },
        },
        when: { equals: { version: states.get(conversation)?.version } },
      })),
    ),
  ];
}

/**
 * Whether the new floor makes a read state redundant, and no older change of it can still arrive.
 */
const isCovered = (state: ReadState, floor: number, now: number): boolean =>
  (state.floor ?? 0) <= floor &&
  [...(state.read ?? [])].every((id) => id <= floor) &&
  (state.unread?.size ?? 0) === 0 &&
  (state.at ?? 0) <= now - SETTLED_MS;
