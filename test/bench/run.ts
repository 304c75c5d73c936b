/**
 * `npm run bench`: what every operation takes, how that grows, and how fast it is through the whole local cloud, as
 * tables. The last one holds every number of DESIGN 7 against what was measured.
 *
 * - `--json` prints all of it as JSON instead.
 * - `--only counts,growth` measures only that: `counts`, `growth`, `load`, `turns`, `delivery`, `held`, `functions`, `plugins`,
 *   `processor`, `sizes`, `memory`, `start`, `stack`, `export`, `search`. `sizes` needs Linux and the rights of root, and
 *   is left out unless it is named.
 * - `--clients 200` lets so many wait for `held` instead of those that the budget is for.
 * - `--operations messages.,users.get` puts only those under load whose names begin so, for longer each.
 * - `--of messages --sizes 10000,1000000` counts for `growth` only among so many of these.
 * - `--messages 10000` exports so many, or searches among so many, instead of those that the budget is for.
 * - `--write` makes the pages in `docs/` from the counts; it needs both `counts` and `growth`.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { designBudgets } from '../support/design-budgets.ts';
import { budgetRows, budgetTable } from './budgets.ts';
import { type Counted, callCost } from './call-cost.ts';
import type { DeliveryRow } from './delivery.ts';
import type { ExportRow } from './export.ts';
import { growthRows } from './growth-page.ts';
import type { LoadRow } from './load.ts';
import type { Measured } from './measured.ts';
import type { MemoryRow } from './memory.ts';
import { record } from './recorded.ts';
import type { SizeRow } from './sizes.ts';
import {
  deliveryTable,
  exportTable,
  functionTable,
  indexTable,
  loadNotes,
  pluginTable,
  processorTable,
  searchTable,
  sizeTable,
  stackTable,
  startTable,
  turnTable,
} from './speed-tables.ts';
import { dollars, figure, terminalTable } from './table.ts';

const SECTIONS = [
  'counts',
  'growth',
  'load',
  'turns',
  'delivery',
  'held',
  'functions',
  'plugins',
  'processor',
  'sizes',
  'memory',
  'start',
  'stack',
  'export',
  'search',
] as const;
type Section = (typeof SECTIONS)[number];

/** What is measured if nothing is named: all that every machine can. */
const USUAL = SECTIONS.filter((section) => section !== 'sizes');

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string', default: USUAL.join(',') },
    operations: { type: 'string', default: '' },
    of: { type: 'string' },
    sizes: { type: 'string' },
    messages: { type: 'string', default: String(designBudgets.exportMessages) },
    clients: { type: 'string', default: String(designBudgets.waitingClients) },
  },
});

function sectionsOf(only: string): ReadonlySet<Section> {
  const wanted = only.split(',');
  const unknown = wanted.find((name) => !SECTIONS.some((section) => section === name));
  if (unknown !== undefined) throw new Error(`'${unknown}' is none of ${SECTIONS.join(', ')}.`);
  return new Set(wanted as Section[]);
}

function numberOf(option: 'messages' | 'clients'): number {
  const text = values[option];
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${option} must be a number of them, and not '${text}'.`);
  return Number(text);
}

/** Counts in a run of vitest, which has the stores that tests have. */
async function count(sections: ReadonlySet<Section>): Promise<Counted> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-counts-'));
  const file = join(folder, 'result.json');
  const { of, sizes } = values;
  Object.assign(process.env, {
    BENCH_RESULT: file,
    BENCH_SECTIONS: [...sections].join(','),
    ...(of !== undefined && { BENCH_OF: of }),
    ...(sizes !== undefined && { BENCH_SIZES: sizes }),
  });
  const vitest = await startVitest('test', [], {
    include: ['test/bench/*.bench.ts'],
    root: join(import.meta.dirname, '../..'),
    watch: false,
    // What is printed is the result.
    reporters: [
      { onTestRunEnd: (_, errors) => errors.forEach((error) => void console.error(error.message)) },
    ],
  });
  const failed = vitest.state.getCountOfFailedTests();
  const problems = vitest.state
    .getFiles()
    .flatMap(({ tasks }) => tasks.flatMap((task) => task.result?.errors ?? []));
  await vitest.close();
  try {
    if (failed > 0) throw new Error(problems.map(({ message }) => message).join('\n'));
    return JSON.parse(await readFile(file, 'utf8'));
  } finally {
    await rm(folder, { recursive: true, force: true });
    process.exitCode = 0;
  }
}

async function measure(sections: ReadonlySet<Section>): Promise<Measured> {
  const counts = sections.has('counts') || sections.has('growth');
  const counted = counts ? await count(sections) : { counts: [], growth: [] };
  return {
    ...counted,
    functions: sections.has('functions') ? await (await import('./functions.ts')).measureFunctions() : [],
    plugins: sections.has('plugins') ? await (await import('./plugins.ts')).measurePlugins() : [],
    processor: sections.has('processor') ? await (await import('./processor.ts')).measureProcessor() : [],
    sizes: sections.has('sizes') ? await sized() : [],
    memory: sections.has('memory') ? await memory() : [],
    start: sections.has('start') ? await (await import('./start.ts')).measureStart() : [],
    load: sections.has('load') ? await load() : [],
    turns: sections.has('turns') ? await (await import('./turns.ts')).measureTurns() : [],
    delivery: sections.has('delivery') ? await delivery() : [],
    held: sections.has('held') ? [await (await import('./held-polls.ts')).measureHeldPolls(clients)] : [],
    stack: sections.has('stack') ? (await import('./stack.ts')).measureStack() : [],
    export: sections.has('export') ? await exported() : [],
    search: sections.has('search') ? [await searched()] : [],
  };
}

/** Puts the operations that were asked for under load, and says on the way how far it is. */
async function load(): Promise<readonly LoadRow[]> {
  const [{ operations }, { measureLoad }] = await Promise.all([
    import('./operations.ts'),
    import('./load.ts'),
  ]);
  const beginnings = values.operations.split(',');
  const wanted = operations.filter(({ name }) => beginnings.some((beginning) => name.startsWith(beginning)));
  if (wanted.length === 0) throw new Error(`No operation begins with ${values.operations}.`);
  return measureLoad(wanted, {
    onRow: ({ operation, inFlight, failed }) =>
      console.error(`${operation} with ${inFlight} in flight${failed > 0 ? `: ${failed} FAILED` : ''}`),
  });
}

async function sized(): Promise<readonly SizeRow[]> {
  const { measureSizes } = await import('./sizes.ts');
  return measureSizes(({ operation, memoryMb }) => console.error(`${operation} with ${memoryMb} MB`));
}

async function memory(): Promise<readonly MemoryRow[]> {
  const [{ operations }, { measureMemory }] = await Promise.all([
    import('./operations.ts'),
    import('./memory.ts'),
  ]);
  return measureMemory(operations);
}

async function delivery(): Promise<readonly DeliveryRow[]> {
  const { measureDelivery } = await import('./delivery.ts');
  return measureDelivery(undefined, ({ waiting }) => console.error(`delivery to ${waiting} waiting clients`));
}

async function exported(): Promise<readonly ExportRow[]> {
  const { measureExport } = await import('./export.ts');
  return measureExport(messages, (step, seconds) => console.error(`${step}: ${figure(seconds)} s`));
}

async function searched(): Promise<Measured['search'][number]> {
  const { measureSearch } = await import('./search.ts');
  return measureSearch(messages, (step, seconds) => console.error(`${step}: ${figure(seconds)} s`));
}

const right = (...heads: readonly string[]) => heads.map((head) => ({ head, figures: true }));

function print(title: string, table: string): void {
  console.log(`\n${title}\n\n${table}`);
}

/** One line for each operation: what it takes, what it costs, how fast it is, and its function. */
function printOperations({ counts, load, functions }: Measured): void {
  const names = [
    ...new Set([...counts.map(({ operation }) => operation), ...load.map(({ operation }) => operation)]),
  ];
  if (names.length === 0) return;
  const pair = (a: number, b: number): string => (a === b ? figure(a) : `${figure(a)}/${figure(b)}`);
  const rows = names.map((name) => {
    const row = counts.find(({ operation }) => operation === name);
    const endpoint = name.split(':', 1)[0];
    const at = (level: number) => load.find((one) => one.operation === name && one.inFlight === level);
    const bundle = functions.find(({ id }) => id === endpoint);
    return [
      name,
      row ? pair(row.cold.roundTrips, row.warm.roundTrips) : '',
      row ? pair(row.cold.requests, row.warm.requests) : '',
      row ? pair(row.cold.readUnits, row.warm.readUnits) : '',
      row ? pair(row.cold.writeUnits, row.warm.writeUnits) : '',
      row ? dollars(callCost(row) * 1e6) : '',
      ...[1, 8, 32].map((level) => {
        const measured = at(level);
        return measured ? `${figure(measured.p50)}/${figure(measured.p99)}` : '';
      }),
      [1, 8, 32]
        .map((level) => at(level)?.perSecond)
        .map((speed) => (speed === undefined ? '' : figure(speed)))
        .join('/')
        .replace(/^\/+$/, ''),
      bundle ? figure(bundle.bytes / 1_024) : '',
      bundle ? figure(bundle.importMs) : '',
      bundle ? figure(bundle.peakMb) : '',
    ];
  });
  const columns = [
    { head: 'operation' },
    ...right('trips', 'requests', 'read', 'write', '$ a million'),
    ...right('ms at 1', 'at 8', 'at 32', 'a second'),
    ...right('bundle KB', 'import ms', 'peak MB'),
  ];
  const isThere = columns.map((_, i) => i === 0 || rows.some((row) => row[i] !== ''));
  print(
    'Operations. Cold/warm where they differ; p50/p99 and replies a second at 1, 8 and 32 in flight.',
    terminalTable(
      columns.filter((_, i) => isThere[i]),
      rows.map((row) => row.filter((_, i) => isThere[i])),
    ),
  );
}

function printOthers(measured: Measured): void {
  const { growth, load, turns, delivery, functions, plugins, processor, sizes, start, stack, search } =
    measured;
  const { export: exports } = measured;
  if (growth.length > 0) {
    print(
      'Growth, warm, by how many there are of each (docs/GROWTH.md).',
      terminalTable(
        [
          { head: 'of' },
          { head: 'operation' },
          ...right('trips', 'read', 'write', '$ a million'),
          { head: 'grows' },
        ],
        growthRows(growth),
      ),
    );
  }
  const told = [
    ...(load.length > 0 ? loadNotes(load) : []),
    ...(turns.length > 0 ? [turnTable(turns)] : []),
    ...(delivery.length > 0 ? [deliveryTable(delivery)] : []),
    ...(functions.length > 0 ? [functionTable(functions)] : []),
    ...(plugins.length > 0 ? [pluginTable(plugins)] : []),
    ...(processor.length > 0 ? [processorTable(processor)] : []),
    ...(sizes.length > 0 ? [sizeTable(sizes)] : []),
    ...(start.length > 0 ? [startTable(start)] : []),
    ...(stack.length > 0 ? [stackTable(stack)] : []),
    ...(exports.length > 0 ? [exportTable(exports)] : []),
    ...search.flatMap(({ index, rows }) => [indexTable(index), searchTable(rows)]),
  ];
  for (const { title, table } of told) print(title, table);
}

const sections = sectionsOf(values.only);
const [messages, clients] = [numberOf('messages'), numberOf('clients')];
const measured = await measure(sections);
const budgets = budgetRows(measured);
if (values.json) console.log(JSON.stringify({ ...measured, budgets }, undefined, 2));
else {
  printOperations(measured);
  printOthers(measured);
  if (budgets.length > 0) {
    const { title, table } = budgetTable(budgets);
    print(title, table);
  }
}
if (values.write) {
  if (!sections.has('counts') || !sections.has('growth')) throw new Error('--write needs counts and growth.');
  if (values.of !== undefined || values.sizes !== undefined) throw new Error('--write needs all growth.');
  await record(measured);
  console.error('docs/ is made anew.');
}
