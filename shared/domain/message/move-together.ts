import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { key, LARGEST_NUMBER, partition, sortPrefix } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { ChannelCount } from '../channel/channel.ts';
import { mayReadMessage, type Seen } from '../channel/channel-access.ts';
import { bare, inConversation } from '../fetch/message-reach.ts';
import { folded } from '../folding.ts';
import type { Standing } from '../permission.ts';
import { hasReactions } from '../reaction/reaction-store.ts';
import { type Topic, topicKey } from '../topic/topic.ts';
import { loadLeaving } from '../topic/topic-leave.ts';
import { type Move, STEP, type StepGround } from './move-step.ts';

/*
 * The messages that go with another one are known when that one was read, and to read them too would take a round
 * trip that their request does not have. So they are moved by what the index tells of them, where one transaction
 * takes all of them: each is held to be where the index shows it, and what is not known of them, who reacted, is left
 * to the worker of the outbox. Where anything of that does not hold, nothing has moved, and they are read.
 */

/** People of the target topic that are read with the message. */
const MOST_TAKING = 1000;

/** A move of several messages, with what it looks at if one step takes all of them. */
export interface Together {
  readonly ground: StepGround;
  /** The messages that may go with the one that was asked for; undefined where they are too many. */
  readonly others: readonly MessageHead[] | undefined;
  /** The oldest messages that the move is about, as the index shows them. */
  readonly oldest: readonly MessageHead[];
}

/** The lowest id of the messages that a move of this one is about. */
export const lowestOf = (mode: Move['mode'], main: MessageHead): number =>
  mode === 'change_all' ? 0 : main.id + 1;

/** Reads it. One round trip. */
export async function loadTogether(
  table: Table,
  realm: string,
  { from, to, mode }: Pick<Move, 'from' | 'to' | 'mode'>,
  main: MessageSlot,
): Promise<Together> {
  const source = { conversation: main.conversation, channelId: from.channelId };
  const lowest = lowestOf(mode, main);
  const [left, topic, count, taking, page, reacted] = await Promise.all([
    loadLeaving(table, realm, from, STEP),
    table.get<Topic>(topicKey(realm, to)),
    table.get<ChannelCount>(key('channelCount', { realm, channelId: to.channelId })),
    table.page<{ userId: number }>({
      pk: partition('participant', { realm, channelId: to.channelId }),
      prefix: sortPrefix('participant', { topic: folded(to.topic) }),
      limit: MOST_TAKING,
    }),
    inConversation(
      table,
      realm,
      source,
    )({ from: lowest, to: LARGEST_NUMBER, side: 'newer', limit: STEP + 1 }),
    hasReactions(table, realm, main),
  ]);
  // What the index does not show yet is in the newest part of the log.
  const recent = left.ends.recent.filter(({ id }) => id >= lowest).map(bare);
  const shown = page.heads.filter(({ id }) => !left.ends.elsewhere.has(id));
  const heads = new Map([...shown, ...recent].map((head) => [head.id, head]));
  heads.delete(main.id);
  const isAll = mode !== 'change_all' || heads.size + 1 === messagesIn(left.topic);
  const fits = !taking.more && page.until === undefined && heads.size < STEP && isAll;
  const oldest = [...heads.values()].sort((a, b) => a.id - b.id);
  const ground = {
    left,
    topic,
    count,
    taking: new Set(taking.items.map(({ userId }) => userId)),
    reacted: reacted || heads.size > 0,
  };
  return { ground, others: fits ? oldest : undefined, oldest };
}

/** How many messages a topic has: by that it is known whether the index shows all of them. */
const messagesIn = (topic: Topic | undefined): number => (topic ? topic.arrived - topic.left : 0);

/** Those that do go: the caller may read them, and they are not there already, in another spelling of one topic. */
export const goingAlong = (
  others: readonly MessageHead[],
  { to }: Pick<Move, 'to'>,
  standing: Standing,
  seen: Seen,
): MessageHead[] =>
  others.filter(
    ({ id, channelId, topic = '' }) =>
      (channelId !== to.channelId || topic !== to.topic) && mayReadMessage(standing, seen, id),
  );
