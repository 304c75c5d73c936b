import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Step } from '../../log/bulk.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { activeGroupEvents } from '../../model/group/role-groups.ts';
import { isFullMember } from '../../model/permission/permission.ts';
import { loadCurrent } from '../../model/subscription/object.ts';
import {
  doActivate,
  doHaveBot,
  doInactivate,
  doLoseBot,
  isHumanOwner,
  type OwnerCount,
  personEvent,
} from '../../model/user/activation.ts';
import { type Caller, directGroups } from '../../model/user/caller.ts';
import { checkManages, loadBotOwner } from '../../model/user/management.ts';
import { checkBotName, holdNamesakes, lookUpNamesakes, type Namesakes } from '../../model/user/name.ts';
import { noSuchAccount } from '../../model/user/principals.ts';
import { isSystemBot, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { resumeSubscriptions, suspendSubscriptions } from '../subscribe/leave.ts';
import { checkMayCreateBots, type OwnedBot, ownBot } from './bot.ts';

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

/** What the return of an account is decided on. */
export interface Return {
  readonly target: User | undefined;
  readonly subscriptions: readonly Subscription[];
  /** The named groups that it is directly in. */
  readonly groups: readonly number[];
  readonly bot?: BotReturn;
}

/** What the return of a bot is decided on besides. */
interface BotReturn {
  readonly owner: User | undefined;
  readonly owned: OwnedBot | undefined;
  readonly namesakes: Namesakes;
}

/**
 * Reads the snapshot of a return, after the account itself: its state tells what fell asleep since. One round trip, and
 * another one for a bot whose name others bear.
 */
export async function loadReturn(outside: Outside, realm: string, target: User | undefined): Promise<Return> {
  if (target === undefined) return { target, subscriptions: [], groups: [] };
  const { table } = outside;
  const { userId, ownerId, fullName } = target;
  const [subscriptions, groups, bot] = await Promise.all([
    loadCurrent(table, realm, userId),
    directGroups(outside, realm, userId),
    ownerId === undefined ? undefined : loadBotReturn(table, realm, { userId, ownerId, fullName }),
  ]);
  return { target, subscriptions, groups, ...(bot && { bot }) };
}

async function loadBotReturn(
  table: Table,
  realm: string,
  { userId, ownerId, fullName }: Pick<User, 'userId' | 'fullName'> & { readonly ownerId: number },
): Promise<BotReturn> {
  const [owner, owned, namesakes] = await Promise.all([
    loadBotOwner(table, realm, { ownerId }),
    table.get('bot', { realm, ownerId, userId }),
    lookUpNamesakes(table, realm, { userId, fullName }),
  ]);
  return { owner, owned, namesakes };
}

/**
 * Decides whether the caller may bring the account back: they manage it, and for a bot as for creating one, whose name
 * must be free. A bot whose owner is deactivated becomes the caller's, who needs the role that its owner had.
 */
export function checkReactivate(caller: Caller, { target, bot }: Return): User {
  if (target === undefined || isSystemBot(target)) throw noSuchAccount(caller);
  checkManages(caller, target, bot?.owner);
  if (bot && !target.isActive) {
    checkMayCreateBots(caller);
    checkBotName(target.fullName, bot.namesakes);
  }
  return target;
}

/**
 * Brings the account back: what it was subscribed to wakes, then its key is good again. A bot whose owner is not
 * active becomes the caller's. There are no steps for an account that is active. `now` is in milliseconds.
 */
export function doReactivate(
  { realmId: realm, realm: { settings }, user }: Pick<Caller, 'realmId' | 'realm' | 'user'>,
  target: User,
  { subscriptions, groups, bot }: Return,
  now: number,
): Step[] {
  if (target.isActive) return [];
  const ownerId = bot && (bot.owner?.isActive ? bot.owner.userId : user.userId);
  const wakes = resumeSubscriptions(realm, subscriptions);
  const isFull = isFullMember(target, settings.waiting_period_threshold, now);
  const inGroups = activeGroupEvents('add_members', target, isFull, groups);
  if (ownerId === undefined) return [...wakes, doActivate(realm, target, inGroups)];
  const isHeir = ownerId !== target.ownerId;
  const { writes, entries } = doActivate(realm, target, inGroups, isHeir ? { ownerId } : {});
  return [
    ...wakes,
    {
      writes: [
        ...writes,
        doHaveBot(realm, ownerId, target.userId),
        ...(isHeir ? doChangeOwner(realm, target, ownerId, bot?.owned) : []),
        ...(bot ? holdNamesakes(realm, target.fullName, bot.namesakes) : []),
      ],
      entries: [...entries, ...(isHeir ? [personEvent(target.userId, { bot_owner_id: ownerId })] : [])],
    },
  ];
}

/** Moves a bot from its owner to another one, with what was set for it; the bot itself is another write. */
function doChangeOwner(
  realm: string,
  { userId, email, ownerId }: User,
  to: number,
  owned?: OwnedBot,
): Write[] {
  return [
    { update: key('account', { realm, email: folded(email) }), change: { set: { ownerId: to } } },
    ...(ownerId === undefined
      ? []
      : [{ delete: key('bot', { realm, ownerId, userId }) }, doLoseBot(realm, ownerId, userId)]),
    ownBot(realm, to, { ...settingsIn(owned), userId }),
  ];
}

/** What is set for a bot, without the key of the item that says so. */
const settingsIn = (owned: OwnedBot | undefined): Omit<OwnedBot, 'userId'> => ({
  ...(owned?.sendingChannelId !== undefined && { sendingChannelId: owned.sendingChannelId }),
  ...(owned?.eventsChannelId !== undefined && { eventsChannelId: owned.eventsChannelId }),
  ...(owned?.allPublicChannels && { allPublicChannels: true as const }),
});
