import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { readConversationOf } from '../../model/message/message.ts';
import {
  floorOf,
  isUnread,
  newestSettled,
  type ReadState,
  SETTLED_MS,
} from '../../model/message/read-state.ts';
import { currentMessages } from '../../model/message/recent.ts';
import type { MessageReader } from '../../model/user/user.ts';
import { key, LARGEST_NUMBER } from '../../table/keys.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import type { Reader } from '../reader/reader.ts';

/** Messages above the floor that one raise reads. */
const MAX_READ = 4_000;

/** Most messages that one raise lists as unread below the new floor, so that they fit into a transaction. */
const MAX_UNREAD = 1_000;
const MAX_CONVERSATIONS = 90;
/** Most read states that one raise deletes because the new floor makes them redundant. */
const MAX_COVERED = 100;

/**
 * Raises the read floor of a subscription over the messages that are read, so that a search for unread messages does
 * not go through all that were ever read. Old unread messages are listed by id in the read states of their topics.
 * Does nothing if one of those changed concurrently; the next registration tries again.
 *
 * @param states all read states of the user, by conversation
 */
export async function raiseFloor(
  outside: Pick<Outside, 'table' | 'now' | 'uuid'>,
  reader: Reader,
  subscription: Subscription,
  states: ReadonlyMap<string, ReadState>,
): Promise<void> {
  const { realm, userId } = reader;
  const { channelId, since } = subscription;
  // A message that just moved here must not get below the floor unnoticed.
  const reach = currentMessages(outside.table, realm, { channelId }, () => reader.recent());
  const from = floorOf(subscription, undefined) + 1;
  const { heads } = await reach({ from, to: LARGEST_NUMBER, side: 'newer', limit: MAX_READ });
  const rising = heads.toSorted((a, b) => a.id - b.id);
  const settled = await newestSettled(outside, realm, rising);
  const { floor, unread } = planRaise(
    await reader.self(),
    subscription,
    states,
    rising.filter(({ id }) => id <= settled),
  );
  if (floor < from) return;
  const raised = await outside.table.transact(
    [
      {
        update: key('subscription', { realm, userId, channelId }),
        change: { set: { readFloor: floor } },
        when: { equals: { since }, below: { readFloor: floor } },
      },
      ...[...unread].map(
        ([conversation, listed]): Write => ({
          update: key('read', { realm, userId, conversation }),
          change: {
            set: { conversation, channelId },
            add: { unread: new Set(listed.map(({ id }) => id)), version: 1 },
          },
          when: hasVersion(states.get(conversation)?.version),
        }),
      ),
    ],
    outside.uuid(),
  );
  if (raised.state !== 'done') return;
  const covered = [...states.values()]
    .filter((state) => state.channelId === channelId && !unread.has(state.conversation))
    .filter((state) => isCovered(state, floor, outside.now()))
    .slice(0, MAX_COVERED);
  if (covered.length === 0) return;
  await outside.table.transact(
    covered.map(({ conversation, version }) => ({
      delete: key('read', { realm, userId, conversation }),
      when: hasVersion(version),
    })),
    outside.uuid(),
  );
}

/** The new floor, and the unread messages below it by the conversation of their read state. `heads` are in id order. */
function planRaise(
  user: MessageReader,
  subscription: Subscription,
  states: ReadonlyMap<string, ReadState>,
  heads: readonly MessageHead[],
): { readonly floor: number; readonly unread: ReadonlyMap<string, readonly MessageHead[]> } {
  const listed: MessageHead[] = [];
  const conversations = new Set<string>();
  let [floor, below, read] = [0, 0, 0];
  for (const head of heads) {
    const conversation = readConversationOf(head);
    const state = states.get(conversation);
    if (!isUnread(head, user, subscription, state)) {
      read++;
      // Do not list more messages than the raise skips.
      if (read >= listed.length) [floor, below] = [head.id, listed.length];
    } else if (state?.unread?.has(head.id) !== true) {
      listed.push(head);
      conversations.add(conversation);
      if (listed.length > MAX_UNREAD || conversations.size > MAX_CONVERSATIONS) break;
    }
  }
  return { floor, unread: Map.groupBy(listed.slice(0, below), readConversationOf) };
}

/** Whether the new floor makes a read state redundant, and no older change of it can still arrive. */
const isCovered = (state: ReadState, floor: number, now: number): boolean =>
  (state.floor ?? 0) <= floor &&
  [...(state.read ?? [])].every((id) => id <= floor) &&
  (state.unread?.size ?? 0) === 0 &&
  (state.at ?? 0) <= now - SETTLED_MS;
