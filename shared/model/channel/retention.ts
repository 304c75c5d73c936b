import { type Key, key } from '../../table/keys.ts';
import { isRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { Realm } from '../realm/realm.ts';
import type { Channel } from './channel.ts';

/** For how long messages are kept, where that is limited at all. */
export interface Limit {
  readonly days: number;
  /** Checks by which a transaction rests on this limit: where somebody changed it meanwhile, they fail. */
  readonly snapshot: readonly Write[];
}

/** Whether so many days are a limit: none and -1 are not. */
export const isLimit = (days: number | undefined): days is number => days !== undefined && days > 0;

/** The limit of direct messages, and of channels that have none of their own. */
export function limitOfOrganization(realm: string, organization: Realm | undefined): Limit | undefined {
  const days = organization?.settings.message_retention_days;
  if (!isLimit(days)) return undefined;
  const when = { equals: { version: organization?.version } };
  return { days, snapshot: [{ check: key('realm', { realm }), when }] };
}

/** The limit of a channel (wire facts 4.4): its own, -1 for none, or as the organization says. */
export function limitOfChannel(
  realm: string,
  organization: Realm | undefined,
  channel: Channel | undefined,
): Limit | undefined {
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

/**
 * When (ms) a message that was sent in this second of time has had its days. The whole of that second has then, since
 * what is kept of its time is cut to seconds.
 */
export const dueAt = (timestamp: number, { days }: Limit): number => (timestamp + days * 86_400 + 1) * 1000;

/**
 * What has a limited retention: an organization, or a channel that has one of its own. The list of these is all that
 * the worker looks at, so that organizations that keep everything cost nothing.
 */
export interface Limited {
  readonly realm: string;
  /** The channel; absent for the organization. */
  readonly channelId?: number;
  /** The version of the organization or channel that set the limit: what is noted here must not outlive it. */
  readonly version: number;
  /** When (ms) there may be something to remove. */
  readonly due: number;
  /** Of an organization: no direct message up to this number of the log is left. */
  readonly gone?: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    retention: Limited;
    channelRetention: Limited;
  }
}

const limitedKey = ({
  realm,
  channelId,
}: Pick<Limited, 'realm' | 'channelId'>): Key<'retention' | 'channelRetention'> =>
  channelId === undefined ? key('retention', { realm }) : key('channelRetention', { realm, channelId });

/** Puts what changed its retention onto the list, to be looked at soon, or takes it off. */
function doLimit(
  place: Pick<Limited, 'realm' | 'channelId'>,
  before: number | undefined,
  after: number | undefined,
  version: number,
): Write[] {
  if (before === after) return [];
  // An update, since how far it had come stays true.
  if (isLimit(after)) {
    return [{ update: limitedKey(place), change: { set: { ...place, version, due: 0 } } }];
  }
  return isLimit(before) ? [{ delete: limitedKey(place) }] : [];
}

/** Keeps the list right when a channel is made or its retention changes, in the same transaction. */
export const doLimitChannel = (
  realm: string,
  { channelId, messageRetentionDays, version }: Channel,
  before: number | undefined,
): Write[] => doLimit({ realm, channelId }, before, messageRetentionDays, version);

/**
 * Keeps the list right when an organization is made or its `message_retention_days` changes, in the same transaction
 * as the new `version` of the organization.
 */
export const doLimitOrganization = (
  realm: string,
  days: { readonly before?: number; readonly after: number },
  version: number,
): Write[] => doLimit({ realm }, days.before, days.after, version);

/** All that has a limit, of all organizations. */
export const loadLimited = (table: Table): Promise<Limited[]> =>
  table.all(['retention', 'channelRetention'], {}, { eventually: true });

/** Notes how far something has come, unless its limit was changed meanwhile: then it is looked at anew. */
export async function noteProgress(
  table: Table,
  limited: Limited,
  progress: Partial<Pick<Limited, 'due' | 'gone'>>,
): Promise<void> {
  try {
    await table.update(limitedKey(limited), { set: progress }, { equals: { version: limited.version } });
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
}
