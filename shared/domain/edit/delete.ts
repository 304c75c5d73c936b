import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { holds } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import type { Reader } from '../reader/reader.ts';
import type { Target } from '../reader/target.ts';
import { type Left, loadLeft, loadRemoved, type Removed } from './removal.ts';

/** What a deletion needs besides the message and its channel. */
export interface DeletionSnapshot {
  readonly sender: User | undefined;
  readonly removed: Removed;
  readonly left: Left;
}

/** Reads it. One round trip. */
export async function loadDeletion(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  message: MessageSlot,
  reader: Reader,
): Promise<DeletionSnapshot> {
  const { table, realm } = reader;
  const [sender, removed, left] = await Promise.all([
    reader.user(message.senderId),
    loadRemoved(table, realm, message),
    loadLeft(outside, realm, [message]),
  ]);
  return { sender, removed, left };
}

/**
 * Decides whether the caller may delete the message (specification 4.2: `can_delete_any_message_group`,
 * `can_delete_own_message_group`). A message of a caller's bot counts as
 * their own. Only those who may delete any message have no time limit.
 */
export function checkDeletion(
  { user, standing, realm: { settings } }: Caller,
  { message, seen, more: { sender } }: Target<DeletionSnapshot>,
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
