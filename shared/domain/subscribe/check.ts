import { badRequest, refusal } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import { noGroups } from '../../kernel/group-graph.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import { checkQuota } from '../../kernel/quota.ts';
import { administersChannel, hasContentAccess, hasMetadataAccess } from '../../model/channel/access.ts';
import { type Channel, checkChannelDescription, checkChannelName } from '../../model/channel/channel.ts';
import { holdsUnlessGuest, type Standing, standingOf } from '../../model/permission/permission.ts';
import { checkColor, settingsOf } from '../../model/subscription/settings.ts';
import type { Caller } from '../../model/user/caller.ts';
import { accessPrincipals, type Principals } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import {
  checkCreateChannel,
  mayCreateChannel,
  type NewChannel,
  type NewChannelSettings,
} from '../channel-edit/create.ts';
import { bytesOfCreations, type Joining, type Newcomer } from './join.ts';
import type { LeaveEventOptions } from './notices.ts';
import { type NamedChannel, type Pair, pairOf, type Snapshot, type SubscribeSnapshot } from './snapshot.ts';

/** A channel that a request wants people to be subscribed to. */
export interface Wanted {
  readonly name: string;
  readonly color?: string;
  readonly description: string;
}

/** Most subscriptions (people times channels) that one request may ask for. */
const MAX_PAIRS = 5_000;

/** The channels that a request names, each once, in its order; refuses what cannot be a name, color or description. */
export function checkWanted(
  given: readonly {
    readonly name: string;
    readonly color?: string | null | undefined;
    readonly description?: string | null | undefined;
  }[],
): Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const { name: text, color, description } of given) {
    const name = checkChannelName(text);
    if (color) checkColor(color);
    if (wanted.has(folded(name))) continue;
    wanted.set(folded(name), {
      name,
      ...(color && { color }),
      description: checkChannelDescription(description ?? ''),
    });
  }
  return [...wanted.values()];
}

/** Refuses a request that asks for more than can be done in one. */
export function checkPairs(channels: number, people: number): void {
  if (channels * people > MAX_PAIRS) {
    throw badRequest(`One request changes at most ${MAX_PAIRS} subscriptions; send several.`);
  }
}

/** A request to subscribe people, parsed. */
export interface SubscribeRequest {
  readonly wanted: readonly Wanted[];
  readonly principals: Principals | undefined;
  /** Where addresses lead. */
  readonly resolved: Resolved;
  readonly settings: NewChannelSettings;
  /** Renders the description of a new channel. */
  readonly render: (description: string) => string;
  /** A channel that the caller may not join or create refuses the whole request; else it is only listed. */
  readonly refuseUnauthorized: boolean;
  /** The service has web-public channels. */
  readonly isWebPublicEnabled: boolean;
  /** What is to be told of it afterwards. */
  readonly telling: LeaveEventOptions;
  /** Milliseconds. */
  readonly now: number;
}

/** What is to be done, and what needs no doing. */
export interface Decision {
  readonly joinings: readonly Joining[];
  /** Subscriptions that are there already. */
  readonly already: readonly Pair[];
  /** Names as the caller wrote them. */
  readonly unauthorized: readonly string[];
}

/**
 * Decides whom to subscribe to what (wire facts 4.1, specification 4.2). To join, or to let others join, one needs
 * access to the content; to let others join, also the permission to add subscribers.
 *
 * A channel that the caller cannot see and one that they may not create get the same answer, so that nobody learns
 * which private channels exist.
 */
export function checkSubscribe(
  caller: Caller,
  request: SubscribeRequest,
  snapshot: SubscribeSnapshot,
): Decision {
  const { wanted, isWebPublicEnabled } = request;
  const people = accessPrincipals(request.principals, request.resolved, snapshot.users, caller.user);
  const unauthorized = wanted.filter(({ name }) => {
    const found = snapshot.channels.get(folded(name));
    return found ? !hasContentAccess(caller.standing, found) : !mayCreateChannel(caller, request.settings);
  });
  const [first] = unauthorized;
  if (first && request.refuseUnauthorized) {
    throw badRequest(`You may neither subscribe to nor create the channel '${first.name}'.`);
  }
  const open = wanted.filter((each) => !unauthorized.includes(each));
  const found = open.map((each) => ({ each, named: snapshot.channels.get(folded(each.name)) }));
  const addsOthers = people.some(({ userId }) => userId !== caller.user.userId);
  if (addsOthers && found.some(({ named }) => named && !mayAddSubscribers(caller, named.channel))) {
    throw refusal('insufficientPermission');
  }
  const template = found.some(({ named }) => named === undefined)
    ? checkCreateChannel(caller, request.settings, { ...snapshot, isWebPublicEnabled }, request.now)
    : undefined;
  const joinings = found.flatMap(({ each, named }): Joining[] => {
    if (named) return [joiningOf(caller, people, each, named, snapshot, request.now)];
    return template ? [creationOf(caller, people, each, template, request)] : [];
  });
  checkQuota('channels', snapshot.channelBytes, bytesOfCreations(joinings));
  return {
    joinings: joinings.filter(({ newcomers }) => newcomers.length > 0),
    already: found.flatMap(({ named }) => (named ? subscribersAmong(people, named, snapshot) : [])),
    unauthorized: unauthorized.map(({ name }) => name),
  };
}

/** Whether someone who can read the channel may add others (specification 4.2, wire facts 4.1). */
const mayAddSubscribers = ({ standing, realm }: Caller, channel: Channel): boolean =>
  administersChannel(standing, channel) ||
  holdsUnlessGuest(standing, realm.settings.can_add_subscribers_group) ||
  holdsUnlessGuest(standing, channel.groups.can_add_subscribers_group);

const subscribersAmong = (people: readonly User[], { channel }: NamedChannel, snapshot: Snapshot): Pair[] =>
  people
    .filter(({ userId }) => snapshot.subscriptions.has(pairOf(userId, channel.channelId)))
    .map(({ userId }) => ({ userId, channel }));

/** Those of the people who are not in a channel, with what they had chosen for it before. */
function joiningOf(
  caller: Caller,
  people: readonly User[],
  wanted: Wanted,
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
      const settings = { ...(former && settingsOf(former)), ...chosen(wanted) };
      return newcomer(caller, person, channel, settings, now);
    });
  return { target, newcomers };
}

/** A new channel with all of the people. */
function creationOf(
  caller: Caller,
  people: readonly User[],
  wanted: Wanted,
  template: NewChannel,
  { render, now }: SubscribeRequest,
): Joining {
  const { name, description } = wanted;
  const create = { ...template, name, description, renderedDescription: render(description) };
  // Who may know of it does not depend on its id, which it has not got yet.
  const channel = { ...create, channelId: 0 };
  const newcomers = people.map((person) => newcomer(caller, person, channel, chosen(wanted), now));
  return { target: { create }, newcomers };
}

const chosen = ({ color }: Wanted): Newcomer['settings'] => (color === undefined ? {} : { color });

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
 * What someone may do by their role alone. It is enough to know whether they may hear of a channel for the first
 * time: who knew of it through a named group hears of it once more, which clients ignore.
 */
const standingByRole = ({ realm }: Caller, person: User, now: number): Standing =>
  standingOf(person, [], noGroups, realm.settings.waiting_period_threshold, now);
