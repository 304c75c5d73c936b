import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Step } from '../../log/in-order.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { activeGroupEvents } from '../../model/group/role-groups.ts';
import { isFullMember } from '../../model/permission/permission.ts';
import { loadCurrent } from '../../model/subscription/object.ts';
import { doInactivate } from '../../model/user/active.ts';
import { type Caller, directGroups } from '../../model/user/caller.ts';
import { noSuchAccount } from '../../model/user/list.ts';
import { checkManages, loadBotOwner } from '../../model/user/management.ts';
import { isHumanOwner, type OwnerCount } from '../../model/user/owner-count.ts';
import { isSystemBot, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import { suspendSubscriptions } from '../subscribe/leave.ts';

/** What the deactivation of an account is decided on. */
export interface Departure {
  readonly target: User | undefined;
  /** Whose bot it is. */
  readonly owner: User | undefined;
  readonly owners: OwnerCount | undefined;
  /** The bots that it owns. */
  readonly bots: readonly User[];
  /** What it and its bots are subscribed to. */
  readonly subscriptions: readonly Subscription[];
  /** The named groups that it and its bots are directly in, by user id. */
  readonly groups: ReadonlyMap<number, readonly number[]>;
}

/**
 * Reads the snapshot of a deactivation, after the account itself: that tells its bots, and lets the deactivation be held
 * to whatever came to be theirs since. One round trip.
 */
export async function loadDeparture(
  outside: Outside,
  realm: string,
  target: User | undefined,
): Promise<Departure> {
  if (target === undefined) {
    return {
      target,
      owner: undefined,
      owners: undefined,
      bots: [],
      subscriptions: [],
      groups: new Map(),
    };
  }
  const { table } = outside;
  const bots = [...(target.bots ?? [])];
  const ids = [target.userId, ...bots];
  const [owner, owners, users, subscriptions, groups] = await Promise.all([
    loadBotOwner(table, realm, target),
    table.get('owners', { realm }),
    table.getMany(bots.map((userId) => key('user', { realm, userId }))),
    Promise.all(ids.map((userId) => loadCurrent(table, realm, userId))),
    Promise.all(ids.map(async (userId) => [userId, await directGroups(outside, realm, userId)] as const)),
  ]);
  return { target, owner, owners, bots: users, subscriptions: subscriptions.flat(), groups: new Map(groups) };
}

/**
 * Decides whether the caller may deactivate the account, and the bots that are deactivated with it: they manage all of
 * them. The last owner stays.
 */
export function checkDeactivate(caller: Caller, { target, owner, owners, bots }: Departure): User {
  if (target === undefined || isSystemBot(target)) throw noSuchAccount(caller);
  checkManages(caller, target, owner);
  for (const bot of bots) if (bot.isActive) checkManages(caller, bot, target);
  if (isHumanOwner(target) && target.isActive && (owners?.count ?? 0) <= 1) {
    throw badRequest('The only owner of an organization cannot be deactivated.');
  }
  return target;
}

/**
 * Deactivates the account and its bots, whose keys are out with it, and puts their subscriptions to sleep. There
 * are no steps for what is done already. `now` is in milliseconds.
 */
export function doDeactivate(
  { realmId, realm }: Pick<Caller, 'realmId' | 'realm'>,
  target: User,
  { bots, subscriptions, groups }: Departure,
  now: number,
): Step[] {
  const groupsOf = (user: User): EventEntry[] => {
    const isFull = isFullMember(user, realm.settings.waiting_period_threshold, now);
    return activeGroupEvents('remove_members', user, isFull, groups.get(user.userId) ?? []);
  };
  return [
    ...[target, ...bots]
      .filter(({ isActive }) => isActive)
      .map((user) => doInactivate(realmId, user, groupsOf(user))),
    ...suspendSubscriptions(realmId, subscriptions),
  ];
}
