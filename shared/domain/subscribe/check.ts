import { badRequest, refusal } from '../../kernel/errors.ts';
import { noGroups } from '../../kernel/lookup.ts';
import { checkQuota } from '../../kernel/quota.ts';
import { folded } from '../../kernel/text.ts';
import type { References } from '../../markdown/references.ts';
import { renderDescription } from '../../markdown/render.ts';
import { hasContentAccess, hasMetadataAccess, mayAddSubscribers } from '../../model/channel/access.ts';
import { type Channel, checkChannelDescription, checkChannelName } from '../../model/channel/channel.ts';
import { type Standing, standingOf } from '../../model/permission/permission.ts';
import type { CountedChannel } from '../../model/subscription/object.ts';
import { checkColor, settingsOf } from '../../model/subscription/settings.ts';
import type { Caller } from '../../model/user/caller.ts';
import { accessPrincipals } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import {
  type CreationSnapshot,
  checkCreateChannel,
  mayCreateChannel,
  type NewChannel,
  type NewChannelSettings,
} from '../channel-edit/create.ts';
import { type LoadedReferences, resolveReferences } from '../mention/references.ts';
import { bytesOfCreations, type Joining, type Newcomer } from './join.ts';
import { type Named, type NamedChannel, type Pair, pairOf, type Snapshot } from './snapshot.ts';

/** A channel in a request to subscribe people. */
export interface RequestedChannel {
  readonly name: string;
  readonly color?: string;
  readonly description: string;
}

/** Most subscriptions (people times channels) in one request. */
const MAX_PAIRS = 5_000;

/** The channels of a request, each once, in its order. Refuses invalid names, colors and descriptions. */
export function checkRequestedChannels(
  input: readonly {
    readonly name: string;
    readonly color?: string | null | undefined;
    readonly description?: string | null | undefined;
  }[],
): RequestedChannel[] {
  const channels = new Map<string, RequestedChannel>();
  for (const { name: text, color, description } of input) {
    const name = checkChannelName(text);
    if (color) checkColor(color);
    if (channels.has(folded(name))) continue;
    channels.set(folded(name), {
      name,
      ...(color && { color }),
      description: checkChannelDescription(description ?? ''),
    });
  }
  return [...channels.values()];
}

/** Refuses a request with too many subscriptions. */
export function checkPairs(channels: number, people: number): void {
  if (channels * people > MAX_PAIRS) {
    throw badRequest(`One request changes at most ${MAX_PAIRS} subscriptions; send several.`);
  }
}

/** A parsed request to subscribe people. */
export interface SubscribeInput extends Named {
  readonly channels: readonly RequestedChannel[];
  /** The names in the descriptions of channels that may be created. */
  readonly inDescriptions: References;
  /** The settings of new channels. */
  readonly settings: NewChannelSettings;
  /** A channel that the caller may not join or create refuses the whole request; otherwise it is only listed. */
  readonly refuseUnauthorized: boolean;
  /** New channels are announced. */
  readonly announce: boolean;
  /** People get a message that they were subscribed. */
  readonly sendMessages: boolean;
  /** Its channels must be new, and nobody is subscribed whom it does not name (`POST /channels/create`). */
  readonly mustCreate: boolean;
  readonly progress: Progress;
}

/** What the tries of a request have done and decided, besides the pairs that are done. */
interface Progress {
  /** The channels that the request created, by folded name. */
  readonly created: Map<string, CountedChannel>;
  /** The id of its outbox job, and whether the job has a part. */
  job?: string;
  hasJob: boolean;
  sendsMessages?: boolean;
}

/** What a request to subscribe people is decided on. */
export interface SubscribeSnapshot extends Snapshot, CreationSnapshot {
  /** How many bytes the organization's channels use. */
  readonly channelBytes: number;
  /** What the descriptions refer to. */
  readonly inDescriptions: LoadedReferences;
}

/** What a request does. */
export interface Decision {
  readonly joinings: readonly Joining[];
  /** Subscriptions that exist already. */
  readonly already: readonly Pair[];
  /** Names as the caller wrote them. */
  readonly unauthorized: readonly string[];
}

/**
 * Checks a request to subscribe people (wire facts 4.1, specification 4.2). Joining takes access to the content; adding
 * others also takes the permission to add subscribers.
 *
 * A channel that the caller cannot see and one that they may not create get the same refusal, so that nobody learns which
 * private channels exist.
 *
 * @param now milliseconds
 */
export function checkSubscribe(
  caller: Caller,
  input: SubscribeInput,
  snapshot: SubscribeSnapshot,
  now: number,
): Decision {
  const { channels, principals, settings, refuseUnauthorized, progress, mustCreate } = input;
  if (mustCreate) checkNamesAreFree(caller.standing, input, snapshot);
  const people =
    mustCreate && principals?.length === 0
      ? []
      : accessPrincipals(principals, snapshot.resolved, snapshot.users, caller.user);
  // Who created a channel in an earlier try may do the rest of the request.
  const isCreated = (channel: Pick<Channel, 'name'>): boolean => progress.created.has(folded(channel.name));
  const unauthorized = channels.filter((requested) => {
    if (isCreated(requested)) return false;
    const found = snapshot.channels.get(folded(requested.name));
    return found ? !hasContentAccess(caller.standing, found) : !mayCreateChannel(caller, settings);
  });
  const [first] = unauthorized;
  if (first && refuseUnauthorized) {
    throw badRequest(`You may neither subscribe to nor create the channel '${first.name}'.`);
  }
  const open = channels.filter((each) => !unauthorized.includes(each));
  const targets = open.map((requested) => ({
    requested,
    named: snapshot.channels.get(folded(requested.name)),
  }));
  const addsOthers = people.some(({ userId }) => userId !== caller.user.userId);
  const mayAdd = ({ channel }: NamedChannel): boolean =>
    isCreated(channel) || mayAddSubscribers(caller, channel);
  if (addsOthers && targets.some(({ named }) => named && !mayAdd(named))) {
    throw refusal('insufficientPermission');
  }
  const template = targets.some(({ named }) => named === undefined)
    ? checkCreateChannel(caller, settings, snapshot, now)
    : undefined;
  const joinings = targets.flatMap(({ requested, named }): Joining[] => {
    if (named) return [joiningOf(caller, people, requested, named, snapshot, now)];
    return template ? [creationOf(caller, people, requested, template, snapshot, now)] : [];
  });
  checkQuota('channels', snapshot.channelBytes, bytesOfCreations(joinings));
  return {
    joinings: joinings.filter(({ target, people: some }) => 'create' in target || some.length > 0),
    already: targets.flatMap(({ named }) => (named ? subscribersAmong(people, named, snapshot) : [])),
    unauthorized: unauthorized.map(({ name }) => name),
  };
}

/**
 * Refuses the name of a channel that exists, unless an earlier try of the request created it. If the caller cannot see that
 * channel, the refusal does not say so.
 */
function checkNamesAreFree(
  who: Standing,
  { channels, progress }: SubscribeInput,
  snapshot: SubscribeSnapshot,
): void {
  for (const { name } of channels) {
    const found = progress.created.has(folded(name)) ? undefined : snapshot.channels.get(folded(name));
    if (found === undefined) continue;
    if (!hasMetadataAccess(who, found)) throw refusal('insufficientPermission');
    throw refusal('channelExists', { name: found.channel.name });
  }
}

const subscribersAmong = (people: readonly User[], { channel }: NamedChannel, snapshot: Snapshot): Pair[] =>
  people
    .filter(({ userId }) => snapshot.subscriptions.has(pairOf(userId, channel.channelId)))
    .map(({ userId }) => ({ userId, channel }));

/** The people who are not subscribed yet, with their former settings. */
function joiningOf(
  caller: Caller,
  people: readonly User[],
  requested: RequestedChannel,
  target: NamedChannel,
  snapshot: Snapshot,
  now: number,
): Joining {
  const { channel } = target;
  const pair = ({ userId }: User): string => pairOf(userId, channel.channelId);
  const newcomers = people
    .filter((person) => !snapshot.subscriptions.has(pair(person)))
    .map((person) => {
      const former = snapshot.formers.get(pair(person));
      const settings = { ...(former && settingsOf(former)), ...colorOf(requested) };
      return newcomer(caller, person, channel, settings, now);
    });
  return { target, people: newcomers };
}

/** A new channel with all the people. */
function creationOf(
  caller: Caller,
  people: readonly User[],
  requested: RequestedChannel,
  template: NewChannel,
  { inDescriptions }: SubscribeSnapshot,
  now: number,
): Joining {
  const { name, description } = requested;
  const renderedDescription = renderDescription(
    description,
    resolveReferences(caller.standing, inDescriptions),
  );
  const create = { ...template, name, description, renderedDescription };
  // Who can see it does not depend on its id.
  const channel = { ...create, channelId: 0 };
  const newcomers = people.map((person) => newcomer(caller, person, channel, colorOf(requested), now));
  return { target: { create }, people: newcomers };
}

const colorOf = ({ color }: RequestedChannel): Newcomer['settings'] => (color === undefined ? {} : { color });

function newcomer(
  caller: Caller,
  person: User,
  channel: Channel,
  settings: Newcomer['settings'],
  now: number,
): Newcomer {
  const { userId, ownerId, isBot } = person;
  const standing = userId === caller.user.userId ? caller.standing : standingByRole(caller, person, now);
  const isNewToThem = !hasMetadataAccess(standing, { channel, subscription: undefined });
  return {
    userId,
    settings,
    isNewToThem,
    ...(ownerId !== undefined && { ownerId }),
    ...(isBot && { isBot }),
  };
}

/**
 * A standing by role alone, without groups. It is enough to decide who needs a creation event: people who could see the
 * channel through a group get it once more, and clients ignore that.
 */
const standingByRole = ({ realm }: Caller, person: User, now: number): Standing =>
  standingOf(person, [], noGroups, realm.settings.waiting_period_threshold, now);
