import type { Step } from '../../log/bulk.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { roles } from '../permission/permission.ts';
import type { User } from './user.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    owners: OwnerCount;
  }
}

/**
 * How many people own the organization, and who. Whoever makes or unmakes an owner changes it in the same
 * transaction, so that two requests at once cannot take the last two away.
 */
export interface OwnerCount {
  readonly count: number;
  /** Absent where there was none yet. */
  readonly ids?: ReadonlySet<number>;
}

/** Whether the account counts as an owner while it is active. A bot does not keep an organization alive. */
export const isHumanOwner = (user: Pick<User, 'role' | 'isBot'>): boolean =>
  user.role === roles.owner && !user.isBot;

/** One owner more. */
export const countOwner = (realm: string, userId: number): Write => ({
  update: key('owners', { realm }),
  change: { add: { count: 1, ids: new Set([userId]) } },
});

/** One owner fewer: refused by the store where it is the last one. */
export const uncountOwner = (realm: string, userId: number): Write => ({
  update: key('owners', { realm }),
  change: { add: { count: -1 }, take: { ids: new Set([userId]) } },
  when: { absent: false, above: { count: 1 } },
});

/**
 * Makes an account active, with what else is set of it, and tells everybody. It holds to the account as it was
 * read, and to what was found asleep after that. The number of owners is kept right. `groups` tell of the groups that
 * it is in again.
 */
export const doActivate = (
  realm: string,
  user: User,
  groups: readonly EventEntry[],
  set: Partial<Pick<User, 'ownerId'>> = {},
): Step => ({
  writes: [
    {
      update: key('user', { realm, userId: user.userId }),
      change: { set: { isActive: true, ...set } },
      when: {
        equals: { isActive: false, role: user.role, fullName: user.fullName, arrivals: user.arrivals },
      },
      lastWriterWins: true,
    },
    ...(isHumanOwner(user) ? [countOwner(realm, user.userId)] : []),
  ],
  entries: [personEvent(user.userId, { is_active: true }), ...groups],
});

/**
 * The contrary. It holds to nothing having come to be theirs since the account was read, which must be read before
 * the lists of what is.
 */
export const doInactivate = (realm: string, user: User, groups: readonly EventEntry[]): Step => ({
  writes: [
    {
      update: key('user', { realm, userId: user.userId }),
      change: { set: { isActive: false } },
      when: { equals: { isActive: true, role: user.role, arrivals: user.arrivals } },
      lastWriterWins: true,
    },
    ...(isHumanOwner(user) ? [uncountOwner(realm, user.userId)] : []),
  ],
  entries: [personEvent(user.userId, { is_active: false }), ...groups],
});

/** Something comes to be theirs, which holds it to their account being active, and their deactivation to it. */
export const doReceive = (realm: string, userId: number): Write => ({
  update: key('user', { realm, userId }),
  change: { add: { arrivals: 1 } },
  when: { equals: { isActive: true } },
});

/** The same for what comes to be their bot's, whose own account is held to being active. */
export const doReceiveForBot = (realm: string, ownerId: number): Write => ({
  ...doReceive(realm, ownerId),
  when: { absent: false },
});

/** The same for a bot that comes to be active, and perhaps to be theirs. */
export const doHaveBot = (realm: string, ownerId: number, botId: number): Write => ({
  update: key('user', { realm, userId: ownerId }),
  change: { add: { arrivals: 1, bots: new Set([botId]) } },
  when: { equals: { isActive: true } },
});

/** Most bots of one person, deactivated ones too: everybody who registers is told of all of them (docs/LIMITS.md). */
export const MAX_BOTS = 100;

/** The same for a bot that is created, for which its owner must have room. */
export const doHaveNewBot = (realm: string, ownerId: number, botId: number): Write => ({
  ...doHaveBot(realm, ownerId, botId),
  when: { equals: { isActive: true }, shorter: { bots: MAX_BOTS } },
});

/** Takes a bot from somebody. */
export const doLoseBot = (realm: string, ownerId: number, botId: number): Write => ({
  update: key('user', { realm, userId: ownerId }),
  change: { take: { bots: new Set([botId]) } },
});

/** Tells everybody what has changed of an account. */
export const personEvent = (userId: number, changes: Readonly<Record<string, unknown>>): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'realm_user', op: 'update', person: { user_id: userId, ...changes } },
  access: true,
});
