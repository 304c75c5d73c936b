import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { roles } from '../permission/system-group.ts';
import type { User } from './user.ts';

/**
 * How many people own the organization, and who. Whoever makes or unmakes an owner changes it in the same
 * transaction, so that two requests at once cannot take the last two away.
 */
export interface OwnerCount {
  readonly count: number;
  /** Absent where there was none yet. */
  readonly ids?: ReadonlySet<number>;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    owners: OwnerCount;
  }
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
