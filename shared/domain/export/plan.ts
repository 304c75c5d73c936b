import { stableHead } from '../../log/checkpoint.ts';
import type { Log } from '../../log/log.ts';
import type { Message } from '../../log/message.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { loadSubscriberIds } from '../../model/subscription/object.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { loadProfileFields, type ProfileField } from '../profile/field.ts';
import type { ExportType } from './realm-export.ts';
import { loadConsents } from './request.ts';

/**
 * What an archive contains. It is decided once, at the start: consent and privacy may change while the archive is written,
 * and the archive must be consistent. Stored as an S3 object, since it may be large.
 */
export interface ExportPlan {
  /** The last log number of the export. Later messages are left out. */
  readonly until: number;
  /** The archive contains everything, also private data. */
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
  const consents = type === 'full_with_consent' ? await loadConsents(table, realm) : [];
  const people = new Set(consents.flatMap(({ user_id, consented }) => (consented ? user_id : [])));
  const channels: [number, number][] = [];
  for (const channel of await table.all('channel', { realm })) {
    const since = channel.isPrivate ? await readableSince(table, realm, channel, people) : 0;
    if (since !== undefined) channels.push([channel.channelId, since]);
  }
  return { ...base, channels, people: [...people] };
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
  if (people.size === 0) return undefined;
  const among = (await loadSubscriberIds(table, realm, channelId)).filter((userId) => people.has(userId));
  if (among.length === 0) return undefined;
  if (historyPublicToSubscribers) return 0;
  const keys = among.map((userId) => key('subscription', { realm, userId, channelId }));
  const since = (await table.getMany(keys)).map((subscription) => subscription.since);
  return since.length === 0 ? undefined : Math.min(...since);
}
