import { badRequest } from '../../kernel/errors.ts';
import { fullNameKey, type LookupKey, type Resolved } from '../../kernel/lookup.ts';
import { folded } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { type ChannelWithSubscription, hasContentAccess, loadChannel } from '../../model/channel/access.ts';
import { checkChannelName } from '../../model/channel/channel.ts';
import { roleGroupEvents } from '../../model/group/role-groups.ts';
import { isFullMember, roles, type Standing } from '../../model/permission/permission.ts';
import { ownHost } from '../../model/realm/hosts.ts';
import { doAddNewBot } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { checkBotName, checkFullName, loadNamesakes } from '../../model/user/name.ts';
import type { User } from '../../model/user/user.ts';
import type { Table } from '../../table/table.ts';
import {
  type BotSettings,
  botDefaults,
  botEmail,
  botEvents,
  checkBotType,
  checkMayCreateBots,
  checkRoomForBot,
  checkShortName,
} from './bot.ts';
import { doCreateUser, newUser } from './create.ts';

/**
 * Interprets the parameters of a new bot. `sending` and `events` are the names of the channels that it sends to and gets
 * events from by default.
 *
 * @throws Refusal `BAD_REQUEST` for invalid names
 */
export const parseBot = (given: {
  readonly short_name: string;
  readonly full_name: string;
  readonly bot_type?: number | undefined;
  readonly default_sending_stream?: string | undefined;
  readonly default_events_register_stream?: string | undefined;
  readonly default_all_public_streams?: boolean | undefined;
}) => {
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

type BotInput = ReturnType<typeof parseBot>;

const organization: LookupKey<'organization'> = { kind: 'organization' };
const channelNameKey = (name: string): LookupKey<'channelName'> => ({ kind: 'channelName', name });

/** The organization (for its hosts), the full name, and the channels. */
export const botLookupKeys = ({ fullName, sending, events }: BotInput): LookupKey[] => [
  organization,
  fullNameKey(fullName),
  ...[sending, events].flatMap((name) => (name === undefined ? [] : [channelNameKey(name)])),
];

/** Loads the snapshot for creating a bot. One round trip. */
export async function accessBotSnapshot(table: Table, resolved: Resolved, userId: number, input: BotInput) {
  const { realm } = resolved;
  const email = botEmail(input.shortName, ownHost(realm, resolved.follow(organization)));
  const channel = async (name: string | undefined): Promise<ChannelWithSubscription | undefined> => {
    const found = name === undefined ? undefined : resolved.follow(channelNameKey(name));
    return found && loadChannel(table, realm, found.channelId, userId);
  };
  const [account, namesakes, sending, events] = await Promise.all([
    table.get('account', { realm, email: folded(email) }),
    loadNamesakes(table, realm, resolved.follow(fullNameKey(input.fullName))?.users),
    channel(input.sending),
    channel(input.events),
  ]);
  return { email, isTaken: account !== undefined, namesakes, sending, events };
}

/** The channel with this name. The error is the same for missing and hidden channels. */
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
 * Checks a new bot of the caller.
 *
 * @param now milliseconds
 */
export function checkNewBot(
  caller: Caller,
  input: BotInput,
  { email, isTaken, namesakes, ...seen }: Awaited<ReturnType<typeof accessBotSnapshot>>,
  now: number,
) {
  const { standing, user } = caller;
  checkMayCreateBots(caller);
  checkRoomForBot(user);
  const botType = checkBotType(input.botType);
  if (isTaken) throw badRequest(`There is already an account with the address '${email}'.`);
  const { fullName } = input;
  checkBotName(fullName, namesakes);
  const sending = accessNamed(standing, input.sending, seen.sending);
  const events = accessNamed(standing, input.events, seen.events);
  const set: BotSettings = {
    ...(sending && { sendingChannelId: sending.channel.channelId }),
    ...(events && { eventsChannelId: events.channel.channelId }),
    ...(input.allPublicChannels && { allPublicChannels: true as const }),
  };
  const channels = [sending, events].flatMap((each) =>
    each ? [[each.channel.channelId, each] as const] : [],
  );
  return {
    user: {
      ...newUser({ email, fullName, role: roles.member }, now),
      isBot: true,
      botType,
      ownerId: user.userId,
    },
    set,
    namesakes,
    defaults: botDefaults(standing, set, new Map(channels)),
  };
}

/**
 * Creates a bot of the caller: the account, its settings, and the events. `numbers` has one for each event; the first
 * is the id of the bot.
 */
export function doCreateBot(
  { realmId, realm, standing }: Pick<Caller, 'realmId' | 'realm' | 'standing'>,
  { user, keyDigest, defaults, ...bot }: ReturnType<typeof checkNewBot> & { readonly keyDigest: string },
  numbers: readonly number[],
): Change<User> {
  const userId = numbers[0] ?? 0;
  const created = doCreateUser(realmId, userId, user, keyDigest, bot);
  const joined = Date.parse(user.dateJoined);
  const isFull = isFullMember(user, realm.settings.waiting_period_threshold, joined);
  return {
    writes: [...created.writes, doAddNewBot(realmId, standing.userId, userId)],
    entries: [
      ...created.entries,
      ...roleGroupEvents(userId, user.role, isFull),
      ...botEvents(standing, userId, defaults),
    ],
    result: created.result,
  };
}
