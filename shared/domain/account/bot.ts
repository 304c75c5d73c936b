import { badRequest, refusal } from '../../kernel/errors.ts';
import { type EventEntry, eventFor } from '../../log/slot.ts';
import { type ChannelWithSubscription, hasMetadataAccess, loadChannel } from '../../model/channel/access.ts';
import { holdsUnlessGuest, isAdministrator, type Standing } from '../../model/permission/permission.ts';
import { MAX_BOTS } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { checkManages } from '../../model/user/management.ts';
import { isLocalPart } from '../../model/user/name.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** What the owner has configured for a bot. */
export interface BotSettings {
  readonly sendingChannelId?: number;
  readonly eventsChannelId?: number;
  readonly allPublicChannels?: true;
}

/** The item of an owner that lists a bot, with its settings. */
export interface OwnedBot extends BotSettings {
  readonly userId: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    bot: OwnedBot;
  }
}

/** Makes a user the owner of a bot. */
export const ownBot = (realm: string, ownerId: number, bot: OwnedBot): Write => ({
  put: key('bot', { realm, ownerId, userId: bot.userId }),
  item: { ...bot },
});

/** The bots of a user with their settings, including deactivated ones. One round trip. */
export const loadOwnedBots = (table: Table, realm: string, ownerId: number): Promise<OwnedBot[]> =>
  table.all('bot', { realm, ownerId });

/** The same for all users. One round trip. */
export const loadAllBots = (table: Table, realm: string): Promise<OwnedBot[]> => table.all('bot', { realm });

/** The channels in the settings of bots, as their owner sees them. One round trip. */
export async function loadBotChannels(
  table: Table,
  realm: string,
  ownerId: number,
  bots: readonly OwnedBot[],
): Promise<ReadonlyMap<number, ChannelWithSubscription>> {
  const ids = bots
    .flatMap(({ sendingChannelId, eventsChannelId }) => [sendingChannelId, eventsChannelId])
    .filter((id) => id !== undefined);
  const channels = await Promise.all(
    [...new Set(ids)].map((channelId) => loadChannel(table, realm, channelId, ownerId)),
  );
  return new Map(channels.flatMap((seen) => (seen ? [[seen.channel.channelId, seen] as const] : [])));
}

/** The settings of a bot as its owner sees them. Channels that are hidden from the owner are left out. */
export function botDefaults(
  owner: Standing,
  bot: BotSettings,
  channels: ReadonlyMap<number, ChannelWithSubscription>,
) {
  const nameOf = (channelId: number | undefined): string | null => {
    const seen = channelId === undefined ? undefined : channels.get(channelId);
    return seen && hasMetadataAccess(owner, seen) ? seen.channel.name : null;
  };
  return {
    default_sending_stream: nameOf(bot.sendingChannelId),
    default_events_register_stream: nameOf(bot.eventsChannelId),
    default_all_public_streams: bot.allPublicChannels ?? false,
  };
}

/** Domain of bot addresses if the organization has no host that can be one. No mail can be delivered there. */
const NO_DOMAIN = 'parlance.invalid';

/** Checks that a short name makes the local part of an email address. */
export function checkShortName(input: string): string {
  const name = input.trim();
  if (name === '' || !isLocalPart(`${name}-bot`)) {
    throw badRequest('The short name must be the beginning of an email address.');
  }
  return name;
}

/**
 * The address of a new bot. `host` is the organization's own (`ownHost`), never that of the request: otherwise a bot
 * could take another account's address.
 */
export function botEmail(shortName: string, host: string | undefined): string {
  const isDomain = host !== undefined && host.length <= 180 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host);
  return `${shortName}-bot@${isDomain ? host : NO_DOMAIN}`;
}

/** Accepts the two types of bots that need only a key. */
export function checkBotType(type: number): 1 | 2 {
  if (type === 1 || type === 2) return type;
  throw badRequest("'bot_type' must be 1 (a general bot) or 2 (an incoming webhook).");
}

/** Checks that a user may own another bot. */
export function checkRoomForBot({ bots }: Pick<User, 'bots'>): void {
  if (bots !== undefined && bots.size >= MAX_BOTS) {
    throw badRequest(`One person can have at most ${MAX_BOTS} bots, including deactivated ones.`);
  }
}

/** Checks that the caller may create or reactivate bots. Guests never may. */
export function checkMayCreateBots({ standing, realm }: Pick<Caller, 'standing' | 'realm'>): void {
  if (!holdsUnlessGuest(standing, realm.settings.can_create_bots_group)) {
    throw refusal('insufficientPermission');
  }
}

/** Returns the bot if the caller may manage it (`checkManages`). */
export function accessBot(
  caller: Pick<Caller, 'user' | 'standing'>,
  target: User | undefined,
  owner: User | undefined,
): User {
  // The system bot has no owner, and nobody may manage it.
  if (target?.ownerId === undefined) throw badRequest('There is no such bot.');
  checkManages(caller, target, owner);
  return target;
}

/** The events about a new bot for administrators and the owner. An owner who is an administrator gets it once. */
export function botEvents(
  owner: Pick<Standing, 'userId' | 'role'>,
  userId: number,
  defaults: ReturnType<typeof botDefaults>,
): EventEntry[] {
  const payload = { type: 'realm_bot', op: 'add', bot: { user_id: userId, ...defaults, services: [] } };
  const event = eventFor({ everyone: 'administrators' }, payload);
  return isAdministrator(owner) ? [event] : [event, eventFor({ users: [owner.userId] }, payload)];
}
