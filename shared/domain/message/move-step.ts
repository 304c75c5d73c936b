import { type Change, MOST_WRITES, Stale } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import type { EventEntry, MessageEntry, MessageSlot } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { ChannelCount } from '../channel/channel.ts';
import { firstMessageEvent } from '../channel/first-message.ts';
import { folded } from '../folding.ts';
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
import { doRelocate, doRevise, type Relocation, type Rewrite } from './message-revision.ts';
import { isWhole, MOST_JOINING, peopleOf, peopleOfAll } from './move-people.ts';
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
  const people = peopleOfAll(messages).slice(0, MOST_JOINING);
  const [left, topic, count, participants] = await Promise.all([
    loadLeaving(table, realm, from, messages.length),
    table.get<Topic>(key('topic', place)),
    table.get<ChannelCount>(key('channelCount', { realm, channelId: to.channelId })),
    table.getMany<{ userId: number }>(people.map((userId) => key('participant', { ...place, userId }))),
  ]);
  return { left, topic, count, taking: new Set(participants.map(({ userId }) => userId)) };
}

/** One step of a move: the messages that go, what it looks at, and how it is told. */
export interface Step {
  /** In rising order. */
  readonly messages: readonly MessageHead[];
  readonly ground: StepGround;
  /** Tells of those of which only the heads were read; undefined where there are none. */
  readonly headsEvent?: EventEntry | undefined;
  /** Heads of older messages do not move (seconds since 1970). */
  readonly notBefore?: number | undefined;
  /** Tells of the others. */
  readonly event: EventEntry;
  /** Milliseconds. */
  readonly now: number;
  /** New content that the message gets as it moves; it moves alone then. */
  readonly rewrite?: Rewrite | undefined;
  /** What the target topic is told in the same transaction. */
  readonly notice?: MessageEntry | undefined;
  /** With it the move is done, and what goes in the same transaction and is told just before it. */
  readonly last?: Pick<Change<undefined>, 'writes' | 'entries'>;
  /** What is left to be done afterwards, by the number of the step. */
  readonly left?: ((number: number) => readonly Write[]) | undefined;
}

/** A step as a change of the log: so many numbers, and what happens under them. */
export function planStep(
  realm: string,
  move: Move,
  { messages, ground, headsEvent, notBefore, event, now, rewrite, notice, last, left }: Step,
): { readonly count: number; readonly plan: (numbers: readonly number[]) => Change<undefined> } {
  const before = last?.entries ?? [];
  const entries = [
    ...(headsEvent ? [headsEvent] : []),
    ...before,
    event,
    ...lossesOf(move, messages),
    ...unreadByMove({ from: move.from.channelId, to: move.to.channelId }, messages),
    ...firstMessageEvents(move, messages, ground),
    ...(notice ? [notice] : []),
  ];
  const { userId, to: relocation } = move;
  const told = before.length + (headsEvent ? 1 : 0);
  return {
    count: entries.length,
    plan: (numbers) => ({
      writes: [
        ...messages.flatMap((message) =>
          isWhole(message)
            ? doRevise(realm, message, { seq: numbers[told] as number, userId, now, relocation, rewrite })
            : doRelocate(realm, message, {
                seq: numbers[0] as number,
                userId,
                now,
                relocation,
                notBefore,
              }),
        ),
        ...placeWrites(realm, move, messages, ground, {
          notice: notice && { id: numbers.at(-1) as number, now },
          isLast: last !== undefined,
        }),
        ...(last?.writes ?? []),
        ...(left?.(numbers.at(-1) as number) ?? []),
      ],
      entries,
      result: undefined,
    }),
  };
}

/** How many writes one transaction has left beside a step, with the two slots that tell it at most. */
export function roomBeside({ count, plan }: ReturnType<typeof planStep>): number {
  const { writes } = plan(Array.from({ length: count }, (_, i) => i + 1));
  return MOST_WRITES - 2 - writes.length;
}

/** Who may read the messages no longer is told to forget them. */
const lossesOf = ({ from, to }: Move, messages: readonly MessageHead[]): EventEntry[] =>
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
  messages: readonly MessageHead[],
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
  messages: readonly MessageHead[],
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
          ...countWrites(realm, to.channelId, begins ? 1 : 0, begins, firstFor(ground, leaving.ids), {
            count: ground.count,
            opened: opensWith(ground, leaving.ids),
          }),
        ];
  return [...departure.writes, ...counts, ...arrivalWrites(realm, move, messages, ground, coming)];
}

/** Where only the spelling changes, the messages stay in their topic, which is spelled as its newest message. */
function spellingWrites(
  update: Key,
  topic: string,
  messages: readonly MessageHead[],
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

/** The message with which the topic begins or becomes older, if it does (`ChannelCount.opened`). */
function opensWith({ topic }: StepGround, ids: readonly number[]): number | undefined {
  const first = Math.min(...ids);
  return topic === undefined || first < topic.minId ? first : undefined;
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
  { count, opened }: { readonly count?: ChannelCount | undefined; readonly opened?: number | undefined } = {},
): Write[] {
  const at = key('channelCount', { realm, channelId });
  // The channel may be restricted to its empty topic at this very moment (specification 3).
  const free = begins ? { equals: { onlyEmptyTopic: undefined } } : {};
  const add = namedTopics === 0 ? {} : { add: { namedTopics } };
  if (firstMessageId !== undefined) {
    const set = { set: { firstMessageId, ...(opened !== undefined && { opened }) } };
    return [{ update: at, change: { ...set, ...add }, when: { ...free, above: { firstMessageId } } }];
  }
  if (opened !== undefined) {
    const held = { equals: { ...free.equals, firstMessageId: count?.firstMessageId } };
    return [{ update: at, change: { set: { opened }, ...add }, when: held }];
  }
  if (namedTopics !== 0) return [{ update: at, change: add, when: free }];
  return begins ? [{ check: at, when: free }] : [];
}

/** The target topic with the messages that arrive in it, held to how it was seen. */
function arrivalWrites(
  realm: string,
  { from, to: { channelId, topic } }: Move,
  messages: readonly MessageHead[],
  { topic: seen, taking }: StepGround,
  { notice, isLast }: Coming,
): Write[] {
  const place = { realm, channelId, topic: folded(topic) };
  const ids = [...messages.map(({ id }) => id), ...(notice ? [notice.id] : [])];
  const [minId, maxId] = [Math.min(...ids), Math.max(...ids)];
  // Some message was sent at this time: were a later day stored, the channel would miss that it is alive then.
  const sent =
    notice?.now ?? 1000 * Math.max(0, ...messages.filter(isWhole).map(({ timestamp }) => timestamp));
  const day = Math.floor(sent / 86_400_000);
  const people = peopleOfAll(messages).slice(0, MOST_JOINING);
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
