import type { Revision } from '../../log/message.ts';
import type { Channel } from '../channel/channel.ts';
import type { HistoryVisibility } from '../realm/realm.ts';

/** Who can read a channel without being let in: members, or guests too. */
export type OpenTo = NonNullable<NonNullable<Revision['channel']>['openTo']>;

/** The same for a channel as it is; undefined for a private one. */
export function openTo({
  isPrivate,
  isWebPublic,
}: Pick<Channel, 'isPrivate' | 'isWebPublic'>): OpenTo | undefined {
  if (isWebPublic) return 'everyone';
  return isPrivate ? undefined : 'members';
}

/**
 * The changes of a message, newest first, back to where it last left a channel that this kind of reader could not read
 * without being let in. What it said and was called there stays there. It is told to nobody who reads it elsewhere, not
 * even to those who may read both: who they are can change, and asking would take another round trip for each message.
 */
export function readableHistory(history: readonly Revision[] = [], isGuest: boolean): readonly Revision[] {
  const closed = history.findIndex(
    ({ channel }) =>
      channel !== undefined && channel.openTo !== 'everyone' && (isGuest || channel.openTo !== 'members'),
  );
  return closed < 0 ? history : history.slice(0, closed);
}

/**
 * The changes of a message that the organization shows (its setting `message_edit_history_visibility_policy`): all,
 * none, or the moves, without a word on what else was changed in them.
 */
export function visibleHistory(
  history: readonly Revision[] | undefined,
  visibility: HistoryVisibility,
): readonly Revision[] {
  if (visibility === 'none') return [];
  if (visibility === 'all') return history ?? [];
  return (history ?? []).flatMap(({ content: _, before: __, ...move }) =>
    move.topic || move.channel ? [move] : [],
  );
}
