import type { MessageHead } from '../../log/message.ts';
import { loadMessages, MAX_MESSAGES_AT_ONCE, type RangeReader } from '../../model/message/load.ts';
import { topicConversation } from '../../model/message/message.ts';
import type { Reader } from '../reader/reader.ts';
import type { MessageStream, PlaceStream } from '../reader/streams.ts';
import type { IndexWish, SearchIndex } from '../search/candidates.ts';
import type { Hit } from '../search/segment.ts';
import type { Term } from './narrow.ts';
import { headTest } from './narrow-match.ts';

/** A search in the index: for messages with these words, under conditions that the index may know. */
export interface IndexSearch {
  readonly index: SearchIndex;
  readonly words: readonly string[];
  readonly terms: readonly Term[];
}

/** Whether the index knows enough of a message for a condition. */
export const isIndexed = ({ kind, ...term }: Term): boolean =>
  kind === 'channel' ||
  kind === 'topic' ||
  kind === 'dm' ||
  kind === 'dmIncluding' ||
  kind === 'groupDmIncluding' ||
  kind === 'sender' ||
  kind === 'id' ||
  ('state' in term && term.state === 'dm');

/** The test of a condition by what the index knows. It has no topics, but their conversations. */
function hitTest(term: Term): (hit: Hit) => boolean {
  if (term.kind === 'topic') {
    return ({ channelId, conversation }) =>
      channelId !== undefined && conversation === topicConversation(channelId, term.topic);
  }
  const test = headTest(term);
  return (hit) => test?.({ ...hit, readBySender: false }) === true;
}

/**
 * The messages that the index finds, in the places that the reader has access to. They are read whole and kept, since
 * their present texts decide. `streams` are those of the narrow without its search.
 */
export function searched(
  reader: Reader,
  { index, words, terms }: IndexSearch,
  streams: () => Promise<readonly (MessageStream | PlaceStream)[]>,
): RangeReader {
  const tests = terms.filter(isIndexed).map((term) => ({ test: hitTest(term), negated: term.negated }));
  return async (range) => {
    const above = readableFrom(await streams());
    const wish: IndexWish = {
      words,
      place: (place) => above(place) !== undefined,
      hit: (hit) =>
        hit.id > (above(hit) ?? Number.POSITIVE_INFINITY) &&
        tests.every(({ test, negated }) => test(hit) !== negated),
    };
    const limit = Math.min(range.limit, MAX_MESSAGES_AT_ONCE);
    const { found, until } = await index.candidates(wish, { ...range, limit });
    const ids = found.map(({ id }) => id);
    // With them is read what showing them takes, so that it needs no further round trip.
    const [messages] = await Promise.all([
      loadMessages(reader.table, reader.realm, ids),
      ids.length > 0 && reader.stars(Math.min(...ids), Math.max(...ids)),
      ...ids.map((id) => reader.reactions(id)),
      ...found.map((each) => 'conversation' in each && reader.loadContext(each)),
    ]);
    // What moved since it was indexed is judged by its present place.
    const heads = messages.filter(wish.hit);
    reader.keep(heads);
    return { heads, until };
  };
}

/** From which id on the reader has access to the messages of a place; undefined if not at all. */
function readableFrom(
  streams: readonly (MessageStream | PlaceStream)[],
): (place: Pick<MessageHead, 'conversation' | 'channelId'>) => number | undefined {
  const conversations = new Map<string, number>();
  const channels = new Map<number, number>();
  for (const stream of streams) {
    if (!('place' in stream)) continue;
    const { conversation, channelId } = stream.place;
    if (conversation !== undefined) conversations.set(conversation, stream.above);
    else channels.set(channelId, stream.above);
  }
  return ({ conversation, channelId }) =>
    conversations.get(conversation) ?? (channelId === undefined ? undefined : channels.get(channelId));
}
