import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Caller } from '../caller.ts';
import type { Subscription } from '../channel/channel.ts';
import type { Step } from '../in-order.ts';
import { isOwner } from '../permission.ts';
import { badRequest, refusal } from '../problems.ts';
import { loadCurrent } from '../subscription/subscription-object.ts';
import { administersUser, loadOwnedBots } from './bot.ts';
import { doSleep } from './dormancy.ts';
import { isHumanOwner, type OwnerCount } from './owner-count.ts';
import { isSystemBot, type User } from './user.ts';
import { doInactivate } from './user-active.ts';
import { noSuchUser } from './user-list.ts';

/** What the deactivation of an account is decided on. */
export interface Departure {
  readonly target: User | undefined;
  readonly owners: OwnerCount | undefined;
  /** The bots that it owns. */
  readonly bots: readonly User[];
  /** What it and its bots are subscribed to. */
  readonly subscriptions: readonly Subscription[];
}

/** Reads the ground of a deactivation: one round trip, and another one if the account owns bots. */
export async function loadDeparture(
  table: Table,
  realm: string,
  userId: number | undefined,
): Promise<Departure> {
  if (userId === undefined) return { target: undefined, owners: undefined, bots: [], subscriptions: [] };
  const [target, owners, own, owned] = await Promise.all([
    table.get<User>(key('user', { realm, userId })),
    table.get<OwnerCount>(key('owners', { realm })),
    loadCurrent(table, realm, userId),
    loadOwnedBots(table, realm, userId),
  ]);
  // After the account, whose state tells whether one of them has become active since.
  const bots = await Promise.all(
    owned.map(async (bot) => {
      const [user, subscriptions] = await Promise.all([
        table.get<User>(key('user', { realm, userId: bot.userId })),
        loadCurrent(table, realm, bot.userId),
      ]);
      return { user, subscriptions };
    }),
  );
  return {
    target,
    owners,
    bots: bots.flatMap(({ user }) => user ?? []),
    subscriptions: [...own, ...bots.flatMap(({ subscriptions }) => subscriptions)],
  };
}

/**
 * Decides whether the caller may deactivate the account: administrators may, but an owner only if they are one;
 * owners of bots may for theirs. The last owner stays.
 */
export function checkDeactivate(caller: Caller, { target, owners }: Departure): User {
  if (target === undefined || isSystemBot(target)) throw noSuchUser();
  if (!administersUser(caller, target)) throw refusal('notAdministrator');
  if (isHumanOwner(target)) {
    if (!isOwner(caller.standing)) throw refusal('notOwner');
    if (target.isActive && (owners?.count ?? 0) <= 1) {
      throw badRequest('The only owner of an organization cannot be deactivated.');
    }
  }
  return target;
}

/**
 * Deactivates the account and its bots, whose keys are out with it, and puts their subscriptions to sleep. There
 * are no steps for what is done already.
 */
export function doDeactivate(realm: string, target: User, { bots, subscriptions }: Departure): Step[] {
  return [
    ...(target.isActive ? [doInactivate(realm, target, bots.length)] : []),
    ...bots.filter(({ isActive }) => isActive).map((bot) => doInactivate(realm, bot, 0)),
    ...doSleep(realm, subscriptions),
  ];
}
