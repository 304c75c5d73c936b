import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { Step } from '../in-order.ts';
import { countOwner, isHumanOwner, uncountOwner } from './owner-count.ts';
import type { User } from './user.ts';

/**
 * Makes an account active, with what else is set of it, and tells everybody. It holds to the account as it was
 * read. The number of owners is kept right.
 */
export const doActivate = (realm: string, user: User, set: Partial<Pick<User, 'ownerId'>> = {}): Step => ({
  writes: [
    {
      update: key('user', { realm, userId: user.userId }),
      change: { set: { isActive: true, ...set } },
      when: { equals: { isActive: false, role: user.role } },
      inOrder: true,
    },
    ...(isHumanOwner(user) ? [countOwner(realm)] : []),
  ],
  entries: [personEvent(user.userId, { is_active: true })],
});

/**
 * The contrary. It also holds to the bots that were seen: to how many there are, since a list and the account are
 * not read at one moment, and to none having become active since the account was read, which must be read first.
 */
export const doInactivate = (realm: string, user: User, bots: number): Step => ({
  writes: [
    {
      update: key('user', { realm, userId: user.userId }),
      change: { set: { isActive: false } },
      when: {
        equals: { isActive: true, role: user.role, botChanges: user.botChanges },
        above: { botCount: bots - 1 },
        below: { botCount: bots + 1 },
      },
      inOrder: true,
    },
    ...(isHumanOwner(user) ? [uncountOwner(realm)] : []),
  ],
  entries: [personEvent(user.userId, { is_active: false })],
});

/**
 * Holds a bot that comes to be active to its owner being so, and the owner's deactivation to the bot. `more` is 1
 * where it also comes to be theirs.
 */
export const doHaveBot = (realm: string, ownerId: number, more: 0 | 1): Write => ({
  update: key('user', { realm, userId: ownerId }),
  change: { add: { botChanges: 1, botCount: more } },
  when: { equals: { isActive: true } },
});

/** Takes a bot from somebody. */
export const doLoseBot = (realm: string, ownerId: number): Write => ({
  update: key('user', { realm, userId: ownerId }),
  change: { add: { botCount: -1 } },
});

/** Tells everybody what has changed of an account. */
export const personEvent = (userId: number, changes: Readonly<Record<string, unknown>>): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'realm_user', op: 'update', person: { user_id: userId, ...changes } },
  access: true,
});
