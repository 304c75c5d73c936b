import { type Change, Stale } from '../../log/commit.ts';
import type { EventEntry, MessageEntry, MessageSlot } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { ChannelCount } from '../channel/channel.ts';
import { firstMessageEvent } from '../channel/first-message.ts';
import { folded } from '../folding.ts';
import { reactionsOf } from '../reaction/reaction.ts';
import type { Topic } from '../topic/topic.ts';
import {
  doLeaveChannel,
  doLeaveTopic,
  firstAfter,
  type LeavingState,
  loadLeaving,
} from '../topic/topic-leave.ts';
import { topicConversation } from './conversation.ts';
import { deletionPayload } from './message-removal.ts';
import { doRevise, type Relocation, type Rewrite } from './message-revision.ts';
import { unreadByMove } from './moved-unread.ts';

/** A move of messages that was decided on. */
export interface Move {
  readonly from: { readonly channelId: number; readonly topic: string };
  readonly to: Relocation;
  readonly mode: 'change_one' | 'change_later' | 'change_all';
  readonly userId: number;
}

/** Messages that move in one transaction: with the people who come to take part, it has room for no more. */
export const STEP = 20;
/** People who come to take part in the target in one step; a step with more of them is made shorter. */
const MOST_JOINING = 15;

/**
 * Whether there are messages in the target that are no part of this move: its own first steps may have begun the
 * topic, perhaps in an earlier request that broke off.
 */
export const mergesInto = ({ from }: Move, target: Topic | undefined): boolean =>
  target !== undefined && target.begunBy !== topicConversation(from.channelId, from.topic);

/** What one step looks at. */
export interface StepGround {
  readonly left: LeavingState;
  readonly topic: Topic | undefined;
  readonly count: ChannelCount | undefined;
  /** Those of the people in the messages who take part in the target topic already. */
  readonly taking: ReadonlySet<number>;
}

/** Those who take part in a topic because of a message: its sender and who reacted to it. */
const peopleOf = (message: MessageSlot): number[] => [
  message.senderId,
  ...reactionsOf(message).map(({ userId }) => userId),
];

/** As many of the messages as fit into one step, at least one. */
export function oneStep(messages: readonly MessageSlot[]): readonly MessageSlot[] {
  const people = new Set<number>();
  const fitting = messages.slice(0, STEP).findIndex((message) => {
    for (const userId of peopleOf(message)) people.add(userId);
    return people.size > MOST_JOINING;
  });
  return fitting < 0 ? messages.slice(0, STEP) : messages.slice(0, Math.max(1, fitting));
}

/** Reads what a step looks at. One round trip. */
export async function loadStep(
  table: Table,
  realm: string,
  { from, to }: Pick<Move, 'from' | 'to'>,
  messages: readonly MessageSlot[],
): Promise<StepGround> {
  const place = { realm, channelId: to.channelId, topic: folded(to.topic) };
  const people = [...new Set(messages.flatMap(peopleOf))].slice(0, MOST_JOINING);
  const [left, topic, count, participants] = await Promise.all([
    loadLeaving(table, realm, { ...from, ids: messages.map(({ id }) => id) }),
    table.get<Topic>(key('topic', place)),
    table.get<ChannelCount>(key('channelCount', { realm, channelId: to.channelId })),
    table.getMany<{ userId: number }>(people.map((userId) => key('participant', { ...place, userId }))),
  ]);
  return { left, topic, count, taking: new Set(participants.map(({ userId }) => userId)) };
}

/** One step of a move: the messages that go, what it looks at, and how it is told. */
export interface Step {
  readonly messages: readonly MessageSlot[];
  readonly ground: StepGround;
  readonly event: EventEntry;
  /** Milliseconds. */
  readonly now: number;
  /** New content that the message gets as it moves; it moves alone then. */
  readonly rewrite?: Rewrite | undefined;
  /** What the target topic is told in the same transaction. */
  readonly notice?: MessageEntry | undefined;
  /** With it the move is done, and what goes in the same transaction and is told just before it. */
  readonly last?: Pick<Change<undefined>, 'writes' | 'entries'>;
}

/** A step as a change of the log: so many numbers, and what happens under them. */
export function planStep(
  realm: string,
  move: Move,
  { messages, ground, event, now, rewrite, notice, last }: Step,
): { readonly count: number; readonly plan: (numbers: readonly number[]) => Change<undefined> } {
  const before = last?.entries ?? [];
  const entries = [
    ...before,
    event,
    ...lossesOf(move, messages),
    ...unreadByMove({ from: move.from.channelId, to: move.to.channelId }, messages),
    ...firstMessageEvents(move, messages, ground),
    ...(notice ? [notice] : []),
  ];
  return {
    count: entries.length,
    plan: (numbers) => ({
      writes: [
        ...messages.flatMap((message) =>
          doRevise(realm, message, {
            seq: numbers[before.length] as number,
            userId: move.userId,
            now,
            relocation: move.to,
            rewrite,
          }),
        ),
        ...placeWrites(realm, move, messages, ground, {
          notice: notice && { id: numbers.at(-1) as number, now },
          isLast: last !== undefined,
        }),
        ...(last?.writes ?? []),
      ],
      entries,
      result: undefined,
    }),
  };
}

/** Who may read the messages no longer is told to forget them. */
const lossesOf = ({ from, to }: Move, messages: readonly MessageSlot[]): EventEntry[] =>
  from.channelId === to.channelId
    ? []
    : messages.map((message) => ({
        kind: 'event',
        hearers: { message: message.id, channel: from.channelId, goneTo: to.channelId },
        payload: deletionPayload(message.id, message),
      }));

/** Each channel may have another oldest message after the step. */
function firstMessageEvents(
  { from, to }: Move,
  messages: readonly MessageSlot[],
  ground: StepGround,
): EventEntry[] {
  if (from.channelId === to.channelId) return [];
  const ids = messages.map(({ id }) => id);
  const firsts = [
    [from.channelId, firstAfter({ ...from, ids }, ground.left)],
    [to.channelId, firstFor(ground, ids)],
  ] as const;
  return firsts.flatMap(([channelId, first]) =>
    first === undefined ? [] : [firstMessageEvent(channelId, first)],
  );
}

/** A notice that arrives with the messages, as the newest message of the target. */
interface NoticeArrival {
  readonly id: number;
  readonly now: number;
}

/** What comes with the messages of a step, and whether it is the last one. */
interface Coming {
  readonly notice: NoticeArrival | undefined;
  readonly isLast: boolean;
}

/** Keeps both topics and both channels right. */
function placeWrites(
  realm: string,
  move: Move,
  messages: readonly MessageSlot[],
  ground: StepGround,
  coming: Coming,
): Write[] {
  const { from, to } = move;
  const target = key('topic', { realm, channelId: to.channelId, topic: folded(to.topic) });
  if (topicConversation(from.channelId, from.topic) === topicConversation(to.channelId, to.topic)) {
    return spellingWrites(target, to.topic, messages, ground, coming.notice);
  }
  const leaving = { ...from, ids: messages.map(({ id }) => id) };
  const departure = doLeaveTopic(realm, leaving, ground.left);
  const begins = ground.topic === undefined && to.topic !== '';
  const named = departure.namedTopics + (begins ? 1 : 0);
  const counts =
    from.channelId === to.channelId
      ? countWrites(realm, to.channelId, named, begins, undefined)
      : [
          ...doLeaveChannel(realm, leaving, ground.left, departure),
          ...countWrites(realm, to.channelId, begins ? 1 : 0, begins, firstFor(ground, leaving.ids)),
        ];
  return [...departure.writes, ...counts, ...arrivalWrites(realm, move, messages, ground, coming)];
}

/** Where only the spelling changes, the messages stay in their topic, which is spelled as its newest message. */
function spellingWrites(
  update: Key,
  topic: string,
  messages: readonly MessageSlot[],
  { topic: seen }: StepGround,
  notice: NoticeArrival | undefined,
): Write[] {
  if (seen === undefined) throw new Stale([]);
  const isNewest = messages.some(({ id }) => id === seen.maxId);
  if (!notice) {
    const when = { equals: { maxId: seen.maxId } };
    return isNewest ? [{ update, change: { set: { topic } }, when }] : [];
  }
  const when = { equals: { arrived: seen.arrived, left: seen.left } };
  const set = { topic, maxId: notice.id, day: Math.floor(notice.now / 86_400_000) };
  return [{ update, change: { set, add: { arrived: 1 } }, when }];
}

/** The oldest message of the channel, if one of these becomes it. */
function firstFor({ count }: StepGround, ids: readonly number[]): number | undefined {
  const first = Math.min(...ids);
  return count?.firstMessageId === undefined || first < count.firstMessageId ? first : undefined;
}

function countWrites(
  realm: string,
  channelId: number,
  namedTopics: number,
  begins: boolean,
  firstMessageId: number | undefined,
): Write[] {
  const at = key('channelCount', { realm, channelId });
  // The channel may be restricted to its empty topic at this very moment (specification 3).
  const free = begins ? { equals: { onlyEmptyTopic: undefined } } : {};
  const add = namedTopics === 0 ? {} : { add: { namedTopics } };
  if (firstMessageId !== undefined) {
    const set = { set: { firstMessageId } };
    return [{ update: at, change: { ...set, ...add }, when: { ...free, above: { firstMessageId } } }];
  }
  if (namedTopics !== 0) return [{ update: at, change: add, when: free }];
  return begins ? [{ check: at, when: free }] : [];
}

/** The target topic with the messages that arrive in it, held to how it was seen. */
function arrivalWrites(
  realm: string,
  { from, to: { channelId, topic } }: Move,
  messages: readonly MessageSlot[],
  { topic: seen, taking }: StepGround,
  { notice, isLast }: Coming,
): Write[] {
  const place = { realm, channelId, topic: folded(topic) };
  const ids = [...messages.map(({ id }) => id), ...(notice ? [notice.id] : [])];
  const [minId, maxId] = [Math.min(...ids), Math.max(...ids)];
  const sent = notice?.now ?? 1000 * Math.max(...messages.map(({ timestamp }) => timestamp));
  const day = Math.floor(sent / 86_400_000);
  const people = [...new Set(messages.flatMap(peopleOf))].slice(0, MOST_JOINING);
  const joining = people.filter((userId) => !taking.has(userId));
  const joined = joining.map(
    (userId): Write => ({
      put: key('participant', { ...place, userId }),
      item: { userId },
      when: { absent: true },
    }),
  );
  if (seen === undefined) {
    const item: Topic = {
      topic,
      minId,
      maxId,
      arrived: ids.length,
      left: 0,
      participants: people.length,
      day,
      ...(!isLast && { begunBy: topicConversation(from.channelId, from.topic) }),
    };
    return [{ put: key('topic', place), item: { ...item }, when: { absent: true } }, ...joined];
  }
  const set = {
    ...(minId < seen.minId && { minId }),
    ...(maxId > seen.maxId && { maxId, topic, day }),
  };
  const add = { arrived: ids.length, ...(joining.length > 0 && { participants: joining.length }) };
  const remove = isLast && seen.begunBy !== undefined ? { remove: ['begunBy'] } : {};
  const when = { equals: { arrived: seen.arrived, left: seen.left } };
  return [{ update: key('topic', place), change: { set, add, ...remove }, when }, ...joined];
}
