import type { Counted } from './call-cost.ts';
import type { DeliveryRow } from './delivery.ts';
import type { ExportRow } from './export.ts';
import type { FunctionRow } from './functions.ts';
import type { HeldRow } from './held-polls.ts';
import type { LoadRow } from './load.ts';
import type { MemoryRow } from './memory.ts';
import type { PluginRow } from './plugins.ts';
import type { ProcessorRow } from './processor.ts';
import type { IndexRow, SearchRow } from './search.ts';
import type { SizeRow } from './sizes.ts';
import type { StackRow } from './stack.ts';
import type { StartRow } from './start.ts';
import type { TurnRow } from './turns.ts';

/** All that the bench measures; no rows where a section was not wanted. */
export interface Measured extends Counted {
  readonly load: readonly LoadRow[];
  readonly turns: readonly TurnRow[];
  readonly delivery: readonly DeliveryRow[];
  readonly held: readonly HeldRow[];
  readonly functions: readonly FunctionRow[];
  readonly plugins: readonly PluginRow[];
  readonly processor: readonly ProcessorRow[];
  readonly sizes: readonly SizeRow[];
  readonly memory: readonly MemoryRow[];
  readonly start: readonly StartRow[];
  readonly stack: readonly StackRow[];
  readonly export: readonly ExportRow[];
  readonly search: readonly { readonly index: IndexRow; readonly rows: readonly SearchRow[] }[];
}
