import { stableHead } from '../../log/checkpoint.ts';
import type { Log } from '../../log/log.ts';
import type { Message } from '../../log/message.ts';
import type { Channel } from '../../model/channel/channel.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { loadProfileFields, type ProfileField } from '../profile/field.ts';
import { isAsked } from './export-consent.ts';
import { consentOf } from './export-request.ts';
import type { ExportType } from './realm-export.ts';

/**
 * What an archive contains, decided on once, when it is begun: who consents and what is private may change while it is
 * written, and it must not be half of the one and half of the other. Kept as an object, since it may be large.
 */
export interface ExportPlan {
  /** The last number of the log: nothing that was said later is in it. */
  readonly until: number;
  /** Everything is in it, whoever may see it. */
  readonly everything: boolean;
  /** Otherwise: these channels, each with the number behind which its messages are. */
  readonly channels: readonly (readonly [channelId: number, since: number])[];
  /** And the direct conversations of these people. */
  readonly people: readonly number[];
  /** The custom profile fields, as they were. */
  readonly fields: readonly ProfileField[];
}

/** What an archive contains, for questions. */
export interface Scope {
  readonly channel: (channelId: number) => boolean;
  readonly message: (message: Pick<Message, 'id' | 'channelId' | 'people'>) => boolean;
}

export function scopeOf(plan: ExportPlan): Scope {
  if (plan.everything) return { channel: () => true, message: () => true };
  const channels = new Map(plan.channels);
  const people = new Set(plan.people);
  return {
    channel: (channelId) => channels.has(channelId),
    message: ({ id, channelId, people: of = [] }) =>
      channelId === undefined
        ? of.some((userId) => people.has(userId))
        : id > (channels.get(channelId) ?? Number.POSITIVE_INFINITY),
  };
}

/**
 * Decides what an export of this type contains (specification 4.8): public channels in any case; with consent, what
 * those who consent could read of the private channels that they are subscribed to, and their direct conversations;
 * without consent, everything.
 */
export async function makePlan(log: Log, type: ExportType): Promise<ExportPlan> {
  const { table, realm } = log;
  const [{ seq: until }, { fields }] = await Promise.all([stableHead(log), loadProfileFields(table, realm)]);
  const base = { until, everything: type === 'full_without_consent', channels: [], people: [], fields };
  if (base.everything) return base;
  const people = type === 'full_with_consent' ? await consenting(table, realm) : new Set<number>();
  const channels: [number, number][] = [];
  for await (const page of channelsFrom(table, realm, 0)) {
    for (const channel of page) {
      const since = channel.isPrivate ? await readableSince(table, realm, channel, people) : 0;
      if (since !== undefined) channels.push([channel.channelId, since]);
    }
  }
  return { ...base, channels, people: [...people] };
}

/** Things that are read at once. */
const PAGE = 500;

/** Part of a list whose things are in the order of their numbers, and where the next part begins. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: number | undefined;
}

/** A page that was read of such a list, with where the next one begins. */
export function partOf<T>(
  { items, more }: { readonly items: readonly T[]; readonly more: boolean },
  idOf: (item: T) => number,
): Page<T> {
  const last = items.at(-1);
  return { items, next: more && last !== undefined ? idOf(last) + 1 : undefined };
}

/** Channels, archived ones too, in the order of their ids. */
export const readChannels = async (
  table: Table,
  realm: string,
  from: number,
  limit = PAGE,
): Promise<Page<Channel>> =>
  partOf(
    await table.page('channel', { realm }, { from: { channelId: from }, limit }),
    ({ channelId }) => channelId,
  );

/** Subscribers of a channel, in the order of their ids. */
export const readSubscribers = async (
  table: Table,
  realm: string,
  channelId: number,
  from: number,
  limit = PAGE,
): Promise<Page<{ readonly userId: number }>> =>
  partOf(
    await table.page('subscriber', { realm, channelId }, { from: { userId: from }, limit }),
    ({ userId }) => userId,
  );

/** Users, in the order of their ids. */
export const readUsers = async (
  table: Table,
  realm: string,
  from: number,
  limit = PAGE,
): Promise<Page<User>> =>
  partOf(await table.page('user', { realm }, { from: { userId: from }, limit }), ({ userId }) => userId);

async function* channelsFrom(table: Table, realm: string, from: number): AsyncGenerator<readonly Channel[]> {
  for (let next: number | undefined = from; next !== undefined; ) {
    const page: Page<Channel> = await readChannels(table, realm, next);
    yield page.items;
    next = page.next;
  }
}

async function consenting(table: Table, realm: string): Promise<ReadonlySet<number>> {
  const people = new Set<number>();
  for (let next: number | undefined = 0; next !== undefined; ) {
    const page: Page<User> = await readUsers(table, realm, next);
    const asked = page.items.filter(isAsked).map(({ userId }) => consentOf(table, realm, userId));
    for (const { user_id, consented } of await Promise.all(asked)) if (consented) people.add(user_id);
    next = page.next;
  }
  return people;
}

/**
 * The number behind which somebody of these people can read a private channel, since they are subscribed to it; where
 * its history is protected, the earliest of their subscriptions. Undefined where nobody of them is.
 */
async function readableSince(
  table: Table,
  realm: string,
  { channelId, historyPublicToSubscribers }: Channel,
  people: ReadonlySet<number>,
): Promise<number | undefined> {
  let since: number | undefined;
  for (let next: number | undefined = people.size === 0 ? undefined : 0; next !== undefined; ) {
    const page: Page<{ readonly userId: number }> = await readSubscribers(table, realm, channelId, next);
    const among = page.items.filter(({ userId }) => people.has(userId));
    if (among.length > 0 && historyPublicToSubscribers) return 0;
    const subscriptions = await table.getMany(
      among.map(({ userId }) => key('subscription', { realm, userId, channelId })),
    );
    for (const one of subscriptions) since = Math.min(one.since, since ?? one.since);
    next = page.next;
  }
  return since;
}
