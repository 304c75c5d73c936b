import type { Outside } from '../../kernel/outside.ts';
import type { Channel } from '../../model/channel/channel.ts';
import type { Group } from '../../model/group/group.ts';
import { Reader } from '../reader/reader.ts';

/**
 * What the state probably rests on, read before the cursor of the queue is fixed. The state may not be made of it
 * (DESIGN 5, rule 4): it is read again after that. But with that travels what could only be read behind it, since
 * it is known by then where to look; what has come to be in those milliseconds costs one more round trip.
 */
export interface Hints {
  /** What the caller has to do with channels and conversations, and what they have read. */
  readonly reader: Reader;
  /** All channels, where their subscribers are asked for. */
  readonly channels: readonly Channel[];
  /** All named groups, where their members are asked for. */
  readonly groups: readonly Group[];
}

/** Reads the hints for the state of these types, or of all. One round trip. */
export async function loadHints(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  userId: number,
  types: ReadonlySet<string> | undefined,
  includeSubscribers: boolean,
): Promise<Hints> {
  const wants = (type: string): boolean => types === undefined || types.has(type);
  const { table } = outside;
  const reader = new Reader(outside, realm, userId);
  const lists = wants('subscription') && includeSubscribers;
  const unread = wants('update_message_flags');
  const people = ['realm_user', 'presence', 'user_status'].some(wants);
  const [channels, groups] = await Promise.all([
    lists ? table.all('channel', { realm }) : [],
    wants('realm_user_groups') ? table.all('group', { realm }) : [],
    (lists || unread || people) && reader.subscriptions(),
    (unread || people || wants('recent_private_conversations')) && reader.directMemberships(),
    unread && reader.states(),
    unread && reader.topicPolicies(),
  ]);
  return { reader, channels, groups };
}
