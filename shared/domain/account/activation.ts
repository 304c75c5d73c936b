import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import type { Step } from '../../log/bulk.ts';
import type { EventEntry } from '../../log/slot.ts';
import { activeGroupEvents } from '../../model/group/role-groups.ts';
import { isFullMember } from '../../model/permission/permission.ts';
import { loadCurrent } from '../../model/subscription/object.ts';
import {
  doActivate,
  doAddOwnedBot,
  doInactivate,
  doRemoveOwnedBot,
  isHumanOwner,
  personEvent,
} from '../../model/user/activation.ts';
import { type Caller, directGroups } from '../../model/user/caller.ts';
import { checkManages, loadBotOwner } from '../../model/user/management.ts';
import { checkBotName, doRequireNamesakes, loadOtherNamesakes } from '../../model/user/name.ts';
import { noSuchAccount } from '../../model/user/principals.ts';
import { isSystemBot, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doEndInvitations, loadInvitationsOf } from '../invite/end.ts';
import { dormancySteps } from '../subscribe/leave.ts';
import { checkMayCreateBots, type OwnedBot, ownBot } from './bot.ts';

/**
 * Loads the snapshot for deactivating an account: its bots, the subscriptions and groups of them all, its invitations, and
 * for a bot its owner. Read the account first: it lists its bots, and the deactivation fails if a bot, subscription or
 * invitation was added since. One round trip.
 */
export async function loadDeactivation(outside: Outside, realm: string, target: User | undefined) {
  const { table } = outside;
  const botIds = [...(target?.bots ?? [])];
  const ids = target ? [target.userId, ...botIds] : [];
  const [owner, owners, bots, subscriptions, groups, invitations] = await Promise.all([
    loadBotOwner(table, realm, target),
    table.get('owners', { realm }),
    table.getMany(botIds.map((userId) => key('user', { realm, userId }))),
    Promise.all(ids.map((userId) => loadCurrent(table, realm, userId))),
    Promise.all(ids.map(async (userId) => [userId, await directGroups(outside, realm, userId)] as const)),
    target && !target.isBot ? loadInvitationsOf(outside, realm, target.userId) : [],
  ]);
  return {
    target,
    owner,
    owners,
    bots,
    invitations,
    subscriptions: subscriptions.flat(),
    groups: new Map(groups),
  };
}

type DeactivationSnapshot = Awaited<ReturnType<typeof loadDeactivation>>;

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

/** Checks that users who deactivate themselves leave an owner behind. Throws `CANNOT_DEACTIVATE_LAST_USER`. */
export function checkLeaves(user: User, { owners }: Pick<DeactivationSnapshot, 'owners'>): void {
  if (isHumanOwner(user) && (owners?.count ?? 0) <= 1) throw refusal('lastOwnerStays');
}

/**
 * Deactivates the account and its bots, whose keys stop working, ends its invitations, and suspends the subscriptions.
 * Skips what is done already. `now` is in milliseconds.
 */
export function doDeactivate(
  { realmId, realm }: Pick<Caller, 'realmId' | 'realm'>,
  target: User,
  { bots, subscriptions, groups, invitations }: DeactivationSnapshot,
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
    // Deactivated users get no events.
    ...doEndInvitations(realmId, target.userId, true, invitations),
    ...dormancySteps(realmId, subscriptions, true),
  ];
}

/**
 * Loads the snapshot for reactivating an account: its subscriptions and groups, and for a bot its owner, its settings and
 * the users with its name. Read the account first. One round trip, and another for a bot that shares its name.
 */
export async function loadReactivation(outside: Outside, realm: string, target: User | undefined) {
  const { table } = outside;
  const { userId = 0, ownerId, fullName = '' } = target ?? {};
  const isBot = ownerId !== undefined;
  const [subscriptions, groups, owner, settings, namesakes] = await Promise.all([
    target ? loadCurrent(table, realm, userId) : [],
    target ? directGroups(outside, realm, userId) : [],
    loadBotOwner(table, realm, target),
    isBot ? table.get('bot', { realm, ownerId, userId }) : undefined,
    isBot ? loadOtherNamesakes(table, realm, { userId, fullName }) : undefined,
  ]);
  return { target, subscriptions, groups, owner, settings, namesakes };
}

type ReactivationSnapshot = Awaited<ReturnType<typeof loadReactivation>>;

/** Checks that the caller manages the account, and for a bot that they may create bots and its name is free. */
export function checkReactivate(caller: Caller, { target, owner, namesakes }: ReactivationSnapshot): User {
  if (target === undefined || isSystemBot(target)) throw noSuchAccount(caller);
  checkManages(caller, target, owner);
  if (namesakes && !target.isActive) {
    checkMayCreateBots(caller);
    checkBotName(target.fullName, namesakes);
  }
  return target;
}

/**
 * Reactivates the account: first its subscriptions, then its key. A bot with an inactive owner becomes the caller's.
 * No steps if it is active. `now` is in milliseconds.
 */
export function doReactivate(
  caller: Pick<Caller, 'realmId' | 'realm' | 'user'>,
  target: User,
  { subscriptions, groups, owner, settings, namesakes }: ReactivationSnapshot,
  now: number,
): Step[] {
  if (target.isActive) return [];
  const { realmId: realm, user } = caller;
  const { userId, fullName } = target;
  const isFull = isFullMember(target, caller.realm.settings.waiting_period_threshold, now);
  const inGroups = activeGroupEvents('add_members', target, isFull, groups);
  const resumed = dormancySteps(realm, subscriptions, false);
  if (namesakes === undefined) return [...resumed, doActivate(realm, target, inGroups)];
  const ownerId = owner?.isActive ? owner.userId : user.userId;
  const isNewOwner = ownerId !== target.ownerId;
  const { writes, entries } = doActivate(realm, target, inGroups, isNewOwner ? { ownerId } : {});
  return [
    ...resumed,
    {
      writes: [
        ...writes,
        doAddOwnedBot(realm, ownerId, userId),
        ...(isNewOwner ? doChangeOwner(realm, target, ownerId, settings) : []),
        ...doRequireNamesakes(realm, fullName, namesakes),
      ],
      entries: [...entries, ...(isNewOwner ? [personEvent(userId, { bot_owner_id: ownerId })] : [])],
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
