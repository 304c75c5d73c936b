import { HOME, noGroups, realmIdFor } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import { type Channel, channelGroupRules } from '../../model/channel/channel.ts';
import { doSetRealmRetention } from '../../model/channel/retention.ts';
import { FIRST_NUMBER, initialSettings, type Role, roles } from '../../model/permission/permission.ts';
import { ANY_HOST, hostsWrite } from '../../model/realm/hosts.ts';
import { defaultRealmSettings, type Realm, type RealmSettings } from '../../model/realm/realm.ts';
import { newSubscriptionSettings, subscriptionWrites } from '../../model/subscription/settings.ts';
import { NO_KEY, newApiKey } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doCreateUser, newUser } from '../account/create.ts';
import type { KeyedAccount } from '../account/operator.ts';
import { doCreateChannel } from '../channel-edit/create.ts';

/** A new organization. */
export interface NewOrganization {
  /** Without one it is the default organization. */
  readonly host?: string | undefined;
  /** It also answers at all unregistered hosts. */
  readonly isDefault?: boolean;
  readonly name: string;
  readonly settings?: Partial<RealmSettings>;
}

/** Name and address of the system bot, which sends notices. */
export const NOTICES = { fullName: 'Notification Bot', email: 'notification-bot@parlance.invalid' };

/** Creates an organization with only the system bot. `now` is in milliseconds. */
function doCreateOrganization(
  { host, isDefault, name, settings }: NewOrganization,
  noticeBotId: number,
  uuid: string,
  now: number,
) {
  const isHome = isDefault === true || host === undefined;
  const realm = isHome ? HOME : realmIdFor(host);
  const hosts = [...(isHome ? [ANY_HOST] : []), ...(host === undefined ? [] : [host])];
  const item: Realm = {
    uuid,
    name,
    description: '',
    stringId: isHome ? '' : (host.split('.')[0] ?? ''),
    created: Math.floor(now / 1000),
    deactivated: false,
    version: 1,
    noticeBotId,
    settings: { ...defaultRealmSettings, ...settings },
  };
  const bot = { ...newUser({ ...NOTICES, role: roles.member }, now), isBot: true };
  const writes: Write[] = [
    ...hosts.map((each) => ({ put: key('host', { host: each }), item: { realm }, when: { absent: true } })),
    hostsWrite({ realm, version: 0 }, hosts),
    { put: key('realm', { realm }), item: { ...item }, when: { absent: true } },
    { put: key('groupGraph', { realm }), item: { ...noGroups } },
    ...doSetRealmRetention(realm, { after: item.settings.message_retention_days }, item.version),
    // Nobody can use the bot.
    ...doCreateUser(realm, noticeBotId, bot, NO_KEY).writes,
  ];
  return { realm, hosts, writes };
}

/** One of the first users. */
export interface Founder {
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  /** The address of the owner, if it is a bot. */
  readonly ownedBy?: string;
  /** Their key is not stored, so it does not work: they get in another way. */
  readonly isKeyless?: boolean;
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

/**
 * Plans an organization with its first users and channels. Everyone is subscribed to all channels, guests to the
 * default ones. The keys are made here, so that the caller can store them first; the table gets their digests. One
 * transaction has room for a handful of users and channels. Returns the accounts with their keys and the ids of the
 * channels, in the order given, and the writes of the transaction.
 */
export function planFounding(
  outside: Pick<Outside, 'now' | 'uuid' | 'randomBytes'>,
  given: NewOrganization,
  founders: readonly Founder[],
  channels: readonly FirstChannel[],
) {
  const now = outside.now();
  let next = FIRST_NUMBER;
  const { realm, hosts, writes } = doCreateOrganization(given, next++, outside.uuid(), now);
  const add = (more: readonly Write[]): void => void writes.push(...more);

  const accounts = founders.map(
    ({ email }): KeyedAccount => ({ email, apiKey: newApiKey(outside), userId: next++ }),
  );
  const idOf = (address: string): number =>
    accounts.find(({ email }) => email === address)?.userId ?? Number.NaN;
  founders.forEach(({ email, fullName, role, ownedBy, isKeyless }, i) => {
    const { userId, apiKey } = accounts[i] as KeyedAccount;
    const bots = founders.filter((founder) => founder.ownedBy === email);
    const user = {
      ...newUser({ email, fullName, role }, now),
      isBot: ownedBy !== undefined,
      ...(ownedBy !== undefined && { botType: 1 as const, ownerId: idOf(ownedBy) }),
      ...(bots.length > 0 && { bots: new Set(bots.map((bot) => idOf(bot.email))) }),
    };
    add(doCreateUser(realm, userId, user, isKeyless ? NO_KEY : digestOf(apiKey)).writes);
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
  // The log begins after the last number used here. No event is missing below it.
  add([
    { put: key('counter', { realm }), item: { seq: next } },
    { put: key('solid', { realm }), item: { seq: next } },
    { put: key('listVersions', { realm }), item: { user: next, profile: next } },
  ]);
  return { realm, hosts, accounts, channelIds, writes };
}
