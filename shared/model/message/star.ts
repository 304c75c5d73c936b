import { isId } from '../../kernel/id.ts';
import type { MessageHead } from '../../log/message.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** That somebody starred a message, stored under them in the order of the messages. */
export interface Star {
  readonly messageId: number;
  /** What the message was then. It may have moved since: this only tells what to read beside the message itself. */
  readonly head?: Omit<MessageHead, 'id'>;
  /** It was taken away again. Kept for a while, so that an older change that comes late is known as older. */
  readonly removed?: true;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    star: Star;
  }
}

/** How long a star that was taken away is remembered, seconds: longer than any change can be under way. */
const REMEMBERED = 3_600;

/** Which of these messages somebody starred. */
export async function loadStars(
  table: Table,
  realm: string,
  userId: number,
  messageIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const keys = messageIds.filter(isId).map((messageId) => key('star', { realm, userId, messageId }));
  const stars = await table.getMany(keys);
  return new Set(stars.filter(({ removed }) => !removed).map(({ messageId }) => messageId));
}

/** Stars a message for somebody. */
export const doStar = (realm: string, userId: number, { id, ...head }: MessageHead): Write => ({
  put: key('star', { realm, userId, messageId: id }),
  item: { messageId: id, head },
  lastWriterWins: true,
});

/** Takes a star away. */
export const doUnstar = (realm: string, userId: number, messageId: number, now: number): Write => ({
  put: key('star', { realm, userId, messageId }),
  item: { messageId, removed: true, expires: Math.floor(now / 1000) + REMEMBERED },
  lastWriterWins: true,
});
