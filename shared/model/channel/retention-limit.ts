import { key } from '../../table/keys.ts';
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
