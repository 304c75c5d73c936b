import type { Message } from '../../log/message.ts';

/** What a message is to one person, as far as its flags need it. */
export interface Viewer {
  readonly userId: number;
  /** Every group they are in, however deep (`Standing.groups`). */
  readonly groups: ReadonlySet<number>;
  /** It came to them: a direct message, or one of a channel that they were subscribed to at the time. */
  readonly received: boolean;
  /** They sent to the topic or reacted in it. Matters only where the message has a topic wildcard. */
  readonly takesPart: boolean;
  readonly read: boolean;
  readonly starred: boolean;
}

/**
 * The flags of a message for one person, for fetches and for events alike (wire facts 14.3). What did not come to
 * them is `historical`, counts as read, and addressed nobody.
 */
export function messageFlags(message: Pick<Message, 'senderId' | 'mentions'>, viewer: Viewer): string[] {
  const { received, read, starred } = viewer;
  const flags: string[] = [];
  if (read || !received) flags.push('read');
  if (starred) flags.push('starred');
  if (!received) return [...flags, 'historical'];
  const { mentions } = message;
  const byChannel = mentions?.channel === true;
  const byTopic = mentions?.topic === true && (viewer.takesPart || message.senderId === viewer.userId);
  if (isMentioned(message, viewer)) flags.push('mentioned');
  if (byChannel) flags.push('stream_wildcard_mentioned');
  if (byTopic) flags.push('topic_wildcard_mentioned');
  // The one flag of both wildcards, for clients that know no other.
  if (byChannel || byTopic) flags.push('wildcard_mentioned');
  return flags;
}

/** Whether the message mentions this person by name or by one of their groups. */
export const isMentioned = (
  { mentions }: Pick<Message, 'mentions'>,
  { userId, groups }: Pick<Viewer, 'userId' | 'groups'>,
): boolean =>
  mentions?.users?.includes(userId) === true || mentions?.groups?.some((id) => groups.has(id)) === true;
