import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { chunksOf } from '../../lists.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { MAX_MESSAGES_AT_ONCE } from '../../model/message/load.ts';
import { hasReceived, mayRead } from '../../model/message/message.ts';
import type { RenderOptions } from '../../model/message/object.ts';
import type { Standing } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import { idsWhere } from '../reader/streams.ts';
import type { Fetch } from './fetch.ts';
import { type MatchFields, matchFields, searchOf } from './match-fields.ts';
import { matchFor } from './narrow-match.ts';
import { bytesInReply, MAX_BYTES, serializeFitting } from './reply.ts';
import { type FlaggedMessage, loadWithContext } from './serialize.ts';
import { textMatchFor } from './text-match.ts';
import type { ByIds } from './window.ts';

/** Reads messages by their ids, a chunk at a time: those that exist, that `sees` allows and that match the narrow. */
async function* matchesAmong(
  { reader, terms }: Fetch,
  standing: Standing,
  ids: readonly number[],
  sees: (head: MessageHead) => Promise<boolean>,
): AsyncGenerator<readonly MessageSlot[]> {
  const match = matchFor(reader, standing, terms);
  const matchTexts = textMatchFor(reader, terms);
  for (const chunk of chunksOf(ids, MAX_MESSAGES_AT_ONCE)) {
    const read = await Promise.all(chunk.map((id) => reader.message(id)));
    const existing = read.filter((message) => message !== undefined);
    reader.keep(existing);
    if (existing.length > 0) await loadWithContext(reader, existing);
    let left = existing;
    for (const test of [(heads: typeof left) => idsWhere(heads, sees), match, matchTexts]) {
      const kept = await test?.(left);
      if (kept) left = left.filter(({ id }) => kept.has(id));
    }
    yield left;
    reader.release(existing);
  }
}

const tooLarge = () => badRequest('These messages do not fit into one reply; ask for fewer of them.');

/** The reply to a fetch by ids: messages that exist, match the narrow, and that the caller has access to. */
export async function byIdsReply(
  outside: Outside,
  caller: Caller,
  fetch: Fetch,
  { ids }: ByIds,
  options: RenderOptions,
) {
  const messages: FlaggedMessage[] = [];
  let room = MAX_BYTES;
  const sees = (head: MessageHead) => mayRead(fetch.reader, caller.standing, head);
  for await (const heads of matchesAmong(fetch, caller.standing, ids, sees)) {
    const fitting = await serializeFitting(outside, caller, fetch, heads, options, room);
    if (fitting.room === 0) throw tooLarge();
    messages.push(...fitting.messages);
    room = fitting.room;
  }
  return { messages, found_anchor: false, found_oldest: false, found_newest: false, history_limited: false };
}

/** Those of some messages that match a narrow and that the caller received, by id (companion facts 1.8). */
export async function matchesReply({ standing }: Caller, fetch: Fetch, { ids }: ByIds) {
  const messages: Record<string, MatchFields> = {};
  const search = searchOf(fetch.terms);
  let room = MAX_BYTES;
  const sees = (head: MessageHead) => hasReceived(fetch.reader, head);
  for await (const matching of matchesAmong(fetch, standing, ids, sees)) {
    for (const message of matching) {
      const fields = matchFields(message, search);
      room -= bytesInReply(fields);
      if (room < 0) throw tooLarge();
      messages[String(message.id)] = fields;
    }
  }
  return { messages };
}
