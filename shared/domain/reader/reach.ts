import { isId } from '../../kernel/id.ts';
import type { MessageHead } from '../../log/message.ts';
import type { RangeReader, RangeResult } from '../../model/message/load.ts';
import { isMessage, loadMessages, MAX_MESSAGES_AT_ONCE, rangeOf } from '../../model/message/load.ts';
import type { Reader } from './reader.ts';

/** All messages of the organization, whoever may read them, from the log itself: a consistent read. */
export const inLog =
  (reader: Reader): RangeReader =>
  async (reach) => {
    const { items, more } = await reader.table.page('slot', { realm: reader.realm }, rangeOf(reach));
    const messages = items.filter(isMessage);
    reader.keep(messages);
    return { heads: messages, until: more ? items.at(-1)?.seq : undefined };
  };

/**
 * The messages that the reader starred, whether they may still read them or not. A star tells what the message was,
 * so that what goes with the messages is read beside them: two round trips, and then they can be told.
 */
export function starredBy(reader: Reader): RangeReader {
  const { realm, userId, table } = reader;
  const reading: Promise<unknown>[] = [];
  return async ({ from, to, side, limit }): Promise<RangeResult> => {
    const page = table.page(
      'star',
      { realm, userId },
      {
        from: { messageId: from },
        to: { messageId: to },
        descending: side === 'older',
        limit: Math.min(limit, MAX_MESSAGES_AT_ONCE),
      },
    );
    reading.push(page);
    const { items, more } = await page;
    // Where both sides are read at once, their messages travel together.
    await Promise.all(reading);
    const until = more ? items.at(-1)?.messageId : undefined;
    const stars = items.filter(({ removed }) => removed !== true);
    const ids = stars.map(({ messageId }) => messageId);
    reader.noteStars({
      from: side === 'older' ? (until ?? from) : from,
      to: side === 'newer' ? (until ?? to) : to,
      ids: Promise.resolve(new Set(ids)),
    });
    const [heads] = await Promise.all([
      listed(reader, ids),
      ...ids.map((id) => reader.reactions(id)),
      ...stars.map(({ head }) => head && reader.surroundings(head)),
    ]);
    // What moved since then has other surroundings.
    await Promise.all(heads.map((head) => reader.surroundings(head)));
    return { heads, until };
  };
}

/** The messages with these ids, wherever they stand. They are read when they are first needed. */
export const amongListed = (reader: Reader, ids: readonly number[]): RangeReader =>
  allAtOnce(() => listed(reader, ids));

/** The same with all that telling them needs: two round trips. */
export const toldAmongListed = (reader: Reader, ids: readonly number[]): RangeReader =>
  allAtOnce(async () => {
    const existing = ids.filter(isId);
    const [heads] = await Promise.all([
      listed(reader, existing),
      ...existing.map((id) => reader.reactions(id)),
      existing.length > 0 && reader.stars(Math.min(...existing), Math.max(...existing)),
    ]);
    await Promise.all(heads.map((head) => reader.surroundings(head)));
    return heads;
  });

function allAtOnce(read: () => Promise<readonly MessageHead[]>): RangeReader {
  let reading: Promise<readonly MessageHead[]> | undefined;
  return async () => {
    reading ??= read();
    return { heads: await reading, until: undefined };
  };
}

async function listed(reader: Reader, ids: readonly number[]): Promise<readonly MessageHead[]> {
  const messages = await loadMessages(reader.table, reader.realm, ids);
  reader.keep(messages);
  return messages;
}
