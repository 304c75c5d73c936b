import { isDeepStrictEqual } from 'node:util';
import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import { MAX_MESSAGES_AT_ONCE } from '../../model/message/load.ts';
import { mayRead } from '../../model/message/message.ts';
import type { RenderOptions } from '../../model/message/object.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Fetch } from './fetch.ts';
import { loadForTelling, type ToldMessage, tellMessages } from './message-tell.ts';
import { type ByIds, byDistance, isPlaced, type Window } from './message-window.ts';
import { matchFor } from './narrow-match.ts';
import { rememberPlaces } from './places.ts';
import { type FoundWindow, WindowSearch } from './window-search.ts';

/** Bytes that the messages of one reply may take: a function's reply has a limit of 6 MB. */
const MAX_BYTES = 5_000_000;

/** Size of a message in a function's reply, which is JSON inside JSON. */
const bytesOf = (message: ToldMessage): number => Buffer.byteLength(JSON.stringify(JSON.stringify(message)));

/** Messages as far as they fit into a reply, and how much room they leave in it; none where one did not fit. */
interface Fitting {
  readonly messages: readonly ToldMessage[];
  readonly room: number;
}

/** Tells messages in the order given, until a reply is full. One round trip for each 500 messages. */
async function tellFitting(
  outside: Outside,
  caller: Caller,
  { reader }: Fetch,
  heads: readonly MessageHead[],
  telling: RenderOptions,
  room = MAX_BYTES,
): Promise<Fitting> {
  const messages: ToldMessage[] = [];
  let left = room;
  for (let start = 0; start < heads.length; start += MAX_MESSAGES_AT_ONCE) {
    const chunk = heads.slice(start, start + MAX_MESSAGES_AT_ONCE);
    for (const message of await tellMessages(outside, caller, reader, chunk, telling)) {
      left -= bytesOf(message);
      if (left < 0) return { messages, room: 0 };
      messages.push(message);
    }
  }
  return { messages, room: left };
}

const byId = (a: { readonly id: number }, b: { readonly id: number }): number => a.id - b.id;

/**
 * The reply to a window. What was supposed to find it is confirmed while it is told, and what is worth remembering for
 * the next time is written then, so that neither takes a round trip of its own.
 */
export async function tellWindow(
  outside: Outside,
  caller: Caller,
  fetch: Fetch,
  window: Window,
  telling: RenderOptions,
) {
  const search = new WindowSearch(fetch, caller.standing, window);
  for (;;) {
    const looking = search.look();
    looking.catch(ignored);
    const found = (await search.findKnown()) ?? (await findAfter(looking, search));
    const [reply] = await Promise.all([
      tellFound(outside, caller, fetch, found, telling),
      fetch.facts.confirm(),
      rememberPlaces(outside, fetch, firstUnreadIn(fetch, window, found)),
      looking,
    ]);
    await search.conclude();
    const again = await search.find();
    if (search.isCertain && isDeepStrictEqual(outlineOf(found), outlineOf(again))) return reply;
  }
}

/** What is not known has to be read, and then need not be supposed either. */
async function findAfter(looking: Promise<void>, search: WindowSearch): Promise<FoundWindow> {
  await looking;
  await search.conclude();
  return search.find();
}

/** It is heard by those who wait for it, unless another fault was first. */
const ignored = (): void => {};

const outlineOf = ({ heads, ...envelope }: FoundWindow) => ({ ...envelope, ids: heads.map(({ id }) => id) });

/** The first unread message of all, if that was asked for: its id, or that there is none. */
const firstUnreadIn = (
  { terms }: Fetch,
  window: Window,
  { found_anchor, anchor }: FoundWindow,
): { readonly id: number | undefined } | undefined =>
  terms.length > 0 || isPlaced(window) ? undefined : { id: found_anchor ? anchor : undefined };

/** Where not all that was found fits into the reply, it is cut at its ends, and says that there is more. */
async function tellFound(
  outside: Outside,
  caller: Caller,
  fetch: Fetch,
  found: FoundWindow,
  telling: RenderOptions,
) {
  const { heads, anchor, ...envelope } = found;
  const nearest = heads.toSorted(byDistance(anchor));
  const { messages, room } = await tellFitting(outside, caller, fetch, nearest, telling);
  const reply = { ...envelope, anchor, messages: messages.toSorted(byId) };
  if (room > 0) return reply;
  const [oldest, newest] = [heads[0]?.id, heads.at(-1)?.id];
  return {
    ...reply,
    found_oldest: reply.found_oldest && reply.messages[0]?.id === oldest,
    found_newest: reply.found_newest && reply.messages.at(-1)?.id === newest,
  };
}

/** The reply to a fetch by ids: those that exist, are in the narrow, and may be read by the caller. */
export async function tellByIds(
  outside: Outside,
  caller: Caller,
  fetch: Fetch,
  { ids }: ByIds,
  telling: RenderOptions,
) {
  const { reader, terms } = fetch;
  const match = matchFor(reader, caller.standing, terms);
  const messages: ToldMessage[] = [];
  let room = MAX_BYTES;
  for (let start = 0; start < ids.length; start += MAX_MESSAGES_AT_ONCE) {
    const read = await Promise.all(
      ids.slice(start, start + MAX_MESSAGES_AT_ONCE).map((id) => reader.message(id)),
    );
    const existing = read.filter((message) => message !== undefined);
    reader.keep(existing);
    if (existing.length > 0) await loadForTelling(reader, existing);
    const readable = await Promise.all(existing.map((message) => mayRead(reader, caller.standing, message)));
    const mine = existing.filter((_, i) => readable[i]);
    const matching = await match(mine);
    const wanted = mine.filter(({ id }) => matching.has(id));
    const told = await tellFitting(outside, caller, fetch, wanted, telling, room);
    reader.release(existing);
    if (told.room === 0) throw badRequest('These messages do not fit into one reply; ask for fewer of them.');
    messages.push(...told.messages);
    room = told.room;
  }
  return { messages, found_anchor: false, found_oldest: false, found_newest: false, history_limited: false };
}
