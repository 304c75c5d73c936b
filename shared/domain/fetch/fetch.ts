import type { Reader } from '../reader/reader.ts';
import type { OptimisticFacts } from '../reader/supposed.ts';
import type { Source } from './message-source.ts';
import type { Snapshot, View } from './message-view.ts';
import type { Term } from './narrow.ts';

/** A fetch under way: what it is about, and what was read for it so far. */
export interface Fetch {
  /** The address of the reader's account. */
  readonly email: string;
  readonly reader: Reader;
  readonly facts: OptimisticFacts;
  readonly terms: readonly Term[];
  readonly source: Source;
  readonly snapshot: Snapshot;
  /** Where it looks at the messages from: where the window is expected, and where else it may be. */
  readonly views: [View, ...View[]];
}
