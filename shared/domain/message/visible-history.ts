import type { Revision } from '../../log/message.ts';
import type { HistoryVisibility } from '../realm/realm.ts';

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
  return (history ?? []).flatMap(({ content: _, ...move }) => (move.topic || move.channel ? [move] : []));
}
