import type { Outside } from '../../kernel/outside.ts';
import { type Channel, defaultChannelGroups } from '../../model/channel/channel.ts';
import { FIRST_NUMBER, type Role, roles } from '../../model/permission/system-group.ts';
import { newSubscriptionSettings, subscriptionWrites } from '../../model/subscription/settings.ts';
import { digestOf, newApiKey } from '../../model/user/api-key.ts';
import type { Write } from '../../table/write.ts';
import type { KeyedAccount } from '../account/operator-accounts.ts';
import { doCreateUser } from '../account/user-create.ts';
import { doCreateChannel } from '../channel-edit/create.ts';
import { counterWrite, doCreateOrganization, floorWrite, type NewOrganization } from './organization.ts';

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
