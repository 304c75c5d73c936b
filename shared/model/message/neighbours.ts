import type { Outside } from '../../kernel/outside.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { type Place, readHeads } from './index.ts';
import { idsInPlace } from './place.ts';
import { extents, loadRecent, type Recent } from './recent.ts';

/** A message that may become the newest of its conversation when others leave. */
export interface Neighbour {
  readonly id: number;
  /** As it spells its topic. */
  readonly topic?: string;
}

/** How many messages beyond those that leave are looked at: an index may still show some that left before. */
const SPARE = 3;

/**
 * Some of the newest messages of a conversation, the newest first: at least one that stays when `leaving` of them
 * leave, if there is one. Whoever makes one of them the newest holds it to be still there. One round trip; another one
 * where `late` tells of a message that came below the newest one and is not among them.
 */
export async function loadNewest(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  place: Place,
  leaving: number,
  stored: Promise<{ readonly late?: number } | undefined>,
  reading: Promise<Recent> = loadRecent(outside, realm, extents.write),
): Promise<readonly Neighbour[]> {
  const { table } = outside;
  const reach = idsInPlace(table, realm, place, () => reading);
  const page = (to: number) => reach({ from: 0, to, side: 'older', limit: leaving + SPARE });
  const [first, changes, conversation] = await Promise.all([page(LARGEST_NUMBER), reading, stored]);
  const all: Neighbour[] = [];
  for (let { found, until } = first; ; { found, until } = await page(until - 1)) {
    all.push(...found);
    if (until === undefined || until <= 1 || all.length > leaving) break;
  }
  const newest = all.sort((a, b) => b.id - a.id);
  const late = conversation?.late;
  const isSeen = late === undefined || changes.knows(late) || newest.some(({ id }) => id === late);
  if (isSeen || late < (newest.at(leaving)?.id ?? 0)) return newest;
  const more = (await readHeads(table, realm, [late])).filter(
    (head) => head.conversation === place.conversation,
  );
  return [...newest, ...more].sort((a, b) => b.id - a.id);
}
