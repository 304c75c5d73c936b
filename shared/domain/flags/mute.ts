import { badRequest } from '../../kernel/errors.ts';
import { chunksOf } from '../../lists.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventFor } from '../../log/slot.ts';
import { flagsEvent } from '../../model/message/read-state.ts';
import { type Mute, mutedBy, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { MAX_MESSAGES } from './message-marking.ts';

/** Most users whom one user has muted, and most former mutes that are remembered (docs/LIMITS.md). */
export const MAX_MUTED = 100;

/** A muted user on the wire. */
export const mutedUserObject = ({ userId, at }: Mute) => ({ id: userId, timestamp: at });

/** Checks that a user may mute another one. Throws `BAD_REQUEST`. */
export function checkMute(user: User, mutedId: number): void {
  if (mutedId === user.userId) throw badRequest('You cannot mute yourself.');
  const muted = mutedBy(user);
  if (muted.some(({ userId }) => userId === mutedId)) throw badRequest('You have muted this user already.');
  if (muted.length >= MAX_MUTED)
    throw badRequest(`You have muted ${MAX_MUTED} users: unmute one of them first.`);
}

/** The user's mute of another one. Throws `BAD_REQUEST` if they have not muted them. */
export function accessMute(user: User, mutedId: number): Mute {
  const mute = mutedBy(user).find(({ userId }) => userId === mutedId);
  if (mute === undefined) throw badRequest('You have not muted this user.');
  return mute;
}

/** Fails if the user has muted or unmuted somebody since they were read. */
const doSetMutes = (realm: string, { userId, mutes: before }: User, mutes: readonly Mute[]): Write => ({
  update: key('user', { realm, userId }),
  change: { set: { mutes } },
  when: { equals: { mutes: before } },
  lastWriterWins: true,
});

const mutesEvent = (userId: number, mutes: readonly Mute[]): EventEntry =>
  eventFor(
    { users: [userId] },
    { type: 'muted_users', muted_users: mutedBy({ userId, mutes }).map(mutedUserObject) },
  );

/**
 * Mutes a user, with the events that these messages of theirs are read now. `now` is in milliseconds.
 *
 * @param unread the ids of their unread messages, in rising order
 */
export function doMute(
  realm: string,
  user: User,
  mutedId: number,
  unread: readonly number[],
  now: number,
): Change<void> {
  const { userId, mutes: before = [] } = user;
  const mute: Mute = { userId: mutedId, at: Math.floor(now / 1000) };
  const mutes = [...before.filter((each) => each.userId !== mutedId), mute];
  return {
    writes: [doSetMutes(realm, user, mutes)],
    entries: [
      mutesEvent(userId, mutes),
      ...chunksOf(unread, MAX_MESSAGES).map((ids) => flagsEvent(userId, 'add', 'read', ids)),
    ],
    result: undefined,
  };
}

/**
 * Unmutes a user. Their messages up to this log number stay read. Of those who are no longer muted the last hundred are
 * remembered.
 */
export function doUnmute(
  realm: string,
  user: User,
  mute: Mute,
  [until = 0]: readonly number[],
): Change<void> {
  const { userId, mutes: before = [] } = user;
  const others = before.filter((each) => each !== mute);
  const former = [...others.filter((each) => each.until !== undefined), { ...mute, until }];
  const mutes = [...mutedBy({ userId, mutes: others }), ...former.slice(-MAX_MUTED)];
  return {
    writes: [doSetMutes(realm, user, mutes)],
    entries: [mutesEvent(userId, mutes)],
    result: undefined,
  };
}
