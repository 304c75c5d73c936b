import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { Caller } from '../caller.ts';
import type { Subscription } from '../channel/channel.ts';
import { folded } from '../folding.ts';
import type { Step } from '../in-order.ts';
import { isOwner } from '../permission.ts';
import { refusal } from '../problems.ts';
import { loadCurrent } from '../subscription/subscription-object.ts';
import { administersUser, checkMayCreateBots, type OwnedBot, ownBot } from './bot.ts';
import { doWake } from './dormancy.ts';
import { checkBotName, lookUpNamesakes, type Namesakes } from './namesakes.ts';
import { isHumanOwner } from './owner-count.ts';
import { isSystemBot, type User } from './user.ts';
import { doActivate, doHaveBot, doLoseBot, personEvent } from './user-active.ts';
import { noSuchUser } from './user-list.ts';

/** What the return of an account is decided on. */
export interface Return {
  readonly target: User | undefined;
  readonly subscriptions: readonly Subscription[];
  readonly bot?: BotReturn;
}

/** What the return of a bot is decided on besides. */
interface BotReturn {
  readonly owner: User | undefined;
  readonly owned: OwnedBot | undefined;
  readonly namesakes: Namesakes;
}

/** Reads the ground of a return: one round trip, and two more for a bot. */
export async function loadReturn(table: Table, realm: string, userId: number | undefined): Promise<Return> {
  if (userId === undefined) return { target: undefined, subscriptions: [] };
  const [target, subscriptions] = await Promise.all([
    table.get<User>(key('user', { realm, userId })),
    loadCurrent(table, realm, userId),
  ]);
  if (target?.ownerId === undefined) return { target, subscriptions };
  const { ownerId } = target;
  const [owner, owned, namesakes] = await Promise.all([
    table.get<User>(key('user', { realm, userId: ownerId })),
    table.get<OwnedBot>(key('bot', { realm, ownerId, userId })),
    lookUpNamesakes(table, realm, target.fullName),
  ]);
  return { target, subscriptions, bot: { owner, owned, namesakes } };
}

/**
 * Decides whether the caller may bring the account back: as for deactivating it, and for a bot as for creating
 * one, whose name must be free.
 */
export function checkReactivate(caller: Caller, { target, bot }: Return): User {
  if (target === undefined || isSystemBot(target)) throw noSuchUser();
  if (!administersUser(caller, target)) throw refusal('notAdministrator');
  if (isHumanOwner(target) && !isOwner(caller.standing)) throw refusal('notOwner');
  if (bot && !target.isActive) {
    checkMayCreateBots(caller);
    checkBotName(target.fullName, bot.namesakes);
  }
  return target;
}

/**
 * Brings the account back: what it was subscribed to wakes, then its key is good again. A bot whose owner is not
 * active becomes the caller's. There are no steps for an account that is active.
 */
export function doReactivate(
  realm: string,
  callerId: number,
  target: User,
  { subscriptions, bot }: Return,
): Step[] {
  if (target.isActive) return [];
  const ownerId = bot && (bot.owner?.isActive ? bot.owner.userId : callerId);
  const wakes = doWake(realm, subscriptions);
  if (ownerId === undefined) return [...wakes, doActivate(realm, target)];
  const isHeir = ownerId !== target.ownerId;
  const { writes, entries } = doActivate(realm, target, isHeir ? { ownerId } : {});
  return [
    ...wakes,
    {
      writes: [
        ...writes,
        doHaveBot(realm, ownerId, isHeir ? 1 : 0),
        ...(isHeir ? doChangeOwner(realm, target, ownerId, bot?.owned) : []),
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
      : [{ delete: key('bot', { realm, ownerId, userId }) }, doLoseBot(realm, ownerId)]),
    ownBot(realm, to, { ...settingsIn(owned), userId }),
  ];
}

/** What is set for a bot, without the key of the item that says so. */
const settingsIn = (owned: OwnedBot | undefined): Omit<OwnedBot, 'userId'> => ({
  ...(owned?.sendingChannelId !== undefined && { sendingChannelId: owned.sendingChannelId }),
  ...(owned?.eventsChannelId !== undefined && { eventsChannelId: owned.eventsChannelId }),
  ...(owned?.allPublicChannels && { allPublicChannels: true as const }),
});
