import type { Objects, Outside } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import { runPool } from '../../pool.ts';
import { key } from '../../table/keys.ts';
import { isRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import { type Batch, loadPresent, loadRange, MAX_MESSAGES } from './batch.ts';
import { REPLACED_KEPT } from './due.ts';
import {
  loadFile,
  loadList,
  NO_SEGMENTS,
  objectName,
  SEARCH,
  type SearchPointer,
  type SegmentEntry,
  type SegmentList,
} from './pointer.ts';
import { type IndexedMessage, rewriteSegment, type SegmentContent } from './segment.ts';

/** Most objects of one claim. A batch needs at most one for each segment, and `SPARE` more. */
const MAX_PARTS = 1_000;
const SPARE = 8;

/** A segment whose file is larger than this (bytes) takes no further messages. */
const MAX_BYTES = 4_000_000;

/** Removals at once. */
const CONCURRENCY = 16;

/** The changes of one run of the worker, which has made a claim. */
export class IndexUpdate {
  readonly #table: Table;
  readonly #now: () => number;
  readonly #objects: Objects;
  readonly #realm: string;
  readonly #pointer: SearchPointer;
  #segments: SegmentEntry[];
  #replaced: SegmentList['replaced'];
  #list: SearchPointer['list'];
  #part = 0;
  #isChanged = false;
  /** The number of the log up to which the segments are true. */
  until: number;

  private constructor(
    { table, now }: Pick<Outside, 'table' | 'now'>,
    objects: Objects,
    realm: string,
    pointer: SearchPointer,
    { segments, replaced }: SegmentList,
  ) {
    this.#table = table;
    this.#now = now;
    this.#objects = objects;
    this.#realm = realm;
    this.#pointer = pointer;
    this.#segments = [...segments];
    this.#replaced = replaced;
    this.#list = pointer.list;
    this.until = pointer.until;
  }

  /** Begins with the index as it is, and removes what is no longer needed of it. */
  static async begin(
    outside: Pick<Outside, 'table' | 'now'>,
    objects: Objects,
    realm: string,
    pointer: SearchPointer,
  ): Promise<IndexUpdate> {
    const list = await loadList(objects, pointer);
    const update = new IndexUpdate(outside, objects, realm, pointer, list ?? NO_SEGMENTS);
    if (list === undefined || pointer.isVoid) update.reset();
    await update.#removeLeftovers();
    return update;
  }

  /** There is room for another batch. */
  get hasRoom(): boolean {
    return this.#part + this.#segments.length + SPARE <= MAX_PARTS;
  }

  /** Starts over, from the beginning of the log. */
  reset(): void {
    this.#replace(...this.#segments.map(({ name }) => name));
    this.#segments = [];
    this.until = 0;
    this.#isChanged = true;
  }

  /** Rebuilds each segment that is lost or damaged, from the messages themselves. */
  async repair(): Promise<void> {
    for (const segment of this.#segments.slice()) {
      if ((await loadFile(this.#objects, segment)) === undefined) await this.#rewrite(segment, [], []);
    }
  }

  /** Brings a part of the log into the segments. */
  async apply({ sent, changed, until }: Batch): Promise<void> {
    const newest = this.#segments.at(-1);
    const isFull = newest === undefined || newest.count >= MAX_MESSAGES || newest.bytes >= MAX_BYTES;
    const room = isFull ? 0 : MAX_MESSAGES - newest.count;
    for (const segment of this.#segments.slice()) {
      const ids = [...changed].filter((id) => segment.first <= id && id <= segment.last);
      const added = segment === newest ? sent.slice(0, room) : [];
      if (ids.length + added.length === 0) continue;
      const present = await loadPresent(this.#table, this.#realm, ids);
      await this.#rewrite(segment, ids, [...present, ...added]);
    }
    if (sent.length > room) await this.#add(sent.slice(room));
    this.until = until;
  }

  /** Replaces a segment by one without some messages and with others. A damaged one is rebuilt from the table. */
  async #rewrite(
    segment: SegmentEntry,
    removed: readonly number[],
    added: readonly IndexedMessage[],
  ): Promise<void> {
    const before = await loadFile(this.#objects, segment);
    const content =
      before === undefined
        ? rewriteSegment(
            undefined,
            [],
            [
              ...(await loadRange(this.#table, this.#realm, segment.first, segment.last)),
              ...added.filter(({ id }) => id > segment.last),
            ],
          )
        : rewriteSegment(before, removed, added);
    const last = Math.max(segment.last, ...added.map(({ id }) => id));
    const next = content && (await this.#put(content, segment.first, last));
    this.#segments = this.#segments.flatMap((each) => (each === segment ? (next ?? []) : [each]));
    this.#replace(segment.name);
  }

  async #add(messages: readonly IndexedMessage[]): Promise<void> {
    const content = rewriteSegment(undefined, [], messages);
    const [first, last] = [messages[0]?.id, messages.at(-1)?.id];
    if (content && first !== undefined && last !== undefined)
      this.#segments.push(await this.#put(content, first, last));
  }

  async #put({ bytes, count }: SegmentContent, first: number, last: number): Promise<SegmentEntry> {
    return { ...(await this.#upload(bytes)), first, last, count, bytes: bytes.length };
  }

  async #upload(bytes: Uint8Array): Promise<{ readonly name: string; readonly sha256: string }> {
    if (this.#part >= MAX_PARTS) throw new Error('a run makes too many objects of the search index');
    const name = objectName(this.#realm, this.#pointer.claim, this.#part++);
    await this.#objects.put(SEARCH, name, bytes, 'application/octet-stream');
    this.#isChanged = true;
    return { name, sha256: digestOf(bytes) };
  }

  #replace(...names: readonly string[]): void {
    const at = this.#now();
    this.#replaced = [...this.#replaced, ...names.map((name) => ({ name, at }))];
  }

  /**
   * Swaps the pointer to what was made: from then on searches see it. The last save of a run ends its claim.
   *
   * @param read when (ms) the log was read, and how many messages there were
   * @returns false if another run has made a claim since: nothing of this one counts then
   */
  async save(read: Pick<SearchPointer, 'at' | 'messages'>, isLast: boolean): Promise<boolean> {
    const { claim, purge } = this.#pointer;
    if (this.#isChanged) {
      if (this.#list) this.#replace(this.#list.name);
      const list: SegmentList = { segments: this.#segments, replaced: this.#replaced };
      this.#list = await this.#upload(Buffer.from(JSON.stringify(list)));
      this.#isChanged = false;
    }
    const oldest = this.#replaced[0]?.at;
    const change = {
      set: {
        ...read,
        until: this.until,
        ...(this.#list && { list: this.#list }),
        ...(oldest !== undefined && { purge: oldest }),
        ...(isLast && { leased: 0, clean: claim }),
      },
      remove: ['isVoid', ...(oldest === undefined && purge !== undefined ? ['purge'] : [])],
    };
    try {
      await this.#table.update(key('searchIndex', { realm: this.#realm }), change, { equals: { claim } });
      return true;
    } catch (error) {
      if (isRefused(error)) return false;
      throw error;
    }
  }

  /**
   * Removes objects that were replaced some time ago, and those of runs that died. A run that does nothing else writes no
   * new list, since that would replace another object.
   */
  async #removeLeftovers(): Promise<void> {
    const { claim, clean } = this.#pointer;
    for (let died = clean + 1; died < claim; died++) await this.#removeAllOf(died);
    const isOver = ({ at }: { readonly at: number }): boolean => this.#now() - at >= REPLACED_KEPT;
    const over = this.#replaced.filter(isOver);
    this.#replaced = this.#replaced.filter((each) => !isOver(each));
    const failures = await runPool(over, CONCURRENCY, ({ name }) => this.#objects.remove(SEARCH, name));
    if (failures.length > 0)
      throw new AggregateError(failures, 'some objects of the index could not be removed');
  }

  /** Removes what a run left that died, from its last object to its first, so that this can be done again. */
  async #removeAllOf(claim: number): Promise<void> {
    const all = [...this.#segments, ...this.#replaced, ...(this.#list ? [this.#list] : [])];
    const used = new Set(all.map(({ name }) => name));
    let parts = 0;
    const nameOf = (part: number): string => objectName(this.#realm, claim, part);
    while (used.has(nameOf(parts)) || (await this.#objects.get(SEARCH, nameOf(parts)))) parts++;
    while (parts-- > 0) if (!used.has(nameOf(parts))) await this.#objects.remove(SEARCH, nameOf(parts));
  }
}
