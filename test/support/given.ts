import { doCreateUser, type NewUser } from '../../shared/domain/account/create.ts';
import { doCreateChannel } from '../../shared/domain/channel-edit/create.ts';
import type { GroupGraph } from '../../shared/kernel/lookup.ts';
import { digestOf, folded } from '../../shared/kernel/text.ts';
import { commit, MAX_WRITES } from '../../shared/log/commit.ts';
import {
  type Channel,
  type ChannelGroups,
  channelGroupRules,
  type Subscription,
} from '../../shared/model/channel/channel.ts';
import type { Group, GroupSettings } from '../../shared/model/group/group.ts';
import type { UserTopic } from '../../shared/model/message/user-topic.ts';
import { initialSettings, onlyUser, roles, systemGroups } from '../../shared/model/permission/permission.ts';
import type { RealmSettings } from '../../shared/model/realm/realm.ts';
import { subscriptionWrites } from '../../shared/model/subscription/settings.ts';
import { doAddOwnedBot } from '../../shared/model/user/activation.ts';
import { newApiKey } from '../../shared/model/user/caller.ts';
import type { User } from '../../shared/model/user/user.ts';
import { key } from '../../shared/table/keys.ts';
import type { Write } from '../../shared/table/write.ts';
import type { Person, TestRealm } from './realm.ts';

/*
 * State that a test begins with, put into the table as the endpoints would have left it, whether they exist yet
 * or not. What a test is about goes through the real handlers; what it takes for granted comes from here.
 */

let made = 0;
/** A name that no other thing of this test run has. */
const fresh = (kind: string): string => `${kind}${++made}`;

/** Writes without an event, in as many transactions as they need. */
export async function put({ outside }: TestRealm, writes: readonly Write[]): Promise<void> {
  // One more is that of the versions of lists.
  const most = MAX_WRITES - 1;
  for (let start = 0; start < writes.length; start += most) {
    const outcome = await outside.table.transact(writes.slice(start, start + most), outside.uuid());
    if (outcome.state !== 'done') throw new Error(`what is given was not written: ${outcome.state}`);
  }
}

/** An account: a member, unless said otherwise. */
export async function givenUser(realm: TestRealm, given: Partial<NewUser> = {}): Promise<Person> {
  const name = fresh('user');
  const user: NewUser = {
    email: `${name}@example.com`,
    fullName: name,
    role: roles.member,
    isBot: false,
    dateJoined: new Date(realm.outside.now()).toISOString(),
    timezone: '',
    ...given,
  };
  const apiKey = newApiKey(realm.outside);
  const { userId } = await commit(realm.log, 1, ([id]) => {
    const { writes, ...change } = doCreateUser(realm.realm, id as number, user, digestOf(apiKey));
    const owned = user.ownerId === undefined ? [] : [doAddOwnedBot(realm.realm, user.ownerId, id as number)];
    return { ...change, writes: [...writes, ...owned] };
  });
  return { email: user.email, apiKey, userId };
}

/** A bot of this person's. */
export const givenBot = (realm: TestRealm, owner: Person): Promise<Person> =>
  givenUser(realm, { isBot: true, botType: 1, ownerId: owner.userId, email: `${fresh('bot')}@example.com` });

/** Changes what is stored of an account: `{ isActive: false }` deactivates it. */
export async function givenChangedUser(
  realm: TestRealm,
  { userId }: Person,
  set: Partial<User>,
): Promise<void> {
  await put(realm, [{ update: key('user', { realm: realm.realm, userId }), change: { set } }]);
}

export interface GivenChannel extends Partial<Omit<Channel, 'groups'>> {
  readonly groups?: Partial<ChannelGroups>;
}

/** A channel: public, with everything as for a new one unless said otherwise, and these subscribers. */
export async function givenChannel(
  realm: TestRealm,
  { groups, ...given }: GivenChannel = {},
  subscribers: readonly Person[] = [],
): Promise<Channel> {
  const channel = await commit(realm.log, 1, ([id]) => {
    const channel: Channel = {
      channelId: id as number,
      name: fresh('channel'),
      description: '',
      renderedDescription: '',
      dateCreated: Math.floor(realm.outside.now() / 1000),
      isPrivate: false,
      isWebPublic: false,
      historyPublicToSubscribers: true,
      isDefault: false,
      isArchived: false,
      topicsPolicy: 'inherit',
      version: 1,
      ...given,
      groups: { ...initialSettings(channelGroupRules), ...groups },
    };
    return doCreateChannel(realm.realm, channel, subscribers.length);
  });
  for (const person of subscribers) await putSubscription(realm, person, channel.channelId);
  return channel;
}

async function putSubscription(
  realm: TestRealm,
  { userId }: Person,
  channelId: number,
  given: Partial<Subscription> = {},
): Promise<void> {
  const since = (await realm.outside.table.get('counter', { realm: realm.realm }))?.seq as number;
  const subscription: Subscription = {
    userId,
    channelId,
    since,
    readFloor: since,
    color: '#76ce90',
    isMuted: false,
    pinToTop: false,
    ...given,
  };
  await put(realm, subscriptionWrites(realm.realm, subscription));
}

/** A subscription that begins now, counted. */
export async function givenSubscription(
  realm: TestRealm,
  person: Person,
  channelId: number,
  given: Partial<Subscription> = {},
): Promise<void> {
  await putSubscription(realm, person, channelId, given);
  await givenCount(realm, channelId, { subscribers: 1 });
}

/** The channel muted by a user who is subscribed to it. */
export async function givenMutedChannel(
  realm: TestRealm,
  { userId }: Person,
  channelId: number,
): Promise<void> {
  await realm.outside.table.update(key('subscription', { realm: realm.realm, userId, channelId }), {
    set: { isMuted: true },
  });
}

/** Changes what is stored of a channel: `{ isArchived: true }` archives it. */
export async function givenChangedChannel(
  realm: TestRealm,
  channelId: number,
  set: Partial<Channel>,
): Promise<void> {
  await put(realm, [{ update: key('channel', { realm: realm.realm, channelId }), change: { set } }]);
}

/** So many subscribers more than there are, who have no accounts: only their items and their number. */
export async function givenCrowd(realm: TestRealm, channelId: number, size: number): Promise<void> {
  const subscribers = Array.from({ length: size }, (_, i): Write => {
    const userId = 500_000_000 + i;
    return { put: key('subscriber', { realm: realm.realm, channelId, userId }), item: { userId } };
  });
  await put(realm, subscribers);
  await givenCount(realm, channelId, { subscribers: size });
}

/** Adds to the counts of a channel. */
export async function givenCount(
  realm: TestRealm,
  channelId: number,
  add: Readonly<Record<string, number>>,
): Promise<void> {
  await realm.outside.table.update(key('channelCount', { realm: realm.realm, channelId }), { add });
}

export interface GivenGroup {
  readonly name?: string;
  readonly members?: readonly Person[];
  readonly subgroups?: readonly number[];
  readonly deactivated?: boolean;
  readonly settings?: Partial<GroupSettings>;
}

/** A named group with these direct members and subgroups, which anyone may mention unless said otherwise. */
export async function givenGroup(realm: TestRealm, given: GivenGroup = {}): Promise<Group> {
  const { table } = realm.outside;
  const at = { realm: realm.realm };
  const creatorId = realm.people.owner.userId;
  const event = { kind: 'event' as const, hearers: { users: [] }, payload: { type: 'user_group' } };
  const group = await commit(realm.log, 1, ([id]) => {
    const groupId = id as number;
    const group: Group = {
      groupId,
      name: given.name ?? fresh('group'),
      description: '',
      creatorId,
      dateCreated: Math.floor(realm.outside.now() / 1000),
      deactivated: given.deactivated ?? false,
      settings: {
        can_add_members_group: onlyUser(creatorId),
        can_join_group: systemGroups.nobody.id,
        can_leave_group: systemGroups.everyone.id,
        can_manage_group: onlyUser(creatorId),
        can_mention_group: systemGroups.everyone.id,
        can_remove_members_group: systemGroups.nobody.id,
        ...given.settings,
      },
      version: 1,
    };
    const writes: Write[] = [
      { put: key('group', { ...at, groupId }), item: { ...group } },
      { put: key('groupName', { ...at, name: group.name }), item: { groupId }, when: { absent: true } },
    ];
    return { writes, entries: [event], result: group };
  });
  const { groupId } = group;
  for (const { userId } of given.members ?? []) {
    await put(realm, [
      { put: key('membership', { ...at, userId, groupId }), item: { userId, groupId } },
      { put: key('member', { ...at, groupId, userId }), item: { userId, groupId } },
    ]);
  }
  if (given.subgroups) {
    const graph = await table.get('groupGraph', at);
    const edges = { ...graph?.edges, [groupId]: given.subgroups };
    await givenGraph(realm, { edges });
  }
  return group;
}

/** The graph of groups, as some change of it would leave it. */
export async function givenGraph(
  { outside: { table }, realm }: Pick<TestRealm, 'outside' | 'realm'>,
  set: Partial<Omit<GroupGraph, 'version'>>,
): Promise<void> {
  const { version } = await table.update(key('groupGraph', { realm }), { set, add: { version: 1 } });
  await table.put(key('graphVersion', { realm }), { version });
}

/** Settings of the organization, changed. */
export async function givenRealmSettings(realm: TestRealm, settings: Partial<RealmSettings>): Promise<void> {
  const realmKey = key('realm', { realm: realm.realm });
  const stored = await realm.outside.table.get(realmKey);
  if (stored === undefined) throw new Error('no realm');
  const item = { ...stored, settings: { ...stored.settings, ...settings }, version: stored.version + 1 };
  await realm.outside.table.put(realmKey, item);
}

/** Personal settings of a user, under their wire names. */
export async function givenSettings(
  realm: TestRealm,
  { userId }: Person,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  await realm.outside.table.put(key('settings', { realm: realm.realm, userId }), settings);
}

/** A user's policy for a topic. */
export async function givenUserTopic(
  realm: TestRealm,
  { userId }: Person,
  channelId: number,
  topic: string,
  policy: UserTopic['policy'],
): Promise<void> {
  const item: UserTopic = { channelId, topic, policy, updated: 1 };
  const at = { realm: realm.realm, userId, channelId, topic: folded(topic) };
  await realm.outside.table.put(key('userTopic', at), { ...item });
  if (policy !== 0) await realm.outside.table.put(key('topicPolicy', at), { userId, policy });
}

/** An active custom emoji. */
export async function givenEmoji(realm: TestRealm, name: string): Promise<void> {
  const item = { emojiId: 1, sourceUrl: `/user_avatars/emoji/${name}.png` };
  await realm.outside.table.put(key('emojiName', { realm: realm.realm, name }), item);
}

/** So many participants of a topic that exists: only their number. */
export async function givenParticipants(
  realm: TestRealm,
  channelId: number,
  topic: string,
  participants: number,
): Promise<void> {
  const at = { realm: realm.realm, channelId, topic: folded(topic) };
  await realm.outside.table.update(key('topic', at), { set: { participants } });
}
