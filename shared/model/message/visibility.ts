import type { UserSettings } from '../user/settings.ts';

/** How much of a topic a user wants to hear (wire facts 3.10). */
export const visibility = { inherit: 0, muted: 1, unmuted: 2, followed: 3 } as const;
export type Visibility = (typeof visibility)[keyof typeof visibility];

/** When a personal setting changes a topic's policy by itself; 4 is never. */
const when = { participation: 1, send: 2, initiation: 3 } as const;

/** What the automatic policies look at. */
export interface VisibilityCase {
  readonly settings: UserSettings;
  readonly current: Visibility;
  /** The sender has muted the channel. */
  readonly channelMuted: boolean;
  /** No earlier message of the topic could be read by the sender. */
  readonly startsTopic: boolean;
  /** They only reacted: that is participation, but nothing was sent. */
  readonly onlyReacts?: boolean;
}

/**
 * The policy that a topic gets because somebody sent to it or reacted in it, or undefined where nothing changes (wire facts 3.10).
 * Where one setting says to follow and the other to unmute, following wins.
 */
export function automaticPolicy({
  settings,
  current,
  channelMuted,
  startsTopic,
  onlyReacts = false,
}: VisibilityCase): Visibility | undefined {
  if (current === visibility.followed) return undefined;
  // Whoever has an explicit policy for the topic does not begin it.
  const begins = startsTopic && current === visibility.inherit;
  const applies = (setting: number): boolean =>
    setting === when.participation ||
    (!onlyReacts && (setting === when.send || (setting === when.initiation && begins)));
  if (applies(settings.automatically_follow_topics_policy)) return visibility.followed;
  const unmutes = channelMuted && applies(settings.automatically_unmute_topics_in_muted_streams_policy);
  return unmutes && current !== visibility.unmuted ? visibility.unmuted : undefined;
}
