import { noGroups } from '../../kernel/group-graph.ts';
import { HOME, realmIdFor } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { type Channel, defaultChannelGroups } from '../../model/channel/channel.ts';
import { doSetRealmRetention } from '../../model/channel/retention.ts';
import { FIRST_NUMBER, type Role, roles } from '../../model/permission/permission.ts';
import { ANY_HOST, hostsWrite } from '../../model/realm/hosts.ts';
import { defaultRealmSettings, type Realm, type RealmSettings } from '../../model/realm/realm.ts';
import { newSubscriptionSettings, subscriptionWrites } from '../../model/subscription/settings.ts';
import { digestOf, newApiKey } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doCreateUser } from '../account/create.ts';
import type { KeyedAccount } from '../account/operator.ts';
import { doCreateChannel } from '../channel-edit/create.ts';

/** A new organization. */
export interface NewOrganization {
  /** The host it answers at. Without one it is the default organization. */
  readonly host?: string | undefined;
  /** Whether it answers at every host that nobody registered too. */
  readonly isDefault?: boolean;
  readonly name: string;
  readonly uuid: string;
  /** Milliseconds. */
  readonly now: number;
  readonly settings?: Partial<RealmSettings>;
}

/** Full name and address of the account in whose name the service itself speaks. */
export const NOTICES = { fullName: 'Notification Bot', email: 'notification-bot@parlance.invalid' };

/**
 * Creates an organization with nobody in it but the bot that speaks for the service. Returns the realm's id, its
 * hosts and the writes; the caller adds the first people, and the counter with the last number that was used.
 */
export function doCreateOrganization(
  given: NewOrganization,
  noticeBotId: number,
): { realm: string; hosts: readonly string[]; writes: Write[] } {
  const { host } = given;
  const isHome = given.isDefault === true || host === undefined;
  const realm = isHome ? HOME : realmIdFor(host);
  const hosts = [...(isHome ? [ANY_HOST] : []), ...(host === undefined ? [] : [host])];
  const item: Realm = {
    uuid: given.uuid,
    name: given.name,
    description: '',
    stringId: isHome ? '' : (host.split('.')[0] ?? ''),
    created: Math.floor(given.now / 1000),
    deactivated: false,
    version: 1,
    noticeBotId,
    settings: { ...defaultRealmSettings, ...given.settings },
  };
  const notices = doCreateUser(
    realm,
    noticeBotId,
    {
      ...NOTICES,
      role: roles.member,
      isBot: true,
      dateJoined: new Date(given.now).toISOString(),
      timezone: '',
    },
    // No key has this digest, so nobody can sign in as the bot.
    'f'.repeat(64),
  );
  return {
    realm,
    hosts,
    writes: [
      ...hosts.map((each) => ({ put: key('host', { host: each }), item: { realm }, when: { absent: true } })),
      hostsWrite({ realm, version: 0 }, hosts),
      { put: key('realm', { realm }), item: { ...item }, when: { absent: true } },
      { put: key('groupGraph', { realm }), item: { ...noGroups } },
      ...doSetRealmRetention(realm, { after: item.settings.message_retention_days }, item.version),
      ...notices.writes,
    ],
  };
}

/** The counter of a new organization, standing at the last number that its creation used. */
export const counterWrite = (realm: string, last: number): Write => ({
  put: key('counter', { realm }),
  item: { seq: last },
});

/** The floor of a new organization's log: its creation is not told, so nothing before the next number is missing. */
export const floorWrite = (realm: string, last: number): Write => ({
  put: key('solid', { realm }),
  item: { seq: last },
});

/** Somebody who is there from the beginning. */
export interface Founder {
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  /** The address of the founder who owns this one, which is a bot then. */
  readonly ownedBy?: string;
}

/** A public channel that is there from the beginning. */
export interface FirstChannel {
  readonly name: string;
  /** Plain words, that mean nothing in Markdown. */
  readonly description: string;
  readonly isDefault: boolean;
}

/** The channel with which every organization begins. */
export const GENERAL: FirstChannel = {
  name: 'general',
  description: 'For everyone and everything.',
  isDefault: true,
};

/** An organization that was decided on, and the transaction that makes all of it. */
export interface Founding {
  readonly realm: string;
  readonly hosts: readonly string[];
  /** The accounts of the founders in their order, with their keys. */
  readonly accounts: readonly KeyedAccount[];
  /** The ids of the channels in their order. */
  readonly channelIds: readonly number[];
  readonly writes: readonly Write[];
}

/**
 * A new organization with its first people and channels. Everybody is subscribed to all channels, guests only to the
 * default ones. The keys are made here, so that the caller can keep them safe before anything is written; the table
 * gets their digests. A transaction has room for a handful of people and channels.
 */
export function planFounding(
  outside: Pick<Outside, 'now' | 'uuid' | 'randomBytes'>,
  given: Omit<NewOrganization, 'now' | 'uuid'>,
  founders: readonly Founder[],
  channels: readonly FirstChannel[],
): Founding {
  const now = outside.now();
  let next = FIRST_NUMBER;
  const { realm, hosts, writes } = doCreateOrganization({ ...given, now, uuid: outside.uuid() }, next++);
  const add = (more: readonly Write[]): void => void writes.push(...more);

  const accounts = founders.map(
    ({ email }): KeyedAccount => ({ email, apiKey: newApiKey(outside), userId: next++ }),
  );
  const idOf = (address: string): number =>
    accounts.find(({ email }) => email === address)?.userId ?? Number.NaN;
  founders.forEach(({ email, fullName, role, ownedBy }, i) => {
    const { userId, apiKey } = accounts[i] as KeyedAccount;
    const bots = founders.filter((founder) => founder.ownedBy === email);
    const user = {
      email,
      fullName,
      role,
      isBot: ownedBy !== undefined,
      ...(ownedBy !== undefined && { botType: 1 as const, ownerId: idOf(ownedBy) }),
      ...(bots.length > 0 && { bots: new Set(bots.map((bot) => idOf(bot.email))) }),
      dateJoined: new Date(now).toISOString(),
      timezone: '',
    };
    add(doCreateUser(realm, userId, user, digestOf(apiKey)).writes);
  });

  const channelIds = channels.map(({ name, description, isDefault }) => {
    const channelId = next++;
    const channel: Channel = {
      channelId,
      name,
      description,
      renderedDescription: `<p>${description}</p>`,
      dateCreated: Math.floor(now / 1000),
      isPrivate: false,
      isWebPublic: false,
      historyPublicToSubscribers: true,
      isDefault,
      isArchived: false,
      topicsPolicy: 'inherit',
      groups: defaultChannelGroups(undefined),
      version: 1,
    };
    const subscribers = accounts.filter((_, i) => isDefault || founders[i]?.role !== roles.guest);
    add(doCreateChannel(realm, channel, subscribers.length).writes);
    for (const { userId } of subscribers) {
      const settings = newSubscriptionSettings(channelId);
      const since = { since: next, readFloor: next };
      add(subscriptionWrites(realm, { ...settings, userId, channelId, ...since }));
    }
    return channelId;
  });
  add([counterWrite(realm, next), floorWrite(realm, next)]);
  return { realm, hosts, accounts, channelIds, writes };
}
