import type { Objects } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import type { Table } from '../../table/table.ts';

/** The bucket of the index. */
export const SEARCH = 'search';

/**
 * The item of an organization that points to its index. A worker that changes it takes a claim, a rising number: a
 * worker that has lost its claim can change nothing more (`run.ts`).
 */
export interface SearchPointer {
  /** The list of segments; absent if there is none. */
  readonly list?: SegmentListFile;
  /** Up to this number of the log the segments are true. */
  readonly until: number;
  /** When (ms) the log was read up to there. */
  readonly at: number;
  /** The count of messages in the organization's counter at that time. */
  readonly messages: number;
  /** The last claim, and until when (ms) nobody else may make one. */
  readonly claim: number;
  readonly leased: number;
  /** All objects of runs up to this claim are known: nothing of them is left over. */
  readonly clean: number;
  /** When (ms) objects that were replaced must be removed; absent if there are none. */
  readonly purge?: number;
  /** The index must be rebuilt: the operator asked for it, or the log no longer reaches back. */
  readonly isVoid?: true;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    searchIndex: SearchPointer;
  }
}

/** An object of the index, by its key in the bucket and its digest. */
interface IndexFile {
  readonly name: string;
  readonly sha256: string;
}

export type SegmentListFile = IndexFile;

/** A segment in the list. It has all messages with ids from `first` up to `last`, and no others. */
export interface SegmentEntry extends IndexFile {
  readonly first: number;
  readonly last: number;
  /** How many messages it has, and the size of its file. */
  readonly count: number;
  readonly bytes: number;
}

/** The list of all segments, in the order of their ids: an object of its own, so that changing the pointer costs one unit. */
export interface SegmentList {
  readonly segments: readonly SegmentEntry[];
  /** Replaced objects, which readers may still be loading, and since when (ms). */
  readonly replaced: readonly { readonly name: string; readonly at: number }[];
}

export const NO_SEGMENTS: SegmentList = { segments: [], replaced: [] };

export const loadPointer = (table: Table, realm: string): Promise<SearchPointer | undefined> =>
  table.get('searchIndex', { realm });

/** What a reader takes for the pointer where there is none, or where it is void: everything is in the log. */
export const NO_INDEX: Pick<SearchPointer, 'list' | 'until' | 'at'> = {
  until: 0,
  at: Number.POSITIVE_INFINITY,
};

/** The `part`-th object that a claim may make. The next run finds what is left of a run that died by these names. */
export const objectName = (realm: string, claim: number, part: number): string => `${realm}/${claim}/${part}`;

/** Loads an object of the index. Undefined if it is lost or is not what was written. */
export async function loadFile(
  objects: Objects,
  { name, sha256 }: IndexFile,
): Promise<Uint8Array | undefined> {
  const object = await objects.get(SEARCH, name);
  return object !== undefined && digestOf(object.bytes) === sha256 ? object.bytes : undefined;
}

/** Loads the list of segments. Undefined if it is lost or damaged. */
export async function loadList(
  objects: Objects,
  { list }: Pick<SearchPointer, 'list'>,
): Promise<SegmentList | undefined> {
  if (list === undefined) return NO_SEGMENTS;
  const bytes = await loadFile(objects, list);
  return bytes && (JSON.parse(Buffer.from(bytes).toString()) as SegmentList);
}
