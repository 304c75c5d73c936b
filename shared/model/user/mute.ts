import type { User } from './user.ts';

/** A user whom another one muted (companion facts 3.2). */
export interface Mute {
  readonly userId: number;
  /** Seconds since 1970. */
  readonly at: number;
  /** Set when they were unmuted: their messages up to this id stay read. */
  readonly until?: number;
}

/** Who reads messages, as far as it decides which are read. */
export type MessageReader = Pick<User, 'userId' | 'mutes'>;

/** The users whom a user has muted now, in the order in which they did. */
export const mutedBy = ({ mutes = [] }: MessageReader): readonly Mute[] =>
  mutes.filter(({ until }) => until === undefined);

/**
 * Whether a message is read because its sender is muted, or was until after it. Nothing is stored for such messages: it is
 * decided whenever they are read.
 */
export const isReadByMute = (
  { mutes = [] }: MessageReader,
  { id, senderId }: { readonly id: number; readonly senderId: number },
): boolean => mutes.some(({ userId, until }) => userId === senderId && (until === undefined || id <= until));
