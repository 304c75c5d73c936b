import { type Key, key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';

/**
 * The list of files that no message held on some day, over all organizations and in the order of days. Cleanup looks at a
 * file when its entry is five weeks old, and decides then. An entry is never taken off the list by anybody else, so an
 * upload, a claim or a release need not know of one another.
 */
export interface UnusedFile {
  readonly realm: string;
  readonly token: string;
  /** Days since 1970; 0 for a file that was removed: only its bytes can be left. */
  readonly day: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    unusedFile: UnusedFile;
  }
}

/** Milliseconds. */
export const DAY = 86_400_000;

export const unusedKey = ({ realm, token, day }: UnusedFile): Key<'unusedFile'> =>
  key('unusedFile', { realm, token, day });

/** The entry of a file that no message holds at this time (ms). */
export const unusedAt = (realm: string, token: string, now: number): UnusedFile => ({
  realm,
  token,
  day: Math.floor(now / DAY),
});

/** Puts a file on the list. */
export function doNoteUnused(realm: string, token: string, now: number): Write {
  const entry = unusedAt(realm, token, now);
  return { put: unusedKey(entry), item: { ...entry } };
}
