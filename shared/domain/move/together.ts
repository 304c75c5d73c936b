import { folded } from '../../kernel/folding.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { type ChannelWithSubscription, mayReadMessage } from '../../model/channel/access.ts';
import { loadTopicRemoval } from '../../model/message/leave.ts';
import { hasReactions } from '../../model/message/reaction-store.ts';
import { currentMessages, extents, loadRecentChanges } from '../../model/message/recent.ts';
import { type Topic, topicKey } from '../../model/message/topic.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import type { Move, StepSnapshot } from './move.ts';
import { loadStep, STEP } from './step.ts';

/*
 * Which messages move together with the requested one is known only after that one is read. Reading them too would
 * exceed the budget of round trips. If one transaction takes all of them, they are moved by their heads in the index:
 * the transaction checks that each is where the index shows it, and the outbox worker adds those who reacted as
 * participants. If a check fails, nothing has moved, and the messages are read.
 */

/** Messages read at the start of a topic. More than one, since the index may still show some that left. */
const FEW = 4;

/** Participants of the target topic that are read. */
const MAX_TAKING = 1000;

/** The snapshot of a move, if one step takes all messages. */
export interface Together {
  readonly snapshot: StepSnapshot;
  /** The other messages that may move; undefined if they are too many for one step. */
  readonly others: readonly MessageHead[] | undefined;
  /** The oldest messages in the range of the move. */
  readonly oldest: readonly MessageHead[];
  /** The oldest message of the topic. */
  readonly first: number;
}

/** The lowest id in the range of a move of this message. */
export const lowestOf = (mode: Move['mode'], main: MessageHead): number =>
  mode === 'change_all' ? 0 : main.id + 1;

/** Reads the snapshot for a message that moves alone. One round trip. */
export async function loadAlone(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  places: Pick<Move, 'from' | 'to'>,
  message: MessageSlot,
): Promise<Together> {
  const snapshot = await loadStep(outside, realm, places, [message]);
  return { snapshot, others: [], oldest: [], first: message.id };
}

/** Reads it. One round trip. */
export async function loadTogether(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  { from, to, mode }: Pick<Move, 'from' | 'to' | 'mode'>,
  main: MessageSlot,
): Promise<Together> {
  const { table } = outside;
  const recent = loadRecentChanges(outside, realm, extents.write);
  const source = { conversation: main.conversation, channelId: from.channelId };
  const reach = currentMessages(table, realm, source, () => recent);
  const lowest = lowestOf(mode, main);
  const [left, topic, count, taking, page, before, reacted] = await Promise.all([
    loadTopicRemoval(outside, realm, from, STEP, recent),
    table.get(topicKey(realm, to)),
    table.get('channelCount', { realm, channelId: to.channelId }),
    table.page(
      'participant',
      { realm, channelId: to.channelId, topic: folded(to.topic) },
      { limit: MAX_TAKING },
    ),
    reach({ from: lowest, to: LARGEST_NUMBER, side: 'newer', limit: STEP + 1 }),
    // For `change_all`, the oldest message of the topic is on the page.
    lowest === 0 ? undefined : reach({ from: 0, to: main.id - 1, side: 'newer', limit: FEW }),
    hasReactions(table, realm, main),
  ]);
  const others = page.heads.filter(({ id }) => id !== main.id).sort((a, b) => a.id - b.id);
  const isAll = mode !== 'change_all' || others.length + 1 === messagesIn(left.topic);
  const fits = !taking.more && page.until === undefined && others.length < STEP && isAll;
  const older = before?.heads.map(({ id }) => id) ?? [];
  const first = Math.min(main.id, others[0]?.id ?? main.id, before?.until ?? main.id, ...older);
  const snapshot = {
    left,
    topic,
    count,
    taking: new Set(taking.items.map(({ userId }) => userId)),
    reacted: reacted || others.length > 0,
  };
  return { snapshot, others: fits ? others : undefined, oldest: others, first };
}

/** How many messages a topic has, to see whether the index shows all of them. */
const messagesIn = (topic: Topic | undefined): number => (topic ? topic.arrived - topic.left : 0);

/** The messages to move: the caller can read them, and they are not in the target already. */
export const goingAlong = (
  others: readonly MessageHead[],
  { to }: Pick<Move, 'to'>,
  standing: Standing,
  seen: ChannelWithSubscription,
): MessageHead[] =>
  others.filter(
    ({ id, channelId, topic = '' }) =>
      (channelId !== to.channelId || topic !== to.topic) && mayReadMessage(standing, seen, id),
  );
