import type { Objects } from '../../kernel/outside.ts';
import type { RangeRequest } from '../../model/message/load.ts';
import { loadFile, loadList, type SegmentEntry, type SegmentList } from './pointer.ts';
import { type Hit, Segment, type Wish } from './segment.ts';
import type { SearchState } from './tail.ts';

/** The index cannot be used as it is: an object is lost or damaged. The worker must look after it. */
export class IndexDamaged extends Error {
  constructor(name: string) {
    super(`${name} is lost or damaged`);
  }
}

/** A message that may match: what the index knows of it, or only its id if it changed since. */
export type Candidate = Hit | Pick<Hit, 'id'>;

/** Messages that may match, nearest first. */
export interface Candidates {
  readonly found: readonly Candidate[];
  /** The last id of the part of the range that was searched; undefined if all of it was. */
  readonly until: number | undefined;
}

/**
 * What answers a search: messages that may match, among them all that do. It need not be exact, since every
 * candidate is read and judged. A search engine could stand here instead of the segments (docs/LIMITS.md).
 */
export interface SearchIndex {
  readonly candidates: (wish: IndexWish, range: RangeRequest) => Promise<Candidates>;
}

/** Which messages a search wants, by what the index knows; `hit` holds for those that `place` lets through. */
export interface IndexWish extends Wish {
  readonly hit: (hit: Hit) => boolean;
}

/** Most bytes of segments, and most of them, that a container keeps on its disk. */
const MAX_BYTES = 256_000_000;
const MAX_OPEN = 300;

/** The segments that a container has loaded, by their digests. */
export class SegmentCache {
  readonly #segments = new Map<string, { readonly loading: Promise<Segment>; readonly bytes: number }>();
  #list: { readonly sha256: string | undefined; readonly list: SegmentList } | undefined;
  #bytes = 0;

  /** The list that a pointer names. Throws `IndexDamaged`. */
  async list(objects: Objects, pointer: SearchState['pointer']): Promise<SegmentList> {
    const sha256 = pointer.list?.sha256;
    if (this.#list && this.#list.sha256 === sha256) return this.#list.list;
    const list = await loadList(objects, pointer);
    if (list === undefined) throw new IndexDamaged(pointer.list?.name ?? '');
    this.#list = { sha256, list };
    return list;
  }

  /** A segment of the list. Throws `IndexDamaged`. */
  segment(objects: Objects, entry: SegmentEntry): Promise<Segment> {
    const { sha256, bytes } = entry;
    const known = this.#segments.get(sha256);
    const loading = known?.loading ?? openSegment(objects, entry);
    // The one that was used last stands last.
    this.#segments.delete(sha256);
    this.#segments.set(sha256, { loading, bytes });
    if (known === undefined) {
      this.#bytes += bytes;
      loading.catch(() => this.#forget(sha256));
      this.#makeRoom();
    }
    return loading;
  }

  /** Forgets those that were not used for longest. Each closes when no search needs it any more. */
  #makeRoom(): void {
    for (const sha256 of this.#segments.keys()) {
      if (this.#bytes <= MAX_BYTES && this.#segments.size <= MAX_OPEN) return;
      this.#forget(sha256);
    }
  }

  #forget(sha256: string): void {
    this.#bytes -= this.#segments.get(sha256)?.bytes ?? 0;
    this.#segments.delete(sha256);
  }
}

async function openSegment(objects: Objects, entry: SegmentEntry): Promise<Segment> {
  const bytes = await loadFile(objects, entry);
  if (bytes === undefined) throw new IndexDamaged(entry.name);
  return new Segment(bytes);
}

/** Segments that a search opens at first. Each time they were not enough it opens twice as many. */
const FIRST_WAVE = 4;

/** The index in the segments of a bucket, and in the end of the log. */
export const segmentIndex = (objects: Objects, cache: SegmentCache, state: SearchState): SearchIndex => ({
  async candidates(wish, range) {
    const { from, to, side, limit } = range;
    const changed = new Set(state.changed);
    const isWanted = (hit: Hit): boolean => !changed.has(hit.id) && wish.hit(hit);
    const indexed = await searchSegments(objects, cache, state, { ...wish, hit: isWanted }, range);
    const end = indexed.until ?? (side === 'older' ? from : to);
    const [lowest, highest] = side === 'older' ? [end, to] : [from, end];
    const fresh: readonly Candidate[] = [
      ...state.sent.filter((message) => wish.place(message) && wish.hit(message)),
      ...state.changed.map((id) => ({ id })),
    ].filter(({ id }) => lowest <= id && id <= highest);
    const found = [...fresh, ...indexed.found].sort((a, b) => (side === 'older' ? b.id - a.id : a.id - b.id));
    return found.length > limit
      ? { found: found.slice(0, limit), until: found[limit - 1]?.id }
      : { ...indexed, found };
  },
});

async function searchSegments(
  objects: Objects,
  cache: SegmentCache,
  { pointer }: SearchState,
  wish: IndexWish,
  { limit, ...range }: RangeRequest,
): Promise<Candidates> {
  const { from, to, side } = range;
  const { segments } = await cache.list(objects, pointer);
  const inRange = segments.filter(({ first, last }) => first <= to && last >= from);
  const ordered = side === 'older' ? inRange.reverse() : inRange;
  const found: Hit[] = [];
  for (let start = 0, wave = FIRST_WAVE; start < ordered.length; start += wave, wave *= 2) {
    const opened = await Promise.all(
      ordered.slice(start, start + wave).map((entry) => cache.segment(objects, entry)),
    );
    for (const segment of opened)
      for (const hit of segment.find(wish, range)) {
        if (!wish.hit(hit)) continue;
        found.push(hit);
        if (found.length === limit) return { found, until: hit.id };
      }
  }
  return { found, until: undefined };
}
