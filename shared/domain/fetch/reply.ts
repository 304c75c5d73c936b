import type { Outside } from '../../kernel/outside.ts';
import { chunksOf } from '../../lists.ts';
import type { MessageHead } from '../../log/message.ts';
import { MAX_MESSAGES_AT_ONCE } from '../../model/message/load.ts';
import type { RenderOptions } from '../../model/message/object.ts';
import type { Caller } from '../../model/user/caller.ts';
import { saveFeedHint } from './feed-hint.ts';
import type { Fetch } from './fetch.ts';
import { addMatches } from './match-fields.ts';
import { type FoundWindow, WindowSearch } from './search.ts';
import { type FlaggedMessage, serializeMessages } from './serialize.ts';
import { isPersonal } from './source.ts';
import { byDistance, type Window } from './window.ts';

/** Bytes of the messages of one reply: Lambda limits the reply of a function to 6 MB. */
export const MAX_BYTES = 5_000_000;

/** The size of a part of the reply of a function, which is JSON inside JSON. */
export const bytesInReply = (part: object): number => Buffer.byteLength(JSON.stringify(JSON.stringify(part)));

/** The messages that fit into a reply, in order. `room`: bytes that are left; 0 if one did not fit. */
export async function serializeFitting(
  outside: Outside,
  caller: Caller,
  { reader, terms, viewOptions }: Fetch,
  heads: readonly MessageHead[],
  options: RenderOptions,
  room = MAX_BYTES,
): Promise<{ readonly messages: readonly FlaggedMessage[]; readonly room: number }> {
  const messages: FlaggedMessage[] = [];
  let left = room;
  const areStarred = viewOptions.source.kind === 'starred';
  for (const chunk of chunksOf(heads, MAX_MESSAGES_AT_ONCE)) {
    const serialized = await serializeMessages(outside, caller, reader, chunk, options, areStarred);
    for (const message of await addMatches(reader, terms, serialized)) {
      left -= bytesInReply(message);
      if (left < 0) return { messages, room: 0 };
      messages.push(message);
    }
  }
  return { messages, room: left };
}

/**
 * The reply with a window. Reads the texts and saves the feed hint while it makes sure of the anchor, so that neither
 * takes a round trip of its own. Does so again if the anchor turns out to be another message.
 */
export async function windowReply(
  outside: Outside,
  caller: Caller,
  fetch: Fetch,
  window: Window,
  options: RenderOptions,
) {
  const search = new WindowSearch(fetch, caller.standing, window);
  const reply = async (found: FoundWindow) => {
    const [made] = await Promise.all([
      foundReply(outside, caller, fetch, found, options),
      updateFeedHint(outside, fetch, window, found),
    ]);
    return made;
  };
  const settling = search.settleAnchor();
  // Awaited below, unless something else fails first.
  settling.catch(() => undefined);
  const cached = await search.findCached();
  const [expected, hasMoved] = await Promise.all([cached && reply(cached), settling]);
  return expected && !hasMoved ? expected : reply(await search.find());
}

async function updateFeedHint(
  outside: Outside,
  { reader, email, terms, viewOptions: { source, hint }, views }: Fetch,
  window: Window,
  { found_anchor, anchor }: FoundWindow,
): Promise<void> {
  if (!isPersonal(source)) return;
  const [subscriptions, memberships] = await Promise.all([
    reader.subscriptions(),
    reader.directMemberships(),
  ]);
  const isTooLong = subscriptions.size + memberships.length > MAX_HINT_PLACES;
  const hasFirstUnread = terms.length === 0 && window.anchor === 'first_unread';
  const firstUnread = hasFirstUnread ? (found_anchor ? anchor : undefined) : hint?.firstUnread;
  const next = {
    channels: isTooLong ? [] : [...subscriptions.keys()],
    dialogues: isTooLong ? [] : memberships.map(({ people }) => people),
    isSparse: hint?.isSparse === true || views.some((view) => view?.isSparse),
    ...(firstUnread !== undefined && { firstUnread }),
  };
  await saveFeedHint(outside, { realm: reader.realm, email }, next, hint);
}

/** With more places than this, the round trip is not what takes time. */
const MAX_HINT_PLACES = 1_000;

/** If not all messages fit into the reply, it drops those farthest from the anchor, and the client sees there are more. */
async function foundReply(
  outside: Outside,
  caller: Caller,
  fetch: Fetch,
  found: FoundWindow,
  options: RenderOptions,
) {
  const { heads, anchor, ...envelope } = found;
  const nearest = heads.toSorted(byDistance(anchor));
  const { messages, room } = await serializeFitting(outside, caller, fetch, nearest, options);
  const reply = { ...envelope, anchor, messages: messages.toSorted((a, b) => a.id - b.id) };
  if (room > 0) return reply;
  const [oldest, newest] = [heads[0]?.id, heads.at(-1)?.id];
  return {
    ...reply,
    found_oldest: reply.found_oldest && reply.messages[0]?.id === oldest,
    found_newest: reply.found_newest && reply.messages.at(-1)?.id === newest,
  };
}
