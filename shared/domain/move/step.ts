import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import type { Commit } from '../../log/bulk.ts';
import type { MessageHead } from '../../log/message.ts';
import { type EventEntry, eventFor, type MessageEntry, type MessageSlot } from '../../log/slot.ts';
import type { ChannelCount } from '../../model/channel/channel.ts';
import {
  areNewer,
  doCountTopics,
  firstMessageEvent,
  freeFor,
  type TopicsChange,
} from '../../model/channel/first-message.ts';
import {
  checkRemoval,
  doRemoveFromTopic,
  loadTopicRemoval,
  pruneParticipants,
  type TopicRemovalSnapshot,
  topicsAfter,
} from '../../model/message/leave.ts';
import { loadMessages } from '../../model/message/load.ts';
import { isSameTopic, topicConversation } from '../../model/message/message.ts';
import { doRecordMove } from '../../model/message/reaction-store.ts';
import type { RecentChanges } from '../../model/message/recent.ts';
import {
  doRelocate,
  doRevise,
  type Relocation,
  type Rewrite,
  type Updated,
  updateEvent,
} from '../../model/message/revision.ts';
import { type Topic, topicKey } from '../../model/message/topic.ts';
import type { ChannelTopic } from '../../model/message/user-topic.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { deletionPayload } from '../edit/removal.ts';
import { type Arriving, arrivalWrites, spellingWrites } from './arrival.ts';

/*
 * Messages move in steps of one transaction each. The request does the first step: the message that it names, and others
 * of its topic. If there are more, an outbox job does the next steps (`rest.ts`).
 */

/** Most messages that one step moves. */
export const STEP = 20;

/** A move of messages that has passed all checks. */
export interface Move {
  readonly from: ChannelTopic;
  readonly to: Relocation;
  readonly mode: 'change_one' | 'change_later' | 'change_all';
  readonly userId: number;
  /** Name of the source channel. */
  readonly channelName: string;
  /** When it was requested, milliseconds. */
  readonly now: number;
}

/** Both topics and the target channel before a step. */
export interface StepSnapshot {
  readonly left: TopicRemovalSnapshot;
  readonly topic: Topic | undefined;
  readonly count: ChannelCount | undefined;
  /** The participants of the target topic; undefined if they are too many to read. */
  readonly taking: ReadonlySet<number> | undefined;
}

/** Most participants of the target topic that are read. */
const MAX_TAKING = 1000;

/** Reads them before at most `leaving` messages move. One round trip. */
export async function loadStep(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  { from, to }: Pick<Move, 'from' | 'to'>,
  leaving: number,
  recent?: Promise<RecentChanges>,
): Promise<StepSnapshot> {
  const { table } = outside;
  const place = { realm, channelId: to.channelId, topic: folded(to.topic) };
  const [left, topic, count, { items, more }] = await Promise.all([
    loadTopicRemoval(outside, realm, from, leaving, recent),
    table.get(topicKey(realm, to)),
    table.get('channelCount', { realm, channelId: to.channelId }),
    table.page('participant', place, { limit: MAX_TAKING }),
  ]);
  const taking = more ? undefined : new Set(items.map(({ userId }) => userId));
  return { left, topic, count, taking };
}

/** Reads those of the messages that are still to be moved, in rising order. One round trip. */
export async function loadUnmoved(
  table: Table,
  realm: string,
  { from, to }: Pick<Move, 'from' | 'to'>,
  ids: readonly number[],
): Promise<MessageSlot[]> {
  const conversation = topicConversation(from.channelId, from.topic);
  const messages = await loadMessages(table, realm, ids);
  return (
    messages
      .filter((message) => message.conversation === conversation)
      // If only the case changes, a moved message stays in its conversation.
      .filter(({ channelId, topic }) => channelId !== to.channelId || topic !== to.topic)
      .sort((a, b) => a.id - b.id)
  );
}

/** The content of a step. */
export interface Step {
  readonly snapshot: StepSnapshot;
  /** The message that the request names, and its new content. */
  readonly main?: MessageSlot | undefined;
  readonly rewrite?: Rewrite | undefined;
  /** The other messages, in rising order. Of some, only the head was read. */
  readonly others: readonly MessageHead[];
  /** Fails if a message is older whose head alone was read (seconds since 1970). */
  readonly notBefore?: number | undefined;
  /** The notice that is posted in the target topic. */
  readonly notice?: MessageEntry | undefined;
  /** The job of the next steps: both topics are marked with it. */
  readonly moving?: string | undefined;
  /** Further writes, by the log number of the step. */
  readonly more: (number: number) => readonly Write[];
}

/** Moves the messages of a step in one transaction. Throws `ConflictError` if the snapshot has changed. */
export async function commitStep(
  { table, uuid }: Pick<Outside, 'table' | 'uuid'>,
  commit: Commit,
  realm: string,
  move: Move,
  { snapshot, main, rewrite, others, notBefore, notice, moving, more }: Step,
): Promise<void> {
  const { from, to: relocation, userId, now } = move;
  const messages = [...others, ...(main ? [main] : [])].sort((a, b) => a.id - b.id);
  const ids = messages.map(({ id }) => id);
  const left = isSameTopic(from, relocation)
    ? snapshot.left
    : await pruneParticipants(table, realm, { ...from, ids }, snapshot.left, uuid);
  const state = { ...snapshot, left };
  const [first] = others;
  const updated: Updated = { ...move, relocation };
  const entries = [
    ...(first ? [updateEvent(first, others, updated)] : []),
    // An event of its own: not everyone who can read the others may see its new content.
    ...(main ? [updateEvent(main, [main], { ...updated, rewrite })] : []),
    ...deletions(move, messages),
    ...firstMessageEvents(move, ids, state),
    ...(rewrite?.files?.entries ?? []),
    ...(notice ? [notice] : []),
  ];
  await commit(entries.length, (numbers) => {
    const last = numbers.at(-1) as number;
    const moveWrites = (message: MessageHead): Write[] => {
      const seq = numbers[message === main && first ? 1 : 0] as number;
      const revising = { seq, userId, now, relocation };
      return [
        ...(isWhole(message)
          ? doRevise(realm, message, { ...revising, rewrite: message === main ? rewrite : undefined })
          : [doRelocate(realm, message, { ...revising, notBefore })]),
        ...(leavesChannel(move) ? [doRecordMove(realm, message.id, seq)] : []),
      ];
    };
    const arriving = { messages, notice: notice && { id: last, now }, moving };
    return {
      writes: [
        ...messages.flatMap(moveWrites),
        ...placeWrites(realm, move, state, arriving, last),
        ...more(last),
      ],
      entries,
      result: undefined,
    };
  });
}

/** Whether more than the head was read. */
const isWhole = (message: MessageHead): message is MessageSlot => 'kind' in message;

const leavesChannel = ({ from, to }: Move): boolean => from.channelId !== to.channelId;

/** `delete_message` events for those who lose access. */
const deletions = (move: Move, messages: readonly MessageHead[]): EventEntry[] =>
  leavesChannel(move)
    ? messages.map((message) =>
        eventFor(
          { message: message.id, channel: move.from.channelId, goneTo: move.to.channelId },
          deletionPayload(message.id, message),
        ),
      )
    : [];

/** The oldest message of each channel may change. */
const firstMessageEvents = (
  move: Move,
  ids: readonly number[],
  { left, count }: StepSnapshot,
): EventEntry[] =>
  leavesChannel(move)
    ? [
        ...(areNewer(left.count, ids) ? [] : [firstMessageEvent(move.from.channelId)]),
        ...(areNewer(count, ids) ? [] : [firstMessageEvent(move.to.channelId)]),
      ]
    : [];

/** Updates both topics and both channels. `number`: the log number of the transaction. */
function placeWrites(
  realm: string,
  { from, to }: Move,
  snapshot: StepSnapshot,
  arriving: Arriving,
  number: number,
): Write[] {
  if (isSameTopic(from, to)) return spellingWrites(realm, to, arriving, snapshot.topic);
  const ids = arriving.messages.map(({ id }) => id);
  const leaving = { ...from, ids };
  const { topic, newest, participants } = snapshot.left;
  const left = checkRemoval(ids, topic, newest);
  const departure = doRemoveFromTopic(realm, leaving, left, participants, arriving.moving);
  const { channelId } = to;
  const begins = snapshot.topic === undefined && to.topic !== '';
  const arrival = { channelId, begins, namedTopics: begins ? 1 : 0 };
  const gone = topicsAfter(leaving, topic);
  const counts =
    from.channelId === channelId
      ? countWrites(realm, { ...arrival, namedTopics: arrival.namedTopics + gone.namedTopics })
      : [
          doCountTopics(realm, gone, ids, snapshot.left.count, number),
          doCountTopics(realm, arrival, ids, snapshot.count, number),
        ];
  return [...departure, ...counts, ...arrivalWrites(realm, to, arriving, snapshot.topic, snapshot.taking)];
}

/** Changes the counts for a move within one channel. Its oldest message stays the same. */
function countWrites(realm: string, { channelId, namedTopics, begins = false }: TopicsChange): Write[] {
  const at = key('channelCount', { realm, channelId });
  const when = freeFor(begins);
  if (namedTopics !== 0) return [{ update: at, change: { add: { namedTopics } }, when }];
  return begins ? [{ check: at, when }] : [];
}
