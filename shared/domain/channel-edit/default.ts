import type { Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Caller } from '../../model/user/caller.ts';
import { checkChannelEdit } from './check.ts';
import { type DecidedEdit, type EditSnapshot, loadEditSnapshot, parseChannelEdit } from './edit.ts';

/** Reads what a change of the default channels is decided on. One round trip. */
export const loadDefaultSnapshot = (
  outside: Outside,
  resolved: Resolved,
  userId: number,
  channelId: number,
): Promise<EditSnapshot> =>
  loadEditSnapshot(outside, resolved, userId, parseChannelEdit({ stream_id: channelId }));

/** Decides on the same edit of a channel as with `is_default_stream` (specification 4.2). */
export const checkDefaultChange = (caller: Caller, isDefault: boolean, snapshot: EditSnapshot): DecidedEdit =>
  checkChannelEdit(caller, { is_default_stream: isDefault }, snapshot);
