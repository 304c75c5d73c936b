import type { MessageHead } from '../../log/message.ts';
import type { ChannelWithSubscription } from '../../model/channel/access.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { readConversationOf } from '../../model/message/message.ts';
import type { ReadState } from '../../model/message/read-state.ts';
import type { Reader } from './reader.ts';

/** What decides, for all messages of a conversation, who may read them and which of them are unread. */
export interface Place {
  readonly channel: ChannelWithSubscription | undefined;
  readonly subscription: Subscription | undefined;
  readonly state: ReadState | undefined;
}

type Located = Pick<MessageHead, 'conversation' | 'readIn' | 'channelId'>;

/** Messages with the same name have the same place. No conversation has a line break in it. */
const nameOf = (head: Located): string => `${readConversationOf(head)}\n${head.conversation}`;

/**
 * Loads the places of messages, each once, so that hundreds of messages are judged without a promise for each. Returns
 * which place a message has. No round trip if the context of the messages is loaded.
 */
export async function loadPlaces(
  reader: Reader,
  heads: readonly Located[],
): Promise<(head: Located) => Place> {
  const loaded = await Promise.all(
    oneOfEach(heads, nameOf).map(async (head) => [nameOf(head), await loadPlace(reader, head)] as const),
  );
  const places = new Map(loaded);
  return (head) => places.get(nameOf(head)) as Place;
}

async function loadPlace(reader: Reader, head: Located): Promise<Place> {
  const { channelId } = head;
  const [channel, state] = await Promise.all([
    channelId === undefined ? undefined : reader.channel(channelId),
    reader.stateFor(head),
  ]);
  return { channel, subscription: channel?.subscription, state };
}

/** One of those with the same name, in order. */
export function oneOfEach<T>(all: readonly T[], nameOf: (one: T) => string): T[] {
  const first = new Map<string, T>();
  for (const one of all) {
    const name = nameOf(one);
    if (!first.has(name)) first.set(name, one);
  }
  return [...first.values()];
}
