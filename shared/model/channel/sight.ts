import type { Audience, ChannelVisibility } from '../../log/slot.ts';
import { sameSetting } from '../permission/group-setting.ts';
import type { Standing } from '../permission/permission.ts';
import { type ChannelWithSubscription, hasMetadataAccess } from './access.ts';
import type { Channel } from './channel.ts';

/*
 * Who comes to know of a channel by a change of its settings, and who forgets it (wire facts 4.6). Nobody counts
 * these people when it is changed: the log keeps the settings from before and after, and each listener finds out
 * for themselves (DESIGN 5).
 */

/** On what of a channel it rests who may know of it. */
export const sightOf = ({ isPrivate, isWebPublic, groups }: Channel): ChannelVisibility => ({
  isPrivate,
  isWebPublic,
  groups: {
    can_add_subscribers_group: groups.can_add_subscribers_group,
    can_administer_channel_group: groups.can_administer_channel_group,
    can_subscribe_group: groups.can_subscribe_group,
  },
});

/** How many may know of a channel: some people, all but guests, everybody. In each step are all of the one before. */
const openness = ({ isPrivate, isWebPublic }: ChannelVisibility): number =>
  isWebPublic ? 2 : isPrivate ? 0 : 1;

const sightGroups = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
] as const;

/** Whether a change of the channel can show it to somebody, and whether it can hide it from somebody. */
export function changeOfSight(
  before: ChannelVisibility,
  after: ChannelVisibility,
): { readonly shows: boolean; readonly hides: boolean } {
  const more = openness(after) - openness(before);
  if (more !== 0) return { shows: more > 0, hides: more < 0 };
  const mayDiffer =
    before.isPrivate && sightGroups.some((name) => !sameSetting(before.groups[name], after.groups[name]));
  return { shows: mayDiffer, hides: mayDiffer };
}

type OfSight = Extract<Audience, { readonly sight: string }>;

/**
 * Whether someone hears of a change of sight that has this number. What they could see then follows from the
 * settings of that time, with their roles and groups as they are now. Only what they may see now is told, except
 * that they are to forget something, which tells no more than its id.
 */
export function hearsOfSight(
  who: Standing,
  hearers: OfSight,
  seen: ChannelWithSubscription,
  seq: number,
): boolean {
  const subscription = seen.subscription && seen.subscription.since < seq ? seen.subscription : undefined;
  const saw = (channel: ChannelVisibility): boolean => hasMetadataAccess(who, { channel, subscription });
  switch (hearers.sight) {
    case 'gained':
      return !saw(hearers.before) && saw(hearers.after) && hasMetadataAccess(who, seen);
    case 'kept':
      return saw(hearers.before) && saw(hearers.after) && hasMetadataAccess(who, seen);
    case 'lost':
      return saw(hearers.before) && !saw(hearers.after);
  }
}
