import { folded } from '../../kernel/folding.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Change } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import type { EventEntry, MessageEntry, MessageSlot } from '../../log/slot.ts';
import { areNewer, firstMessageEvent } from '../../model/channel/first-message.ts';
import {
  checkRemoval,
  doRemoveFromChannel,
  doRemoveFromTopic,
  loadTopicRemoval,
  namedTopicsAfter,
} from '../../model/message/leave.ts';
import { isSameTopic } from '../../model/message/message.ts';
import { doRecordMove, hasReactions } from '../../model/message/reaction-store.ts';
import { doRelocate, doRevise, type Rewrite } from '../../model/message/revision.ts';
import { topicKey } from '../../model/message/topic.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { deletionPayload } from '../edit/removal.ts';
import { type Arriving, arrivalWrites, countsWrites, doComeToChannel, spellingWrites } from './arrival.ts';
import type { Move, StepSnapshot } from './move.ts';
import { isWhole, MAX_JOINING, sendersOf } from './senders.ts';

/** Most messages that one transaction moves, together with their participants. */
export const STEP = 20;

/** The first messages that fit into one step, at least one. */
export function oneStep(messages: readonly MessageSlot[]): readonly MessageSlot[] {
  const people = new Set<number>();
  const fitting = messages.slice(0, STEP).findIndex(({ senderId }) => {
    people.add(senderId);
    return people.size > MAX_JOINING;
  });
  return fitting < 0 ? messages.slice(0, STEP) : messages.slice(0, Math.max(1, fitting));
}

/** Reads the snapshot of a step. One round trip. */
export async function loadStep(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  { from, to }: Pick<Move, 'from' | 'to'>,
  messages: readonly MessageSlot[],
): Promise<StepSnapshot> {
  const { table } = outside;
  const place = { realm, channelId: to.channelId, topic: folded(to.topic) };
  const people = sendersOf(messages).slice(0, MAX_JOINING);
  const [left, topic, count, participants, reacted] = await Promise.all([
    loadTopicRemoval(outside, realm, from, messages.length),
    table.get(topicKey(realm, to)),
    table.get('channelCount', { realm, channelId: to.channelId }),
    table.getMany(people.map((userId) => key('participant', { ...place, userId }))),
    Promise.all(messages.map((message) => hasReactions(table, realm, message))),
  ]);
  return {
    left,
    topic,
    count,
    taking: new Set(participants.map(({ userId }) => userId)),
    reacted: reacted.includes(true),
  };
}

/** One step of a move: one transaction. */
export interface Step {
  /** In rising order. */
  readonly messages: readonly MessageHead[];
  readonly snapshot: StepSnapshot;
  /** The event for messages of which only the heads were read; undefined if there are none. */
  readonly headsEvent?: EventEntry | undefined;
  /** Fails if a message that was not read is older (seconds since 1970). */
  readonly notBefore?: number | undefined;
  /** The event for the others. */
  readonly event: EventEntry;
  /** Milliseconds. */
  readonly now: number;
  /** New content of the message; only if it moves alone. */
  readonly rewrite?: Rewrite | undefined;
  /** The notice that is posted in the target topic. */
  readonly notice?: MessageEntry | undefined;
  /** Further conditions. */
  readonly checks?: readonly Write[];
  /** Jobs to leave in the outbox, by the log number of the step. */
  readonly left?: ((number: number) => readonly Write[]) | undefined;
  /** The job that moves the others, or that this step is part of: both topics are marked with it. */
  readonly moving?: string | undefined;
}

/** The change of a step, and how many log numbers it takes. */
export function planStep(
  realm: string,
  move: Move,
  { messages, snapshot, headsEvent, notBefore, event, now, rewrite, notice, checks = [], left, moving }: Step,
): { readonly count: number; readonly plan: (numbers: readonly number[]) => Change<undefined> } {
  const entries = [
    ...(headsEvent ? [headsEvent] : []),
    event,
    ...lossesOf(move, messages),
    ...firstMessageEvents(move, messages, snapshot),
    ...(notice ? [notice] : []),
  ];
  const { userId, to: relocation } = move;
  const told = headsEvent ? 1 : 0;
  return {
    count: entries.length,
    plan: (numbers) => ({
      writes: [
        ...messages.flatMap((message) => {
          const seq = numbers[isWhole(message) ? told : 0] as number;
          const moving = { seq, userId, now, relocation };
          return [
            ...(isWhole(message)
              ? doRevise(realm, message, { ...moving, rewrite })
              : [doRelocate(realm, message, { ...moving, notBefore })]),
            ...(leavesChannel(move) ? [doRecordMove(realm, message.id, seq)] : []),
          ];
        }),
        ...placeWrites(
          realm,
          move,
          snapshot,
          { messages, notice: notice && { id: numbers.at(-1) as number, now }, moving },
          numbers.at(-1) as number,
        ),
        ...checks,
        ...(left?.(numbers.at(-1) as number) ?? []),
      ],
      entries,
      result: undefined,
    }),
  };
}

/** `delete_message` events for those who lose access. */
const lossesOf = ({ from, to }: Move, messages: readonly MessageHead[]): EventEntry[] =>
  leavesChannel({ from, to })
    ? messages.map((message) => ({
        kind: 'event',
        hearers: { message: message.id, channel: from.channelId, goneTo: to.channelId },
        payload: deletionPayload(message.id, message),
      }))
    : [];

const leavesChannel = ({ from, to }: Pick<Move, 'from' | 'to'>): boolean => from.channelId !== to.channelId;

/** The oldest message of each channel may change. */
function firstMessageEvents(
  { from, to }: Move,
  messages: readonly MessageHead[],
  { left, count }: StepSnapshot,
): EventEntry[] {
  if (!leavesChannel({ from, to })) return [];
  const ids = messages.map(({ id }) => id);
  return [
    ...(areNewer(left.count, ids) ? [] : [firstMessageEvent(from.channelId)]),
    ...(areNewer(count, ids) ? [] : [firstMessageEvent(to.channelId)]),
  ];
}

/** Updates both topics and both channels. `number`: the log number of the transaction. */
function placeWrites(
  realm: string,
  { from, to }: Move,
  snapshot: StepSnapshot,
  arriving: Arriving,
  number: number,
): Write[] {
  if (isSameTopic(from, to)) {
    return spellingWrites(topicKey(realm, to), to.topic, arriving, snapshot);
  }
  const { messages, moving } = arriving;
  const leaving = { ...from, ids: messages.map(({ id }) => id) };
  const { topic, newest, participants } = snapshot.left;
  const left = checkRemoval(leaving.ids, topic, newest);
  const departure = doRemoveFromTopic(realm, leaving, left, participants, moving);
  const { channelId } = to;
  const begins = snapshot.topic === undefined && to.topic !== '';
  const begun = begins ? 1 : 0;
  const counts =
    from.channelId === channelId
      ? countsWrites(realm, { channelId, begins, namedTopics: namedTopicsAfter(leaving, topic) + begun })
      : [
          doRemoveFromChannel(realm, leaving, snapshot.left, number),
          doComeToChannel(
            realm,
            { channelId, begins, namedTopics: begun },
            leaving.ids,
            snapshot.count,
            number,
          ),
        ];
  return [...departure, ...counts, ...arrivalWrites(realm, to, arriving, snapshot)];
}
