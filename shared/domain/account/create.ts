import { badRequest } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Commit } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import { roleGroupEvents } from '../../model/group/role-groups.ts';
import { isFullMember } from '../../model/permission/permission.ts';
import {
  checkAddressAllowed,
  type Domains,
  doRequireSameDomains,
  loadDomains,
} from '../../model/realm/domains.ts';
import { type CountedChannel, loadChannels } from '../../model/subscription/object.ts';
import { countOwner, isHumanOwner } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import { type Namesakes, nameWrite } from '../../model/user/name.ts';
import { userObject } from '../../model/user/object.ts';
import { type Account, digestOf, newApiKey, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { doJoin, entriesOfJoin, type Joining, type Newcomer } from '../subscribe/join.ts';
import { type BotSettings, ownBot } from './bot.ts';

/** A new account before it has an id. */
export type NewUser = Omit<User, 'userId' | 'isActive' | 'avatarVersion'>;

/** What else is decided on when the account is a bot. */
export interface NewBot {
  readonly set: BotSettings;
  /** Those who were seen to bear the name, so that it is still free when the bot is made. */
  readonly namesakes: Namesakes;
}

/**
 * Creates an account: the user, the guard of its address with the digest of its key, its name for mentions, and
 * the event that tells everybody.
 */
export function doCreateUser(
  realm: string,
  userId: number,
  given: NewUser,
  keyDigest: string,
  bot?: NewBot,
): Change<User> {
  const user: User = { ...given, userId, isActive: true, avatarVersion: 1 };
  const account: Account = {
    userId,
    keyDigest,
    ...(given.ownerId !== undefined && { ownerId: given.ownerId }),
  };
  const writes: Write[] = [
    { put: key('user', { realm, userId }), item: { ...user } },
    {
      put: key('account', { realm, email: folded(given.email) }),
      item: { ...account },
      when: { absent: true },
    },
    nameWrite(realm, given.fullName, userId, bot?.namesakes),
  ];
  if (given.ownerId !== undefined) writes.push(ownBot(realm, given.ownerId, { userId, ...bot?.set }));
  if (isHumanOwner(user)) writes.push(countOwner(realm, userId));
  return {
    writes,
    entries: [
      {
        kind: 'event',
        hearers: { everyone: 'all' },
        payload: {
          type: 'realm_user',
          op: 'add',
          person: userObject(user, { clientGravatar: false, profile: () => ({}) }),
        },
        access: true,
      },
    ],
    result: user,
  };
}

/** The channels that everybody is subscribed to who comes new. */
const defaultChannels = (channels: readonly CountedChannel[]): CountedChannel[] =>
  channels.filter(({ channel }) => channel.isDefault && !channel.isArchived);

/** Most channels of one transaction: each takes up to five writes, and the account takes some. */
const MAX_CHANNELS = 18;

/** What somebody new is decided on. */
export interface NewcomerSnapshot {
  readonly channels: readonly CountedChannel[];
  readonly domains: Domains;
  /** There is an account with the address already. */
  readonly isTaken: boolean;
}

/** Reads it but for the address. One round trip; it costs what the list of all channels costs. */
export async function loadNewcomerSnapshot(
  table: Table,
  realm: string,
): Promise<Omit<NewcomerSnapshot, 'isTaken'>> {
  const [channels, domains] = await Promise.all([loadChannels(table, realm), loadDomains(table, realm)]);
  return { channels, domains };
}

/**
 * Makes an account for somebody whose name and role may be, unless their address is taken, or none that the
 * organization takes. Returns its id and its key, which is known only here.
 */
export async function addPerson(
  outside: Pick<Outside, 'now' | 'randomBytes'>,
  organization: Pick<Caller, 'realmId' | 'realm'>,
  commit: Commit,
  person: Pick<NewUser, 'email' | 'fullName' | 'role'>,
  { channels, domains, isTaken }: NewcomerSnapshot,
): Promise<{ readonly userId: number; readonly apiKey: string }> {
  const { realmId, realm } = organization;
  checkAddressAllowed(person.email, realm, domains);
  if (isTaken) throw badRequest(`There is already an account with the address '${person.email}'.`);
  const apiKey = newApiKey(outside);
  const dateJoined = new Date(outside.now()).toISOString();
  const user = { ...person, isBot: false, dateJoined, timezone: '' };
  const snapshot = realm.settings.emails_restricted_to_domains
    ? [doRequireSameDomains(realmId, domains)]
    : [];
  const userId = await addUser(
    organization,
    commit,
    user,
    digestOf(apiKey),
    defaultChannels(channels),
    snapshot,
  );
  return { userId, apiKey };
}

/**
 * Adds a person to the organization and subscribes them to the default channels, in one transaction with the account
 * unless they are very many. `snapshot` is what else must still hold then. Returns the id.
 */
async function addUser(
  { realmId, realm }: Pick<Caller, 'realmId' | 'realm'>,
  commit: Commit,
  user: NewUser,
  keyDigest: string,
  defaults: readonly CountedChannel[],
  snapshot: readonly Write[] = [],
): Promise<number> {
  const isFull = isFullMember(user, realm.settings.waiting_period_threshold, Date.parse(user.dateJoined));
  const first = (numbers: readonly number[]): Change<number> => {
    const userId = numbers[0] ?? 0;
    const created = doCreateUser(realmId, userId, user, keyDigest);
    const before = [...created.entries, ...roleGroupEvents(userId, user.role, isFull)];
    const joinings = joiningsOf({ userId, isNewAccount: true }, defaults.slice(0, MAX_CHANNELS));
    const joined =
      joinings.length === 0 ? undefined : doJoin(realmId, joinings, (i) => numbers[before.length + i] ?? 0);
    return {
      writes: [...created.writes, ...(joined?.writes ?? []), ...snapshot],
      entries: [...before, ...(joined?.entries ?? [])],
      result: userId,
    };
  };
  const userId = await commit(first([]).entries.length, first);
  for (let start = MAX_CHANNELS; start < defaults.length; start += MAX_CHANNELS) {
    const joinings = joiningsOf({ userId }, defaults.slice(start, start + MAX_CHANNELS));
    await commit(entriesOfJoin(joinings), (numbers) => doJoin(realmId, joinings, (i) => numbers[i] ?? 0));
  }
  return userId;
}

/** The subscriptions of somebody who has just come. Their clients know of no channel so far, nor need to be told. */
const joiningsOf = (
  who: Pick<Newcomer, 'userId' | 'isNewAccount'>,
  channels: readonly CountedChannel[],
): Joining[] =>
  channels.map((target) => ({ target, newcomers: [{ ...who, settings: {}, isNewToThem: false }] }));
