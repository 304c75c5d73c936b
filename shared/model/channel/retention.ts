import { type Key, key } from '../../table/keys.ts';
import { ignoreRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import type { Realm } from '../realm/realm.ts';
import type { Channel } from './channel.ts';

/** A limited retention of messages. */
export interface RetentionLimit {
  readonly days: number;
  /** Checks that fail a transaction if the limit was changed meanwhile. */
  readonly snapshot: readonly Write[];
}

/** Whether this is a limit: undefined and -1 are not. */
const isLimit = (days: number | undefined): days is number => days !== undefined && days > 0;

/** The limit of direct messages, and of channels without their own. */
export function limitOfOrganization(
  realm: string,
  organization: Realm | undefined,
): RetentionLimit | undefined {
  const days = organization?.settings.message_retention_days;
  if (!isLimit(days)) return undefined;
  const when = hasVersion(organization?.version);
  return { days, snapshot: [{ check: key('realm', { realm }), when }] };
}

/** The limit of a channel (wire facts 4.4): its own, -1 for unlimited, otherwise the organization's. */
export function limitOfChannel(
  realm: string,
  organization: Realm | undefined,
  channel: Channel | undefined,
): RetentionLimit | undefined {
  if (channel === undefined) return undefined;
  const { channelId, messageRetentionDays: own } = channel;
  const snapshot: Write = {
    check: key('channel', { realm, channelId }),
    when: { equals: { messageRetentionDays: own } },
  };
  if (own === undefined) {
    const limit = limitOfOrganization(realm, organization);
    return limit && { ...limit, snapshot: [snapshot, ...limit.snapshot] };
  }
  return isLimit(own) ? { days: own, snapshot: [snapshot] } : undefined;
}

/** When (ms) a message sent at `timestamp` (s) is due. Timestamps are cut to seconds, so it is the end of that second. */
export const dueAt = (timestamp: number, { days }: RetentionLimit): number =>
  (timestamp + days * 86_400 + 1) * 1000;

/**
 * An organization or channel with a limited retention. The worker reads the list of these, so organizations that keep
 * everything cost nothing.
 */
export interface RetentionEntry {
  readonly realm: string;
  /** Absent for the organization itself. */
  readonly channelId?: number;
  /** The version of the organization or channel that set the limit. Progress of an older limit does not count. */
  readonly version: number;
  /** When (ms) there may be something to remove. */
  readonly due: number;
  /** For an organization: all direct messages up to this log number are removed. */
  readonly gone?: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    retention: RetentionEntry;
    channelRetention: RetentionEntry;
  }
}

type Owner = Pick<RetentionEntry, 'realm' | 'channelId'>;

const entryKey = ({ realm, channelId }: Owner): Key<'retention' | 'channelRetention'> =>
  channelId === undefined ? key('retention', { realm }) : key('channelRetention', { realm, channelId });

function doSetRetention(
  owner: Owner,
  before: number | undefined,
  after: number | undefined,
  version: number,
): Write[] {
  if (before === after) return [];
  // An update, because `gone` stays true.
  if (isLimit(after)) return [{ update: entryKey(owner), change: { set: { ...owner, version, due: 0 } } }];
  return isLimit(before) ? [{ delete: entryKey(owner) }] : [];
}

/** Updates the list when a channel is created or its retention changes, in the same transaction. */
export const doSetChannelRetention = (
  realm: string,
  { channelId, messageRetentionDays, version }: Channel,
  before: number | undefined,
): Write[] => doSetRetention({ realm, channelId }, before, messageRetentionDays, version);

/** Updates the list when an organization is created or its retention changes, with its new `version`. */
export const doSetRealmRetention = (
  realm: string,
  days: { readonly before?: number; readonly after: number },
  version: number,
): Write[] => doSetRetention({ realm }, days.before, days.after, version);

/** The list, of all organizations. */
export const loadRetentionList = (table: Table): Promise<RetentionEntry[]> =>
  table.all(['retention', 'channelRetention'], {}, { eventually: true });

/** Records progress, unless the limit was changed meanwhile: then the worker starts over. */
export async function recordProgress(
  table: Table,
  entry: RetentionEntry,
  progress: Partial<Pick<RetentionEntry, 'due' | 'gone'>>,
): Promise<void> {
  const when = hasVersion(entry.version);
  await table.update(entryKey(entry), { set: progress }, when).catch(ignoreRefused);
}
