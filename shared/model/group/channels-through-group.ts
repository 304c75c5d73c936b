import type { EventEntry, MembershipChange } from '../../log/slot.ts';

/** Tells those who came into a group, or left it, which channels they may know of by that, or not any more. */
export const sightThroughGroup = (op: 'create' | 'delete', through: MembershipChange): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'stream', op },
  access: true,
  fill: through,
});
