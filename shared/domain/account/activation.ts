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
  doAddOwnedBot,
  doInactivate,
  doRemoveOwnedBot,
  isHumanOwner,
  type OwnerCount,
  personEvent,
} from '../../model/user/activation.ts';
import { type Caller, directGroups } from '../../model/user/caller.ts';
import { checkManages, loadBotOwner } from '../../model/user/management.ts';
import {
  checkBotName,
  doRequireNamesakes,
  loadOtherNamesakes,
  type Namesakes,
} from '../../model/user/name.ts';
import { noSuchAccount } from '../../model/user/principals.ts';
import { isSystemBot, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { resumeSubscriptions, suspendSubscriptions } from '../subscribe/leave.ts';
import { checkMayCreateBots, type OwnedBot, ownBot } from './bot.ts';

/** The snapshot for deactivating an account. */
export interface DeactivationSnapshot {
  readonly target: User | undefined;
  /** The owner, if it is a bot. */
  readonly owner: User | undefined;
  readonly owners: OwnerCount | undefined;
  /** Its bots. */
  readonly bots: readonly User[];
  /** Its subscriptions and those of its bots. */
  readonly subscriptions: readonly Subscription[];
  /** The named groups that contain it and its bots directly, by user id. */
  readonly groups: ReadonlyMap<number, readonly number[]>;
}

/**
 * Loads the snapshot. Read the account first: it lists its bots, and the deactivation fails if a bot or subscription
 * was added since. One round trip.
 */
export async function loadDeactivation(
  outside: Outside,
  realm: string,
  target: User | undefined,
): Promise<DeactivationSnapshot> {
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
 * Checks that the caller manages the account and the bots that are deactivated with it, and that it is not the last
 * owner.
 */
export function checkDeactivate(caller: Caller, { target, owner, owners, bots }: DeactivationSnapshot): User {
  if (target === undefined || isSystemBot(target)) throw noSuchAccount(caller);
  checkManages(caller, target, owner);
  for (const bot of bots) if (bot.isActive) checkManages(caller, bot, target);
  if (isHumanOwner(target) && target.isActive && (owners?.count ?? 0) <= 1) {
    throw badRequest('The only owner of an organization cannot be deactivated.');
  }
  return target;
}

/**
 * Deactivates the account and its bots, whose keys stop working, and suspends their subscriptions. Skips what is done
 * already. `now` is in milliseconds.
 */
export function doDeactivate(
  { realmId, realm }: Pick<Caller, 'realmId' | 'realm'>,
  target: User,
  { bots, subscriptions, groups }: DeactivationSnapshot,
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

/** The snapshot for reactivating an account. */
export interface ReactivationSnapshot {
  readonly target: User | undefined;
  readonly subscriptions: readonly Subscription[];
  /** The named groups that contain it directly. */
  readonly groups: readonly number[];
  readonly bot?: BotReactivationSnapshot;
}

/** The additional snapshot for a bot. */
interface BotReactivationSnapshot {
  readonly owner: User | undefined;
  readonly owned: OwnedBot | undefined;
  readonly namesakes: Namesakes;
}

/** Loads the snapshot, after the account itself. One round trip, and another for a bot that shares its name. */
export async function loadReactivation(
  outside: Outside,
  realm: string,
  target: User | undefined,
): Promise<ReactivationSnapshot> {
  if (target === undefined) return { target, subscriptions: [], groups: [] };
  const { table } = outside;
  const { userId, ownerId, fullName } = target;
  const [subscriptions, groups, bot] = await Promise.all([
    loadCurrent(table, realm, userId),
    directGroups(outside, realm, userId),
    ownerId === undefined ? undefined : loadBotReactivation(table, realm, { userId, ownerId, fullName }),
  ]);
  return { target, subscriptions, groups, ...(bot && { bot }) };
}

async function loadBotReactivation(
  table: Table,
  realm: string,
  { userId, ownerId, fullName }: Pick<User, 'userId' | 'fullName'> & { readonly ownerId: number },
): Promise<BotReactivationSnapshot> {
  const [owner, owned, namesakes] = await Promise.all([
    loadBotOwner(table, realm, { ownerId }),
    table.get('bot', { realm, ownerId, userId }),
    loadOtherNamesakes(table, realm, { userId, fullName }),
  ]);
  return { owner, owned, namesakes };
}

/** Checks that the caller manages the account, and for a bot that they may create bots and its name is free. */
export function checkReactivate(caller: Caller, { target, bot }: ReactivationSnapshot): User {
  if (target === undefined || isSystemBot(target)) throw noSuchAccount(caller);
  checkManages(caller, target, bot?.owner);
  if (bot && !target.isActive) {
    checkMayCreateBots(caller);
    checkBotName(target.fullName, bot.namesakes);
  }
  return target;
}

/**
 * Reactivates the account: first its subscriptions, then its key. A bot with an inactive owner becomes the caller's.
 * No steps if it is active. `now` is in milliseconds.
 */
export function doReactivate(
  { realmId: realm, realm: { settings }, user }: Pick<Caller, 'realmId' | 'realm' | 'user'>,
  target: User,
  { subscriptions, groups, bot }: ReactivationSnapshot,
  now: number,
): Step[] {
  if (target.isActive) return [];
  const ownerId = bot && (bot.owner?.isActive ? bot.owner.userId : user.userId);
  const resumed = resumeSubscriptions(realm, subscriptions);
  const isFull = isFullMember(target, settings.waiting_period_threshold, now);
  const inGroups = activeGroupEvents('add_members', target, isFull, groups);
  if (ownerId === undefined) return [...resumed, doActivate(realm, target, inGroups)];
  const isNewOwner = ownerId !== target.ownerId;
  const { writes, entries } = doActivate(realm, target, inGroups, isNewOwner ? { ownerId } : {});
  return [
    ...resumed,
    {
      writes: [
        ...writes,
        doAddOwnedBot(realm, ownerId, target.userId),
        ...(isNewOwner ? doChangeOwner(realm, target, ownerId, bot?.owned) : []),
        ...(bot ? doRequireNamesakes(realm, target.fullName, bot.namesakes) : []),
      ],
      entries: [...entries, ...(isNewOwner ? [personEvent(target.userId, { bot_owner_id: ownerId })] : [])],
    },
  ];
}

/** Moves a bot, with its settings, to another owner. The bot itself is another write. */
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
      : [{ delete: key('bot', { realm, ownerId, userId }) }, doRemoveOwnedBot(realm, ownerId, userId)]),
    ownBot(realm, to, { ...settingsIn(owned), userId }),
  ];
}

/** The settings of a bot without the key of their item. */
const settingsIn = (owned: OwnedBot | undefined): Omit<OwnedBot, 'userId'> => ({
  ...(owned?.sendingChannelId !== undefined && { sendingChannelId: owned.sendingChannelId }),
  ...(owned?.eventsChannelId !== undefined && { eventsChannelId: owned.eventsChannelId }),
  ...(owned?.allPublicChannels && { allPublicChannels: true as const }),
});
