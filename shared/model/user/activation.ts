import type { Step } from '../../log/bulk.ts';
import { type EventEntry, eventForEveryone } from '../../log/slot.ts';
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
 * The owners of the organization. Each change of an owner updates it in the same transaction, so that concurrent
 * requests cannot remove the last two.
 */
export interface OwnerCount {
  readonly count: number;
  readonly ids?: ReadonlySet<number>;
}

/** Whether the account counts as an owner while it is active. Bots do not count. */
export const isHumanOwner = (user: Pick<User, 'role' | 'isBot'>): boolean =>
  user.role === roles.owner && !user.isBot;

/** Adds an owner to the count. */
export const countOwner = (realm: string, userId: number): Write => ({
  update: key('owners', { realm }),
  change: { add: { count: 1, ids: new Set([userId]) } },
});

/** Removes an owner from the count. The condition fails for the last one. */
export const uncountOwner = (realm: string, userId: number): Write => ({
  update: key('owners', { realm }),
  change: { add: { count: -1 }, take: { ids: new Set([userId]) } },
  when: { absent: false, above: { count: 1 } },
});

/**
 * Activates an account, with the events for everyone and for its `groups`. Fails if the account, or its number of
 * memberships (`arrivals`), has changed since it was read.
 */
export const doActivate = (
  realm: string,
  user: User,
  groups: readonly EventEntry[],
  set: Partial<Pick<User, 'ownerId'>> = {},
): Step => doSetActive(realm, user, true, groups, { set, equals: { fullName: user.fullName } });

/**
 * Deactivates an account. Fails if a bot, subscription or invitation was added since the account was read, so read the account
 * before those lists.
 */
export const doInactivate = (realm: string, user: User, groups: readonly EventEntry[]): Step =>
  doSetActive(realm, user, false, groups, {});

function doSetActive(
  realm: string,
  user: User,
  isActive: boolean,
  groups: readonly EventEntry[],
  { set = {}, equals = {} }: { readonly set?: object; readonly equals?: object },
): Step {
  const { userId, role, arrivals } = user;
  const count = isActive ? countOwner : uncountOwner;
  return {
    writes: [
      {
        update: key('user', { realm, userId }),
        change: { set: { isActive, ...set } },
        when: { equals: { isActive: !isActive, role, arrivals, ...equals } },
        lastWriterWins: true,
      },
      ...(isHumanOwner(user) ? [count(realm, userId)] : []),
    ],
    entries: [personEvent(userId, { is_active: isActive }), ...groups],
  };
}

/**
 * Counts a new membership on the account, or another thing that its deactivation ends. Fails if the account is inactive,
 * and makes a concurrent deactivation fail.
 */
export const doCountMembership = (realm: string, userId: number): Write => ({
  update: key('user', { realm, userId }),
  change: { add: { arrivals: 1 } },
  when: { equals: { isActive: true } },
});

/** The same for a membership of a bot, counted on its owner, who may be inactive. */
export const doCountBotMembership = (realm: string, ownerId: number): Write => ({
  ...doCountMembership(realm, ownerId),
  when: { absent: false },
});

/** Counts an active bot on its owner, and lists it there. Fails if the owner is inactive. */
export const doAddOwnedBot = (realm: string, ownerId: number, botId: number): Write => ({
  update: key('user', { realm, userId: ownerId }),
  change: { add: { arrivals: 1, bots: new Set([botId]) } },
  when: { equals: { isActive: true } },
});

/** Most bots of one user, including deactivated ones: every registration lists all bots (docs/LIMITS.md). */
export const MAX_BOTS = 100;

/** The same for a new bot. Also fails if the owner has `MAX_BOTS` bots. */
export const doAddNewBot = (realm: string, ownerId: number, botId: number): Write => ({
  ...doAddOwnedBot(realm, ownerId, botId),
  when: { equals: { isActive: true }, shorter: { bots: MAX_BOTS } },
});

/** Removes a bot from the list of its owner. */
export const doRemoveOwnedBot = (realm: string, ownerId: number, botId: number): Write => ({
  update: key('user', { realm, userId: ownerId }),
  change: { take: { bots: new Set([botId]) } },
});

/** The event for everyone that an account changed. */
export const personEvent = (userId: number, changes: Readonly<Record<string, unknown>>): EventEntry =>
  eventForEveryone(
    { type: 'realm_user', op: 'update', person: { user_id: userId, ...changes } },
    { access: true },
  );
