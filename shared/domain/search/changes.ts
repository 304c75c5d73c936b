import { entriesOf, KEPT, type ReadEvent, type Slot } from '../../log/slot.ts';

/** The messages that an event changed, moved or removed. */
export const changedBy = ({ payload }: Pick<ReadEvent, 'payload'>): readonly number[] =>
  payload.type === 'update_message' || payload.type === 'delete_message'
    ? ((payload.message_ids ?? []) as readonly number[])
    : [];

/** The messages that the events of a slot changed. */
export const changedIn = (slot: Slot): number[] =>
  entriesOf(slot).flatMap((entry) => (entry.kind === 'event' ? changedBy(entry) : []));

/**
 * Whether slots may have been deleted from the log after `until`: there is a hole, and what stands behind it is old, or
 * the first after a long silence. Slots in order.
 */
export function isTorn(slots: readonly Slot[], until: number, now: number): boolean {
  let head = until;
  for (const slot of slots) {
    const isHole = slot.seq - slot.width > head;
    if (isHole && (slot.isAfterSilence === true || now - slot.at >= KEPT)) return true;
    head = slot.seq;
  }
  return false;
}
