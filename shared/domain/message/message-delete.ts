import type { Change } from '../../log/commit.ts';
import { type MessageSlot, tombstoneOf } from '../../log/slot.ts';
import { key, partition } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { Caller } from '../caller.ts';
import { type Ends, loadEnds } from '../fetch/message-neighbours.ts';
import { messageKey, stillTheSame, type Target } from '../fetch/message-target.ts';
import type { Reader } from '../fetch/reader.ts';
import { holds } from '../permission.ts';
import { badRequest } from '../problems.ts';
import { type Conversation, doLeaveDirect } from '../send/direct.ts';
import {
  doLeaveChannel,
  doLeaveTopic,
  type Leaving,
  type LeavingState,
  loadLeaving,
} from '../topic/topic-leave.ts';
import type { User } from '../user/user.ts';
import { hearersOf } from './message-hearers.ts';

/** What a deletion looks at besides the message and its channel. */
export interface DeletionGround {
  readonly sender: User | undefined;
  /** What is kept of earlier versions of the message; some of it where it is very much. */
  readonly edits: readonly number[];
  readonly left:
    | { readonly kind: 'topic'; readonly leaving: Leaving; readonly state: LeavingState }
    | { readonly kind: 'direct'; readonly conversation: Conversation | undefined; readonly ends: Ends };
}

/** Earlier versions that go in the transaction of the deletion; what is more goes before it. */
const MOST_EDITS = 20;

/** Reads it. One round trip. */
export async function loadDeletion(message: MessageSlot, reader: Reader): Promise<DeletionGround> {
  const { table, realm } = reader;
  const [sender, edits, left] = await Promise.all([
    reader.user(message.senderId),
    message.history === undefined ? [] : loadEdits(table, realm, message.id),
    loadLeft(table, realm, message),
  ]);
  return { sender, edits, left };
}

async function loadEdits(table: Table, realm: string, messageId: number): Promise<number[]> {
  const { items } = await table.page<{ seq: number }>({
    pk: partition('edit', { realm, messageId }),
    limit: MOST_EDITS + 1,
  });
  return items.map(({ seq }) => seq);
}

async function loadLeft(table: Table, realm: string, message: MessageSlot): Promise<DeletionGround['left']> {
  const { id, channelId, topic = '', conversation } = message;
  if (channelId !== undefined) {
    const leaving = { channelId, topic, ids: [id] };
    return { kind: 'topic', leaving, state: await loadLeaving(table, realm, leaving) };
  }
  const [stored, ends] = await Promise.all([
    table.get<Conversation>(key('conversation', { realm, conversation })),
    loadEnds(table, realm, { conversation }, 1),
  ]);
  return { kind: 'direct', conversation: stored, ends };
}

/**
 * Decides whether the caller may delete the message (specification 4.2: `can_delete_any_message_group`,
 * `can_delete_own_message_group`). What somebody's bots sent is their own too. Only who may delete any message has
 * no time limit.
 */
export function checkDeletion(
  { user, standing, realm: { settings } }: Caller,
  { message, seen, more: { sender } }: Target<DeletionGround>,
  now: number,
): void {
  const groups = seen?.channel.groups;
  const mayDelete = (any: 'can_delete_any_message_group' | 'can_delete_own_message_group'): boolean =>
    holds(standing, settings[any]) || (groups !== undefined && holds(standing, groups[any]));
  if (mayDelete('can_delete_any_message_group')) return;
  const isOwn = message.senderId === user.userId || sender?.ownerId === user.userId;
  if (!isOwn || !mayDelete('can_delete_own_message_group')) {
    throw badRequest('You do not have permission to delete this message.');
  }
  const limit = settings.message_content_delete_limit_seconds;
  if (limit !== null && now / 1000 - message.timestamp > limit) {
    throw badRequest('The time in which this message could be deleted is over.');
  }
}

/** Removes earlier versions where they are too many for the transaction of the deletion, and tells what is left. */
export async function forgetEdits(
  table: Table,
  realm: string,
  messageId: number,
  edits: readonly number[],
  uuid: () => string,
): Promise<readonly number[]> {
  let left = edits;
  for (; left.length > MOST_EDITS; left = await loadEdits(table, realm, messageId)) {
    await table.transact(deleteEdits(realm, messageId, left), uuid());
  }
  return left;
}

const deleteEdits = (realm: string, messageId: number, edits: readonly number[]): Write[] =>
  edits.map((seq): Write => ({ delete: key('edit', { realm, messageId, seq }) }));

/**
 * Deletes a message for everybody: a tombstone takes its place in the log, its topic or conversation goes on without
 * it, and its clients are told to forget it.
 */
export const planDeletion =
  (
    realm: string,
    message: MessageSlot,
    { edits, left }: Pick<DeletionGround, 'edits' | 'left'>,
    now: number,
  ) =>
  (): Change<Record<never, never>> => ({
    writes: [
      {
        put: messageKey(realm, message.id),
        item: { ...tombstoneOf(message, now) },
        when: stillTheSame(message),
        inOrder: true,
      },
      ...deleteEdits(realm, message.id, edits),
      ...leaveWrites(realm, message, left),
    ],
    entries: [{ kind: 'event', hearers: hearersOf(message), payload: deletionPayload(message.id, message) }],
    result: {},
  });

function leaveWrites(realm: string, message: MessageSlot, left: DeletionGround['left']): Write[] {
  if (left.kind === 'direct') return doLeaveDirect(realm, message, left.conversation, left.ends);
  const { writes, namedTopics } = doLeaveTopic(realm, left.leaving, left.state);
  return [...writes, ...doLeaveChannel(realm, left.leaving, left.state, namedTopics)];
}

/** The `delete_message` event of a message that was here. Each has one of its own: not every client takes lists. */
export const deletionPayload = (
  messageId: number,
  { channelId, topic = '' }: { readonly channelId?: number; readonly topic?: string },
) => ({
  type: 'delete_message',
  message_ids: [messageId],
  message_type: channelId === undefined ? 'private' : 'stream',
  ...(channelId !== undefined && { stream_id: channelId, topic }),
});
