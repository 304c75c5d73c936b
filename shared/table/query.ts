import {
  type ItemName,
  type indexes,
  type Key,
  type PartitionFields,
  partition,
  type SortFields,
  sortKey,
  sortPrefix,
} from './keys.ts';

export type Index = (typeof indexes)[keyof typeof indexes];

/** Which items of a list are read, and how. */
export interface Range<N extends ItemName> {
  /** Only items at or above, at or below. */
  readonly from?: SortFields<N>;
  readonly to?: SortFields<N>;
  /** Only sort keys that begin so. Without it, those that begin as the given fields say. */
  readonly prefix?: string;
  /** Newest (largest) first. */
  readonly descending?: boolean;
  readonly limit?: number;
  /** Lists are consistent unless said otherwise; an index cannot be. */
  readonly eventually?: boolean;
}

/** The fields of a list: those of the partition, and the leading fields of the sort key that the items share. */
export type ListFields<N extends ItemName> = PartitionFields<N> & Partial<SortFields<N>>;

/** A page of a list; `more` if there may be items after it. */
export interface Page<T> {
  readonly items: T[];
  readonly more: boolean;
}

/** A query by keys. */
export interface Query {
  readonly pk: string;
  readonly prefix?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly index?: Index;
  readonly descending?: boolean;
  readonly limit?: number;
  readonly eventually?: boolean;
  readonly asStored?: boolean;
}

/** The query of a list. Several kinds of one partition are read together: the partition is then read whole. */
export function queryOf<N extends ItemName>(
  kind: N | readonly N[],
  fields: ListFields<N>,
  { from, to, ...range }: Range<N>,
): Query {
  const [first, ...others] = [kind].flat() as [N, ...N[]];
  const prefix = range.prefix ?? (others.length > 0 ? '' : sortPrefix(first, fields));
  return {
    ...range,
    pk: partition(first, fields),
    ...(from === undefined && to === undefined
      ? { prefix }
      : {
          // An open end of a range is the end of the kind.
          from: from === undefined ? prefix || undefined : sortKey(first, from),
          to: to === undefined ? (prefix && `${prefix}\uffff`) || undefined : sortKey(first, to),
        }),
  };
}

/** Adjacent lists of one partition, from that of the first kind to that of the last, in the order of the sort keys. */
export type Span<N extends ItemName> = readonly [first: N, last: N];

/** Lists of a span, which are one query when the first of them is asked for. */
export class JointLists {
  readonly #span: Query & { readonly from: string; readonly to: string };
  readonly #read: (query: Query) => Promise<readonly Key[]>;
  #items: Promise<readonly Key[]> | undefined;

  /** @param read reads all items of a query */
  constructor(pk: string, [first, last]: Span<ItemName>, read: (query: Query) => Promise<readonly Key[]>) {
    this.#span = { pk, from: sortPrefix(first), to: `${sortPrefix(last)}\uffff` };
    this.#read = read;
  }

  /** Whether a query is one of these lists: all of it, or all that begins so. */
  has({ pk, prefix = '', limit, descending, eventually }: Query): boolean {
    const { from, to } = this.#span;
    const isWhole = limit === undefined && !descending && !eventually;
    return isWhole && pk === this.#span.pk && from <= prefix && prefix < to;
  }

  async list<T>({ prefix = '' }: Query): Promise<T[]> {
    this.#items ??= this.#read(this.#span);
    return (await this.#items).filter(({ sk }) => sk.startsWith(prefix)) as T[];
  }
}
