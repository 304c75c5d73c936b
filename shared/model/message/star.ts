import { isId } from '../../kernel/lookup.ts';
import type { MessageHead } from '../../log/message.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';

/** A star, stored under the user in message order. */
export interface Star {
  readonly messageId: number;
  /** The message when it was starred. It may have moved since, so this only helps to read the rest in parallel. */
  readonly head?: Omit<MessageHead, 'id'>;
  /** The star was removed. Kept for a while, so that an older write that comes late loses. */
  readonly removed?: true;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    star: Star;
  }
}

/** How long a removed star is kept: longer than any write takes. */
const REMOVED_TTL_SECONDS = 3_600;

/** The ids of those messages that the user starred. */
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

/** Stars a message. */
export const doStar = (realm: string, userId: number, { id, ...head }: MessageHead): Write => ({
  put: key('star', { realm, userId, messageId: id }),
  item: { messageId: id, head },
  lastWriterWins: true,
});

/** Removes a star. */
export const doUnstar = (realm: string, userId: number, messageId: number, now: number): Write => ({
  put: key('star', { realm, userId, messageId }),
  item: { messageId, removed: true, expires: Math.floor(now / 1000) + REMOVED_TTL_SECONDS },
  lastWriterWins: true,
});
