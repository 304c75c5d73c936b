import { createHash } from 'node:crypto';
import { folded } from '../../kernel/folding.ts';
import { conversationOf } from '../../table/keys.ts';
import { uniqueSorted } from '../../unique.ts';

/** People beyond this many make the name of their conversation a digest: keys have a limit. */
const LISTED = 40;

/** The conversation that a topic of a channel is, whatever the case of its spelling. */
export const topicConversation = (channelId: number, topic: string): string =>
  conversationOf.topic(channelId, folded(topic));

/** The channel of a conversation that is a topic. */
export function channelOfConversation(conversation: string): number | undefined {
  const channelId = /^topic:(\d+):/.exec(conversation)?.[1];
  return channelId === undefined ? undefined : Number(channelId);
}

/** Whether two places are one topic, perhaps in other spellings. */
export const isSameTopic = (
  one: { readonly channelId: number; readonly topic: string },
  other: { readonly channelId: number; readonly topic: string },
): boolean => one.channelId === other.channelId && folded(one.topic) === folded(other.topic);

/** The conversation of these people. The order and repetitions do not matter. */
export function directConversation(people: readonly number[]): string {
  const ids = uniqueSorted(people).join(',');
  if (people.length <= LISTED) return conversationOf.direct(ids);
  return conversationOf.direct(createHash('sha256').update(ids).digest('hex'));
}
