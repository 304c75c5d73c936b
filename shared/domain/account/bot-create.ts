import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Change } from '../../log/commit.ts';
import { type ChannelWithSubscription, hasContentAccess, loadChannel } from '../../model/channel/access.ts';
import { checkChannelName } from '../../model/channel/channel.ts';
import { roleGroupEvents } from '../../model/group/role-groups.ts';
import { isFullMember, roles, type Standing } from '../../model/permission/permission.ts';
import { ownHost } from '../../model/realm/hosts.ts';
import { doHaveNewBot } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { checkBotName, checkFullName, loadNamesakes, type Namesakes } from '../../model/user/name.ts';
import type { User } from '../../model/user/user.ts';
import type { Table } from '../../table/table.ts';
import {
  type BotSettings,
  botAddedEvents,
  botDefaults,
  botEmail,
  checkBotType,
  checkMayCreateBots,
  checkRoomForBot,
  checkShortName,
} from './bot.ts';
import { doCreateUser, type NewBot, type NewUser } from './create.ts';

/** A bot that somebody asks for. */
export interface AskedBot {
  readonly shortName: string;
  readonly fullName: string;
  readonly botType: number;
  /** The channels that it sends to and listens to unless it says otherwise. */
  readonly sending: string | undefined;
  readonly events: string | undefined;
  readonly allPublicChannels: boolean;
}

/** Interprets the parameters. Throws `BAD_REQUEST` for what cannot be a name. */
export const parseBot = (given: {
  readonly short_name: string;
  readonly full_name: string;
  readonly bot_type?: number | undefined;
  readonly default_sending_stream?: string | undefined;
  readonly default_events_register_stream?: string | undefined;
  readonly default_all_public_streams?: boolean | undefined;
}): AskedBot => {
  const { default_sending_stream: sending, default_events_register_stream: events } = given;
  return {
    shortName: checkShortName(given.short_name),
    fullName: checkFullName(given.full_name),
    botType: given.bot_type ?? 1,
    sending: sending === undefined ? undefined : checkChannelName(sending),
    events: events === undefined ? undefined : checkChannelName(events),
    allPublicChannels: given.default_all_public_streams ?? false,
  };
};

const organization: LookupKey<'organization'> = { kind: 'organization' };
const bearers = (name: string): LookupKey<'fullName'> => ({ kind: 'fullName', name });
const channelNamed = (name: string): LookupKey<'channelName'> => ({ kind: 'channelName', name });

/** The organization, which leads to its hosts, the name, and the channels. */
export const botLookupKeys = ({ fullName, sending, events }: AskedBot): LookupKey[] => [
  organization,
  bearers(fullName),
  ...[sending, events].flatMap((name) => (name === undefined ? [] : [channelNamed(name)])),
];

/** What a new bot is decided on. */
export interface BotSnapshot {
  readonly email: string;
  /** There is an account with the address already. */
  readonly isTaken: boolean;
  readonly namesakes: Namesakes;
  readonly sending: ChannelWithSubscription | undefined;
  readonly events: ChannelWithSubscription | undefined;
}

/** Reads the snapshot. One round trip. */
export async function accessBotSnapshot(
  table: Table,
  resolved: Resolved,
  userId: number,
  asked: AskedBot,
): Promise<BotSnapshot> {
  const { realm } = resolved;
  const email = botEmail(asked.shortName, ownHost(realm, resolved.follow(organization)));
  const channel = async (name: string | undefined): Promise<ChannelWithSubscription | undefined> => {
    const found = name === undefined ? undefined : resolved.follow(channelNamed(name));
    return found && loadChannel(table, realm, found.channelId, userId);
  };
  const [account, namesakes, sending, events] = await Promise.all([
    table.get('account', { realm, email: folded(email) }),
    loadNamesakes(table, realm, resolved.follow(bearers(asked.fullName))?.users),
    channel(asked.sending),
    channel(asked.events),
  ]);
  return { email, isTaken: account !== undefined, namesakes, sending, events };
}

/** The channel of this name, or the same refusal for those that do not exist and those that are hidden. */
function accessNamed(
  who: Standing,
  name: string | undefined,
  seen: ChannelWithSubscription | undefined,
): ChannelWithSubscription | undefined {
  if (name === undefined) return undefined;
  if (seen === undefined || !hasContentAccess(who, seen)) {
    throw badRequest(`There is no channel named '${name}' for you.`);
  }
  return seen;
}

/**
 * Decides on a new bot of the caller's.
 *
 * @param now milliseconds
 */
export function checkNewBot(
  caller: Caller,
  asked: AskedBot,
  { email, isTaken, namesakes, ...seen }: BotSnapshot,
  now: number,
): Omit<DecidedBot, 'keyDigest'> {
  const { standing, user } = caller;
  checkMayCreateBots(caller);
  checkRoomForBot(user);
  const botType = checkBotType(asked.botType);
  if (isTaken) throw badRequest(`There is already an account with the address '${email}'.`);
  const { fullName } = asked;
  checkBotName(fullName, namesakes);
  const sending = accessNamed(standing, asked.sending, seen.sending);
  const events = accessNamed(standing, asked.events, seen.events);
  const set: BotSettings = {
    ...(sending && { sendingChannelId: sending.channel.channelId }),
    ...(events && { eventsChannelId: events.channel.channelId }),
    ...(asked.allPublicChannels && { allPublicChannels: true as const }),
  };
  const channels = [sending, events].flatMap((each) =>
    each ? [[each.channel.channelId, each] as const] : [],
  );
  return {
    user: {
      email,
      fullName,
      role: roles.member,
      isBot: true,
      botType,
      ownerId: user.userId,
      dateJoined: new Date(now).toISOString(),
      timezone: '',
    },
    set,
    namesakes,
    defaults: botDefaults(standing, set, new Map(channels)),
  };
}

/** A bot that was decided on. */
export interface DecidedBot extends NewBot {
  readonly user: NewUser;
  readonly keyDigest: string;
  /** What is set for it, as clients are told. */
  readonly defaults: ReturnType<typeof botDefaults>;
}

/**
 * Creates a bot of the caller's: the account, what is set for it, and what clients are told. `numbers` are one for
 * each event; the first one is the bot's id.
 */
export function doCreateBot(
  { realmId, realm, standing }: Pick<Caller, 'realmId' | 'realm' | 'standing'>,
  { user, keyDigest, defaults, ...bot }: DecidedBot,
  numbers: readonly number[],
): Change<User> {
  const userId = numbers[0] ?? 0;
  const created = doCreateUser(realmId, userId, user, keyDigest, bot);
  const joined = Date.parse(user.dateJoined);
  const isFull = isFullMember(user, realm.settings.waiting_period_threshold, joined);
  return {
    writes: [...created.writes, doHaveNewBot(realmId, standing.userId, userId)],
    entries: [
      ...created.entries,
      ...roleGroupEvents(userId, user.role, isFull),
      ...botAddedEvents(standing, userId, defaults),
    ],
    result: created.result,
  };
}
