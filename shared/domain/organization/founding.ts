import { HOME, noGroups, realmIdFor } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { type Channel, channelGroupRules } from '../../model/channel/channel.ts';
import { doSetRealmRetention } from '../../model/channel/retention.ts';
import { FIRST_NUMBER, initialSettings, type Role, roles } from '../../model/permission/permission.ts';
import { ANY_HOST, hostsWrite } from '../../model/realm/hosts.ts';
import { defaultRealmSettings, type Realm, type RealmSettings } from '../../model/realm/realm.ts';
import { newSubscriptionSettings, subscriptionWrites } from '../../model/subscription/settings.ts';
import { digestOf, newApiKey } from '../../model/user/api-key.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doCreateUser } from '../account/create.ts';
import type { KeyedAccount } from '../account/operator.ts';
import { doCreateChannel } from '../channel-edit/create.ts';

/** A new organization. */
export interface NewOrganization {
  /** Without one it is the default organization. */
  readonly host?: string | undefined;
  /** It also answers at all unregistered hosts. */
  readonly isDefault?: boolean;
  readonly name: string;
  readonly uuid: string;
  /** Milliseconds. */
  readonly now: number;
  readonly settings?: Partial<RealmSettings>;
}

/** Name and address of the system bot, which sends notices. */
export const NOTICES = { fullName: 'Notification Bot', email: 'notification-bot@parlance.invalid' };

/**
 * Creates an organization with only the system bot. Returns the realm id, the hosts and the writes. The caller adds
 * the first users, and the counter with the last number used.
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
    // No key has this digest, so nobody can use the bot.
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

/** The counter of a new log, at the last number that its creation used. */
export const counterWrite = (realm: string, last: number): Write => ({
  put: key('counter', { realm }),
  item: { seq: last },
});

/** The checkpoint of a new log. Its creation has no events, so no number is missing below it. */
export const floorWrite = (realm: string, last: number): Write => ({
  put: key('solid', { realm }),
  item: { seq: last },
});

/** One of the first users. */
export interface Founder {
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  /** The address of the owner, if it is a bot. */
  readonly ownedBy?: string;
}

/** One of the first channels, which is public. */
export interface FirstChannel {
  readonly name: string;
  /** Plain text without Markdown. */
  readonly description: string;
  readonly isDefault: boolean;
}

/** The first channel of every organization. */
export const GENERAL: FirstChannel = {
  name: 'general',
  description: 'For everyone and everything.',
  isDefault: true,
};

/** A planned organization, and the transaction that creates it. */
export interface Founding {
  readonly realm: string;
  readonly hosts: readonly string[];
  /** The accounts in the order of the founders, with their keys. */
  readonly accounts: readonly KeyedAccount[];
  /** In the order of the channels. */
  readonly channelIds: readonly number[];
  readonly writes: readonly Write[];
}

/**
 * Plans an organization with its first users and channels. Everyone is subscribed to all channels, guests to the
 * default ones. The keys are made here, so that the caller can store them first; the table gets their digests. One
 * transaction has room for a handful of users and channels.
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
      groups: initialSettings(channelGroupRules),
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
