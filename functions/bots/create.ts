import {
  type BotSettings,
  botDefaults,
  checkBotEmail,
  checkBotType,
  checkMayCreateBots,
  checkRoomForBot,
} from '../../shared/domain/account/bot.ts';
import { type DecidedBot, doCreateBot } from '../../shared/domain/account/bot-create.ts';
import { createBot } from '../../shared/endpoints/bots.ts';
import type { InputOf, ReplyOf } from '../../shared/endpoints/endpoint.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { folded } from '../../shared/kernel/folding.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { hasContentAccess, loadChannel, type Seen } from '../../shared/model/channel/access.ts';
import { checkChannelName } from '../../shared/model/channel/channel.ts';
import type { Standing } from '../../shared/model/permission/permission.ts';
import { roles } from '../../shared/model/permission/system-group.ts';
import { ownHost } from '../../shared/model/realm/hosts.ts';
import { digestOf, newApiKey } from '../../shared/model/user/api-key.ts';
import { avatarUrlOf } from '../../shared/model/user/avatar.ts';
import { checkBotName, loadNamesakes, type Namesakes } from '../../shared/model/user/namesakes.ts';
import { checkFullName } from '../../shared/model/user/text.ts';
import type { Request, UnverifiedRequest } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type Create = InputOf<typeof createBot>;

/** What a request reads, in one round trip: the address, who bears the name, and the channels that are to be set. */
interface Loaded {
  /** There is an account with the address already. */
  readonly isTaken: boolean;
  readonly namesakes: Namesakes;
  readonly sending: Seen | undefined;
  readonly events: Seen | undefined;
}

const named = (input: Create): LookupKey<'fullName'> => ({
  kind: 'fullName',
  name: checkFullName(input.full_name),
});

const channelNamed = (name: string): LookupKey<'channelName'> => ({
  kind: 'channelName',
  name: checkChannelName(name),
});

const organization: LookupKey<'organization'> = { kind: 'organization' };

function pointers(input: Create): LookupKey[] {
  const { default_sending_stream: sending, default_events_register_stream: events } = input;
  return [
    organization,
    named(input),
    ...[sending, events].flatMap((name) => (name === undefined ? [] : [channelNamed(name)])),
  ];
}

/** The address that the bot will have. */
const emailOf = ({
  input,
  resolved,
  realm,
}: Pick<UnverifiedRequest<Create>, 'input' | 'resolved' | 'realm'>): string =>
  checkBotEmail(input.short_name, ownHost(realm, resolved.follow(organization)));

async function load(look: UnverifiedRequest<Create>): Promise<Loaded> {
  const {
    input,
    resolved,
    outside: { table },
    realm,
    userId,
  } = look;
  const channel = async (name: string | undefined): Promise<Seen | undefined> => {
    const found = name === undefined ? undefined : resolved.follow(channelNamed(name));
    return found && loadChannel(table, realm, found.channelId, userId);
  };
  const [account, namesakes, sending, events] = await Promise.all([
    table.get('account', { realm, email: folded(emailOf(look)) }),
    loadNamesakes(table, realm, resolved.follow(named(input))?.users),
    channel(input.default_sending_stream),
    channel(input.default_events_register_stream),
  ]);
  return { isTaken: account !== undefined, namesakes, sending, events };
}

/** The channel of this name, or the same refusal for those that do not exist and those that are hidden. */
function accessNamed(who: Standing, name: string | undefined, seen: Seen | undefined): Seen | undefined {
  if (name === undefined) return undefined;
  if (seen === undefined || !hasContentAccess(who, seen)) {
    throw badRequest(`There is no channel named '${checkChannelName(name)}' for you.`);
  }
  return seen;
}

async function run(context: Request<Create>, loaded: Loaded): Promise<ReplyOf<typeof createBot>> {
  const { input, caller, outside } = context;
  const { standing } = caller;
  checkMayCreateBots(caller);
  checkRoomForBot(caller.user);
  const botType = checkBotType(input.bot_type ?? 1);
  const email = emailOf(context);
  if (loaded.isTaken) {
    throw badRequest(`There is already an account with the address '${email}'.`);
  }
  const fullName = checkFullName(input.full_name);
  checkBotName(fullName, loaded.namesakes);
  const sending = accessNamed(standing, input.default_sending_stream, loaded.sending);
  const events = accessNamed(standing, input.default_events_register_stream, loaded.events);

  const set: BotSettings = {
    ...(sending && { sendingChannelId: sending.channel.channelId }),
    ...(events && { eventsChannelId: events.channel.channelId }),
    ...(input.default_all_public_streams && { allPublicChannels: true as const }),
  };
  const seen = [sending, events].flatMap((each) => (each ? [[each.channel.channelId, each] as const] : []));
  const defaults = botDefaults(standing, set, new Map(seen));
  const apiKey = newApiKey(outside);
  const bot: DecidedBot = {
    user: {
      email,
      fullName,
      role: roles.member,
      isBot: true,
      botType,
      ownerId: caller.user.userId,
      dateJoined: new Date(outside.now()).toISOString(),
      timezone: '',
    },
    keyDigest: digestOf(apiKey),
    set,
    namesakes: loaded.namesakes,
    defaults,
  };
  const { length } = doCreateBot(caller, bot, []).entries;
  const user = await context.commit(length, (numbers) => doCreateBot(caller, bot, numbers));
  return {
    user_id: user.userId,
    api_key: apiKey,
    avatar_url: avatarUrlOf(user),
    ...defaults,
  };
}

/** The account, its two groups, and the bot for administrators and for its owner. */
const EVENTS = 5;

export const handler = serve(createBot, { keys: pointers, load, reserve: EVENTS, run });
