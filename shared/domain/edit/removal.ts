import type { Outside } from '../../kernel/outside.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, type MessageSlot, tombstoneOf } from '../../log/slot.ts';
import { areNewer, doCountTopics, firstMessageEvent } from '../../model/channel/first-message.ts';
import { type Conversation, type DirectRemoval, doRemoveFromDirect } from '../../model/message/direct.ts';
import {
  checkRemoval,
  doRemoveFromTopic,
  loadNewest,
  loadTopicRemoval,
  type NewestCandidate,
  pruneParticipants,
  type TopicRemoval,
  type TopicRemovalSnapshot,
  topicsAfter,
} from '../../model/message/leave.ts';
import { audienceOf, messageKey, unchanged } from '../../model/message/message.ts';
import {
  doForgetReactions,
  loadSummary,
  type ReactionSummary,
  type ReactionsTask,
} from '../../model/message/reaction-store.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { doReleaseFiles } from '../files/claim.ts';
import { doLeaveJob } from '../outbox/outbox.ts';

declare module '../outbox/outbox.ts' {
  interface Tasks {
    reactions: ReactionsTask;
  }
}

/** A message to remove, with the items that are removed with it. */
export interface Removed {
  readonly message: MessageSlot;
  /** The numbers of its stored earlier versions, some of them if there are many. */
  readonly edits: readonly number[];
  /** Undefined if nobody reacted. */
  readonly reactions: ReactionSummary | undefined;
}

/** The state of a conversation that messages are removed from. */
export type Left =
  | { readonly kind: 'topic'; readonly leaving: TopicRemoval; readonly state: TopicRemovalSnapshot }
  | {
      readonly kind: 'direct';
      readonly leaving: DirectRemoval;
      readonly conversation: Conversation | undefined;
      readonly newest: readonly NewestCandidate[];
    };

/** Most earlier versions that are deleted in the transaction of the removal; the others are deleted before it. */
export const MAX_EDITS = 10;
/** Earlier versions deleted at once before it. */
const EDITS_AT_ONCE = 50;

/** Reads the items that are removed with a message. One round trip. */
export async function loadRemoved(table: Table, realm: string, message: MessageSlot): Promise<Removed> {
  const [edits, reactions] = await Promise.all([
    loadEdits(table, realm, message),
    loadSummary(table, realm, message.id),
  ]);
  return { message, edits, reactions };
}

async function loadEdits(table: Table, realm: string, message: MessageSlot): Promise<number[]> {
  if (message.history === undefined) return [];
  const { items } = await table.page('edit', { realm, messageId: message.id }, { limit: EDITS_AT_ONCE });
  return items.map(({ seq }) => seq);
}

/** Reads the conversation of messages to remove. One round trip, seldom two. */
export async function loadLeft(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  messages: readonly [MessageSlot, ...MessageSlot[]],
): Promise<Left> {
  const [{ channelId, topic = '', conversation }] = messages;
  const ids = messages.map(({ id }) => id);
  if (channelId !== undefined) {
    const leaving = { channelId, topic, ids };
    return { kind: 'topic', leaving, state: await loadTopicRemoval(outside, realm, leaving, ids.length) };
  }
  const reading = outside.table.get('conversation', { realm, conversation });
  const [stored, newest] = await Promise.all([
    reading,
    loadNewest(outside, realm, { conversation }, ids.length, reading),
  ]);
  return { kind: 'direct', leaving: { conversation, ids }, conversation: stored, newest };
}

/** Where messages are removed, and conditions (`snapshot`) that each transaction must check. */
export interface RemovalPlace {
  readonly table: Table;
  readonly realm: string;
  readonly uuid: () => string;
  readonly snapshot?: readonly Write[];
}

/** Deletes what does not fit into the transaction of the removal. Returns the rest. */
export async function makeRoom(
  place: RemovalPlace,
  removed: readonly Removed[],
  left: Left,
): Promise<{ readonly removed: readonly Removed[]; readonly left: Left }> {
  const { table, realm, uuid, snapshot } = place;
  return {
    removed: await Promise.all(removed.map((one) => forgetEdits(place, one))),
    left:
      left.kind === 'direct'
        ? left
        : { ...left, state: await pruneParticipants(table, realm, left.leaving, left.state, uuid, snapshot) },
  };
}

async function forgetEdits(
  { table, realm, uuid, snapshot = [] }: RemovalPlace,
  { message, edits, reactions }: Removed,
): Promise<Removed> {
  let left = edits;
  while (left.length > MAX_EDITS) {
    const outcome = await table.transact([...snapshot, ...deleteEdits(realm, message.id, left)], uuid());
    // The snapshot has changed: the removal will fail too.
    if (outcome.state === 'refused') break;
    left = await loadEdits(table, realm, message);
  }
  return { message, edits: left.slice(0, MAX_EDITS), reactions };
}

const deleteEdits = (realm: string, messageId: number, edits: readonly number[]): Write[] =>
  edits.map((seq): Write => ({ delete: key('edit', { realm, messageId, seq }) }));

/**
 * Removes messages of one conversation for everyone: puts tombstones into their slots, updates their topic or
 * conversation, and adds `delete_message` events. `count` is how many log numbers it takes.
 *
 * @param now milliseconds
 */
export function planRemoval(
  realm: string,
  removed: readonly Removed[],
  left: Left,
  now: number,
  snapshot: readonly Write[] = [],
): { readonly count: number; readonly plan: (numbers: readonly number[]) => Change<Record<never, never>> } {
  const entries = removed.map(
    ({ message }): EventEntry => ({
      kind: 'event',
      hearers: audienceOf(message),
      payload: deletionPayload(message.id, message),
    }),
  );
  if (left.kind === 'topic' && !areNewer(left.state.count, left.leaving.ids)) {
    entries.push(firstMessageEvent(left.leaving.channelId));
  }
  return {
    count: entries.length,
    plan: (numbers) => ({
      writes: [
        ...snapshot,
        ...removed.flatMap(({ message, edits, reactions }): Write[] => [
          {
            put: messageKey(realm, message.id),
            item: { ...tombstoneOf(message, now) },
            when: unchanged(message),
            lastWriterWins: true,
          },
          ...deleteEdits(realm, message.id, edits),
          doForgetReactions(realm, message.id, reactions, now),
        ]),
        ...leaveReactions(realm, removed, now),
        ...doReleaseFiles(
          realm,
          removed.map(({ message }) => message),
          numbers.at(-1) as number,
          now,
        ),
        ...leaveWrites(realm, left, numbers.at(-1) as number),
      ],
      entries,
      result: {},
    }),
  };
}

/** Leaves a job to delete the reactions that are stored apart from a full summary. */
function leaveReactions(realm: string, removed: readonly Removed[], now: number): Write[] {
  const messageIds = removed.filter(({ reactions }) => reactions?.isFull).map(({ message }) => message.id);
  const [first] = messageIds;
  if (first === undefined) return [];
  const task: ReactionsTask = { messageIds };
  return [doLeaveJob({ realm, kind: 'reactions', job: `${first}` }, first, task, now)];
}

function leaveWrites(realm: string, left: Left, number: number): Write[] {
  if (left.kind === 'direct') {
    const { leaving, conversation, newest } = left;
    return doRemoveFromDirect(realm, leaving, checkRemoval(leaving.ids, conversation, newest));
  }
  const { ids } = left.leaving;
  const { topic, newest, participants, count } = left.state;
  return [
    ...doRemoveFromTopic(realm, left.leaving, checkRemoval(ids, topic, newest), participants),
    doCountTopics(realm, topicsAfter(left.leaving, topic), ids, count, number),
  ];
}

/**
 * The `delete_message` event of a message. Each message has its own, since their audiences may differ and not every
 * client takes lists; for those that do, events are merged when they are read.
 */
export const deletionPayload = (
  messageId: number,
  { channelId, topic = '' }: { readonly channelId?: number; readonly topic?: string },
) => ({
  type: 'delete_message',
  message_ids: [messageId],
  message_type: channelId === undefined ? 'private' : 'stream',
  ...(channelId !== undefined && { stream_id: channelId, topic }),
});
