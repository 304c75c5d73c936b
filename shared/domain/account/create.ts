import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { doUseQuota, MEMBER_BYTES } from '../../kernel/quota.ts';
import { folded } from '../../kernel/text.ts';
import { type Commit, commitPlan } from '../../log/bulk.ts';
import { type Change, MAX_WRITES } from '../../log/commit.ts';
import { eventForEveryone } from '../../log/slot.ts';
import type { Group } from '../../model/group/group.ts';
import { doJoinGroup, membersEvent } from '../../model/group/member.ts';
import { roleGroupEvents } from '../../model/group/role-groups.ts';
import { isFullMember } from '../../model/permission/permission.ts';
import { checkAddressAllowed, doRequireSameDomains, loadDomains } from '../../model/realm/domains.ts';
import { type CountedChannel, loadChannels } from '../../model/subscription/object.ts';
import { countOwner, isHumanOwner } from '../../model/user/activation.ts';
import { type Account, type Caller, NO_KEY } from '../../model/user/caller.ts';
import { type Namesakes, nameWrite } from '../../model/user/name.ts';
import { userObject } from '../../model/user/object.ts';
import { doSetPassword, type Password } from '../../model/user/password.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import { doJoin, type Joining, type Newcomer } from '../subscribe/join.ts';
import { type BotSettings, ownBot } from './bot.ts';
import { doSettleIn, loadNewUserSettings } from './default-settings.ts';

/** An account without an id. */
export type NewUser = Omit<User, 'userId' | 'isActive' | 'avatarVersion'>;

/** A person who joins now (milliseconds). */
export const newUser = (person: Pick<NewUser, 'email' | 'fullName' | 'role'>, now: number) => ({
  ...person,
  isBot: false,
  dateJoined: new Date(now).toISOString(),
  timezone: '',
});

/**
 * Creates an account: the user, the address with the digest of the key, the name for mentions, and the event for
 * everyone. `bot` has the settings of a bot, and the users who had its name when it was checked.
 */
export function doCreateUser(
  realm: string,
  userId: number,
  given: NewUser,
  keyDigest: string,
  bot?: { readonly set: BotSettings; readonly namesakes: Namesakes },
): Change<User> {
  const user: User = { ...given, userId, isActive: true, avatarVersion: 1 };
  const account: Account = {
    userId,
    keyDigest,
    keyCreated: Math.floor(Date.parse(given.dateJoined) / 1000),
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
  const person = userObject(user, { clientGravatar: false, profile: () => ({}) });
  return {
    writes,
    entries: [eventForEveryone({ type: 'realm_user', op: 'add', person }, { access: true })],
    result: user,
  };
}

/** Most writes of an account besides those of its channels, with the one of the versions of lists. */
const WRITES_OF_ACCOUNT = 12;

/** Most writes of a new subscription. */
const WRITES_OF_CHANNEL = 5;

/** What an invitation does in the transaction that creates the account. */
export interface Invited {
  /** In place of the default channels. */
  readonly channels: readonly CountedChannel[];
  readonly groups: readonly Group[];
  /** The writes that use the invitation, and their events. */
  readonly use: (userId: number) => Pick<Change<unknown>, 'writes' | 'entries'>;
}

/** What a new person signs in with: a password, or a key. Only the digest of a key is stored. */
export type NewCredential =
  | { readonly password: Password; readonly keyDigest?: undefined }
  | { readonly keyDigest: string; readonly password?: undefined };

/** Loads the snapshot for adding a person, without the address. One round trip; reads all channels. */
export async function loadNewcomerSnapshot(table: Table, realm: string) {
  const [channels, domains, newUserSettings] = await Promise.all([
    loadChannels(table, realm),
    loadDomains(table, realm),
    loadNewUserSettings(table, realm),
  ]);
  return { channels, domains, newUserSettings };
}

/**
 * Adds a person with a checked name and role, and subscribes them to the default channels, in one transaction unless
 * there are very many channels. `isTaken` is whether an account has the address. Returns the id. By an invitation, they
 * get its channels and groups.
 *
 * @throws Refusal `BAD_REQUEST` if the address is taken or not allowed
 */
export async function addPerson(
  { now }: Pick<Outside, 'now'>,
  organization: Pick<Caller, 'realmId' | 'realm'>,
  commit: Commit,
  person: Pick<NewUser, 'email' | 'fullName' | 'role'>,
  credential: NewCredential,
  snapshot: Awaited<ReturnType<typeof loadNewcomerSnapshot>> & { readonly isTaken: boolean },
  invited?: Invited,
): Promise<number> {
  const { realmId, realm } = organization;
  const { channels, domains, newUserSettings, isTaken } = snapshot;
  checkAddressAllowed(person.email, realm, domains);
  if (isTaken) throw badRequest(`There is already an account with the address '${person.email}'.`);
  const user = newUser(person, now());
  const groups = invited?.groups ?? [];
  const subscribed = invited?.channels ?? defaultChannels(channels);
  const isFull = isFullMember(user, realm.settings.waiting_period_threshold, now());
  const others = WRITES_OF_ACCOUNT + (invited?.use(0).writes.length ?? 0) + 3 * groups.length + 1;
  const atOnce = Math.floor((MAX_WRITES - others) / WRITES_OF_CHANNEL);
  const first = (numbers: readonly number[]): Change<number> => {
    const userId = numbers[0] ?? 0;
    const created = doCreateUser(realmId, userId, user, credential.keyDigest ?? NO_KEY);
    const used = invited?.use(userId);
    const before = [
      ...created.entries,
      ...roleGroupEvents(userId, user.role, isFull),
      ...groups.map(({ groupId }) => membersEvent('add_members', groupId, [userId])),
      ...(used?.entries ?? []),
    ];
    const joinings = joiningsOf({ userId, isNewAccount: true }, subscribed.slice(0, atOnce));
    const joined =
      joinings.length === 0 ? undefined : doJoin(realmId, joinings, (i) => numbers[before.length + i] ?? 0);
    return {
      writes: [
        ...created.writes,
        ...(credential.password === undefined ? [] : [doSetPassword(realmId, userId, credential.password)]),
        ...doSettleIn(realmId, userId, newUserSettings),
        ...(joined?.writes ?? []),
        ...groups.flatMap((group) => doJoinNamedGroup(realmId, group, userId)),
        ...doUseQuota(realmId, 'groups', groups.length * MEMBER_BYTES),
        ...(used?.writes ?? []),
        ...(realm.settings.emails_restricted_to_domains ? [doRequireSameDomains(realmId, domains)] : []),
      ],
      entries: [...before, ...(joined?.entries ?? [])],
      result: userId,
    };
  };
  const userId = await commit(first([]).entries.length, first);
  for (let start = atOnce; start < subscribed.length; start += atOnce) {
    const joinings = joiningsOf({ userId }, subscribed.slice(start, start + atOnce));
    await commitPlan(commit, (number) => doJoin(realmId, joinings, number));
  }
  return userId;
}

/** The channels that every new person is subscribed to. */
export const defaultChannels = (channels: readonly CountedChannel[]): CountedChannel[] =>
  channels.filter(({ channel }) => channel.isDefault && !channel.isArchived);

/** Makes a new user a member of a named group. Fails if the group was changed since it was read. */
const doJoinNamedGroup = (realm: string, { groupId, version }: Group, userId: number): Write[] => [
  { check: key('group', { realm, groupId }), when: hasVersion(version) },
  ...doJoinGroup(realm, groupId, userId, true),
];

/** The subscriptions of a new user. Their clients do not know the channels yet, and need no events about them. */
const joiningsOf = (
  who: Pick<Newcomer, 'userId' | 'isNewAccount'>,
  channels: readonly CountedChannel[],
): Joining[] =>
  channels.map((target) => ({ target, people: [{ ...who, settings: {}, isNewToThem: false }] }));
