import { designBudgets } from '../support/design-budgets.ts';
import type { DeliveryRow } from './delivery.ts';
import type { ExportRow } from './export.ts';
import type { FunctionRow } from './functions.ts';
import type { LoadRow } from './load.ts';
import type { PluginRow } from './plugins.ts';
import type { ProcessorRow } from './processor.ts';
import type { IndexRow, SearchRow } from './search.ts';
import type { SizeRow } from './sizes.ts';
import type { StackRow } from './stack.ts';
import type { StartRow } from './start.ts';
import { type Column, dollars, figure, terminalTable } from './table.ts';
import type { TurnRow } from './turns.ts';

/** The report on a part of the measurements: a heading and a table. */
export interface Told {
  readonly title: string;
  readonly table: string;
}

const right = (...heads: readonly string[]): readonly Column[] =>
  heads.map((head) => ({ head, figures: true }));

const orNone = (value: number | undefined): string | number => value ?? '';

/** What cannot be seen in one line for each operation: failures, and what was measured in another way. */
export function loadNotes(rows: readonly LoadRow[]): readonly Told[] {
  const failed = rows.filter((row) => row.failed > 0);
  const noted = rows.filter((row) => row.note !== undefined);
  return [
    {
      title: `Load: ${rows.length} rows, ${failed.length} with failures.`,
      table: tableIfAny(
        [{ head: 'operation' }, ...right('in flight', 'failed'), { head: 'the first failure' }],
        failed.map((row) => [
          row.operation,
          row.inFlight,
          row.failed,
          (row.firstFailure ?? '').slice(0, 300),
        ]),
      ),
    },
    {
      title:
        "Notes. (gateway) and (gateway and thread) are the local cloud's own share of every other row; what operations take besides is the function's work, the door that asks its policy, and the store. Clients run on the same processors. A copy of a function has answered a few requests when a row begins: at 32 in flight its code is hardly compiled yet.",
      table: tableIfAny(
        [{ head: 'operation' }, ...right('in flight'), { head: 'note' }],
        noted.map((row) => [row.operation, row.inFlight, row.note ?? '']),
      ),
    },
  ];
}

/** A table, or nothing where it would have no lines. */
const tableIfAny = (columns: readonly Column[], rows: readonly (readonly (string | number)[])[]): string =>
  rows.length === 0 ? '' : terminalTable(columns, rows);

/** What one client waits for that does one call after the other. */
export const turnTable = (rows: readonly TurnRow[]): Told => ({
  title:
    'In turn: one client, one call after the other over one connection, ms. Each read comes after a message.',
  table: terminalTable(
    [{ head: 'operation' }, ...right('p50', 'p99')],
    rows.map(({ operation, p50, p99 }) => [operation, figure(p50), figure(p99)]),
  ),
});

/** How long messages take to clients that wait. */
export const deliveryTable = (rows: readonly DeliveryRow[]): Told => ({
  title:
    "Delivery, ms, to clients that wait: from the sender's request to the reader's whole reply, and from the sender's reply. The commit lies between the two. Busy: processors while nobody writes.",
  table: terminalTable(
    [
      ...right('waiting', 'p50', 'p99', 'max', 'after reply p50', 'p99', 'max'),
      ...right('deliveries', 'failed', 'busy', 'peak MB'),
      { head: 'note' },
    ],
    rows.map(({ waiting, p50, p99, max, afterReply, deliveries, failed, busyWaiting, peakMb, ...row }) => [
      ...[waiting, p50, p99, max, afterReply.p50, afterReply.p99, afterReply.max, deliveries, failed],
      ...[orNone(busyWaiting), orNone(peakMb), row.note ?? row.firstFailure?.slice(0, 200) ?? ''],
    ]),
  ),
});

/**
 * How much longer than the bare document client's an import takes: by its time or its processor time, whichever is
 * less, since a busy moment of the machine makes the one longer and not the other.
 */
export const importRatioOf = ({ ratio, cpuRatio }: FunctionRow): number => Math.min(ratio, cpuRatio);

/** What the start of each function costs. */
export function functionTable(rows: readonly FunctionRow[]): Told {
  const { importRatio: limit } = designBudgets;
  const over = rows.filter((row) => importRatioOf(row) > limit);
  return {
    title: `Functions: the import in a fresh process, and its ratio to the bare document client's, which was imported in turn with it (at most ${limit}; over it: ${over.map(({ id }) => id).join(', ') || 'none'}).`,
    table: terminalTable(
      [
        { head: 'function' },
        ...right(
          'bytes',
          'import ms',
          'ratio',
          'processor ms',
          'ratio',
          'heap MB',
          'peak MB',
          'given MB',
          'most KB',
        ),
      ],
      rows.map((row) => [
        row.id,
        ...[row.bytes, row.importMs, row.ratio, row.cpuMs, row.cpuRatio, row.heapMb, row.peakMb],
        orNone(row.memoryMb),
        figure(row.budget / 1024),
      ]),
    ),
  };
}

/** What the plugins of bundles save. */
export const pluginTable = (rows: readonly PluginRow[]): Told => ({
  title:
    'Plugins of bundles: the import of one function in a fresh process, all ways in turn; medians, ms of processor time.',
  table: terminalTable(
    [{ head: 'bundle' }, ...right('bytes', 'processor ms', 'import ms')],
    rows.map(({ bundle, bytes, cpuMs, importMs }) => [bundle, bytes, cpuMs, importMs]),
  ),
});

/** The processor time of functions. */
export const processorTable = (rows: readonly ProcessorRow[]): Told => ({
  title:
    "Processor time, ms of this machine's: of a function; of a loop that makes the same requests to DynamoDB with the same client; of one with the document client as the SDK has it. Ratios of the first to the others.",
  table: terminalTable(
    [{ head: 'operation' }, ...right('requests', 'function', 'loop', 'SDK loop', 'ratio', 'SDK ratio')],
    rows.map(({ operation, requests, functionMs, loopMs, sdkLoopMs, ratio, sdkRatio }) => [
      operation,
      requests,
      ...[functionMs, loopMs, sdkLoopMs, ratio, sdkRatio].map(figure),
    ]),
  ),
});

/** What functions take by their memory. */
export const sizeTable = (rows: readonly SizeRow[]): Told => ({
  title:
    'Memory: a function with the share of a processor that Lambda gives with it. Medians, ms; dollars for the time of a million calls.',
  table: terminalTable(
    [{ head: 'operation' }, ...right('MB', 'warm ms', 'cold ms', 'peak MB'), { head: 'fits' }, ...right('$')],
    rows.map(({ operation, memoryMb, warmMs, coldMs, peakMb, fits, dollars: cost }) => [
      ...[operation, memoryMb, warmMs, coldMs, peakMb],
      ...[fits ? 'yes' : 'no', dollars(cost)],
    ]),
  ),
});

/** How long `npm start` takes. */
export const startTable = (rows: readonly StartRow[]): Told => ({
  title: '`npm start`, packages installed, s until it is ready.',
  table: terminalTable(
    [{ head: 'start' }, ...right('p50', 'max')],
    rows.map(({ start, p50, max }) => [start, figure(p50 / 1000), figure(max / 1000)]),
  ),
});

/** How many resources the stack has. */
export const stackTable = (rows: readonly StackRow[]): Told => ({
  title: 'The stack, with none and with all of the settings of an operator.',
  table: terminalTable(
    [{ head: 'settings' }, ...right('CloudFormation resources')],
    rows.map(({ settings, resources }) => [settings, resources]),
  ),
});

/** What the export of a large organization takes. */
export const exportTable = (rows: readonly ExportRow[]): Told => ({
  title: 'An export, by its worker in a process of its own; its archive was read back and is whole.',
  table: terminalTable(
    right('messages', 'runs', 's', 'peak MB', 'archive bytes', 'files'),
    rows.map(({ messages, runs, seconds, peakMb, archiveBytes, files }) => [
      ...[messages, runs, seconds, peakMb, archiveBytes, files],
    ]),
  ),
});

/** What it takes to index the messages of a large organization. */
export const indexTable = ({ messages, runs, seconds, peakMb, segments, bytes }: IndexRow): Told => ({
  title: 'The search index of all messages, by its worker in a process of its own.',
  table: terminalTable(right('messages', 'runs', 's', 'peak MB', 'segments', 'bytes'), [
    [messages, runs, seconds, peakMb, segments, bytes],
  ]),
});

/** How long searches take. */
export const searchTable = (rows: readonly SearchRow[]): Told => ({
  title:
    'Searches, ms until the first page (medians), in a new process with loading its code, and in one that searched before.',
  table: terminalTable(
    [{ head: 'for' }, ...right('messages', 'found', 'new', 'before', 'processor, new', 'before')],
    rows.map(({ what, messages, found, coldMs, warmMs, coldCpuMs, warmCpuMs }) => [
      ...[what, messages, found, coldMs, warmMs, coldCpuMs, warmCpuMs],
    ]),
  ),
});
