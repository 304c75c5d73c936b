import { stableHead } from '../../log/checkpoint.ts';
import type { Log } from '../../log/log.ts';
import type { Message } from '../../log/message.ts';
import type { Channel } from '../../model/channel/channel.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { loadProfileFields, type ProfileField } from '../profile/field.ts';
import type { ExportType } from './realm-export.ts';
import { canConsent, consentOf } from './request.ts';

/**
 * What an archive contains. It is decided once, at the start: consent and privacy may change while the archive is written,
 * and the archive must be consistent. Stored as an S3 object, since it may be large.
 */
export interface ExportPlan {
  /** The last log number of the export. Later messages are left out. */
  readonly until: number;
  /** The archive contains everything, whoever may see it. */
  readonly everything: boolean;
  /** Otherwise: the exported channels. Only messages after `since` are exported. */
  readonly channels: readonly (readonly [channelId: number, since: number])[];
  /** Otherwise: the users whose direct messages are exported. */
  readonly people: readonly number[];
  /** The custom profile fields at the start. */
  readonly fields: readonly ProfileField[];
}

/** The plan as predicates. */
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
 * Plans an export of this type (specification 4.8). Public channels are always exported. `full_with_consent` adds the
 * private channels that consenting users can read, and their direct messages. `full_without_consent` exports everything.
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

/** Items of one page. */
const PAGE = 500;

/** A page of a list in id order, and the id at which the next page starts. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: number | undefined;
}

/** Makes a `Page` of what the table returned. */
export function partOf<T>(
  { items, more }: { readonly items: readonly T[]; readonly more: boolean },
  idOf: (item: T) => number,
): Page<T> {
  const last = items.at(-1);
  return { items, next: more && last !== undefined ? idOf(last) + 1 : undefined };
}

/** Channels in id order, including archived ones. */
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

/** Subscribers of a channel in id order. */
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

/** Users in id order. */
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
    const asked = page.items.filter(canConsent).map(({ userId }) => consentOf(table, realm, userId));
    for (const { user_id, consented } of await Promise.all(asked)) if (consented) people.add(user_id);
    next = page.next;
  }
  return people;
}

/**
 * The id after which any of these users can read a private channel. With protected history this is the earliest of their
 * subscriptions. Undefined if none of them is subscribed.
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
