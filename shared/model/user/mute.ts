import type { Mute, User } from './user.ts';

/** What decides the flags that a reader's messages have. */
export type MessageReader = Pick<User, 'userId' | 'mutes' | 'alertWords'>;

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
