import type { Write } from '../../table/write.ts';
import { type Channel, defaultChannelGroups } from '../channel/channel.ts';
import { doCreateChannel } from '../channel/channel-create.ts';
import { FIRST_NUMBER, roles } from '../group/system-group.ts';
import type { Outside } from '../outside.ts';
import { newSubscriptionSettings, subscriptionWrites } from '../subscription/subscribe.ts';
import { digestOf, newApiKey } from '../user/api-key.ts';
import { doCreateUser } from '../user/user-create.ts';
import { counterWrite, doCreateOrganization, floorWrite, type NewOrganization } from './organization.ts';

/** An account of the demo organization, with the key that is told this once. */
export interface DemoAccount {
  readonly name: DemoName;
  readonly email: string;
  readonly apiKey: string;
  readonly userId: number;
}

const people = [
  { name: 'owner', fullName: 'Olive Owner', role: roles.owner },
  { name: 'admin', fullName: 'Adam Admin', role: roles.administrator },
  { name: 'moderator', fullName: 'Mona Moderator', role: roles.moderator },
  { name: 'member', fullName: 'Max Member', role: roles.member },
  { name: 'guest', fullName: 'Gus Guest', role: roles.guest },
  { name: 'bot', fullName: 'Busy Bot', role: roles.member, ownedBy: 'member' },
] as const;

export type DemoName = (typeof people)[number]['name'];

const channels = [
  { name: 'general', description: 'For everyone and everything.', isDefault: true },
  { name: 'random', description: 'What fits nowhere else.', isDefault: false },
] as const;

/** The demo organization: its realm, its accounts and its channels' ids. */
export interface Demo {
  readonly realm: string;
  readonly accounts: readonly DemoAccount[];
  readonly channels: Readonly<Record<(typeof channels)[number]['name'], number>>;
}

/**
 * A demo organization with one account of each role, a bot of the member's, and two channels to which all of them
 * are subscribed (guests only to the default one). One transaction makes all of it or nothing; the keys are made
 * before, so that the caller can keep them safe first.
 */
export function planDemo(
  outside: Outside,
  given: Omit<NewOrganization, 'now' | 'uuid'>,
): { readonly demo: Demo; readonly create: () => Promise<'created' | 'exists'> } {
  const now = outside.now();
  let next = FIRST_NUMBER;
  const { realm, writes } = doCreateOrganization({ ...given, now, uuid: outside.uuid() }, next++);
  const add = (more: readonly Write[]): void => void writes.push(...more);

  const accounts: DemoAccount[] = [];
  const first = next;
  const idOf = (name: string): number => first + people.findIndex((person) => person.name === name);
  for (const person of people) {
    const account = {
      name: person.name,
      email: `${person.name}@example.com`,
      apiKey: newApiKey(outside),
      userId: next++,
    };
    const ownerId = 'ownedBy' in person ? idOf(person.ownedBy) : undefined;
    accounts.push(account);
    const bots = people.filter((bot) => 'ownedBy' in bot && bot.ownedBy === person.name);
    const user = {
      email: account.email,
      fullName: person.fullName,
      role: person.role,
      isBot: ownerId !== undefined,
      ...(ownerId !== undefined && { botType: 1 as const, ownerId }),
      ...(bots.length > 0 && { bots: new Set(bots.map(({ name }) => idOf(name))) }),
      dateJoined: new Date(now).toISOString(),
      timezone: '',
    };
    add(doCreateUser(realm, account.userId, user, digestOf(account.apiKey)).writes);
  }

  const ids: Record<string, number> = {};
  for (const { name, description, isDefault } of channels) {
    const channelId = next++;
    ids[name] = channelId;
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
    const subscribers = accounts.filter((account) => isDefault || account.name !== 'guest');
    add(doCreateChannel(realm, channel, subscribers.length).writes);
    for (const { userId } of subscribers) {
      const settings = newSubscriptionSettings(channelId);
      const since = { since: next, readFloor: next };
      add(subscriptionWrites(realm, { ...settings, userId, channelId, ...since }));
    }
  }
  add([counterWrite(realm, next), floorWrite(realm, next)]);
  const demo: Demo = { realm, accounts, channels: ids as Demo['channels'] };
  return { demo, create: () => createOnce(outside, writes) };
}

async function createOnce(outside: Outside, writes: readonly Write[]): Promise<'created' | 'exists'> {
  const token = outside.uuid();
  for (;;) {
    const outcome = await outside.table.transact(writes, token);
    if (outcome.state === 'done') return 'created';
    if (outcome.state === 'refused') return 'exists';
    await outside.wait(100);
  }
}
