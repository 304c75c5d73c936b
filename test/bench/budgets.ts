import { endpoints } from '../../shared/endpoints/all.ts';
import type { Method } from '../../shared/endpoints/endpoint.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { COSTED } from './call-cost.ts';
import type { CountRow } from './counts.ts';
import type { FunctionRow } from './functions.ts';
import type { Measured } from './measured.ts';
import { isBudgeted } from './search.ts';
import { importRatioOf, type Told } from './speed-tables.ts';
import { figure, terminalTable } from './table.ts';

/** A number of DESIGN 7, and what was measured of it. */
export interface BudgetRow {
  readonly what: string;
  /** At most so much. */
  readonly budget: number;
  readonly measured: number;
  readonly verdict: 'within' | 'OVER';
  /** What it is a figure of, or what is over. */
  readonly note?: string;
}

/** A row for each number of DESIGN 7 that was measured. Tests assert most of them, but times are only here. */
export const budgetRows = (measured: Measured): readonly BudgetRow[] => [
  ...tripRows(measured),
  ...unitRows(measured),
  ...functionRows(measured),
  ...measured.stack.map(({ settings, resources }) =>
    judged(`CloudFormation resources, ${settings} of the settings`, designBudgets.resources, resources),
  ),
  ...exportRows(measured),
  ...searchRows(measured),
  ...processorRows(measured),
  ...memoryRows(measured),
  ...startRows(measured),
  ...turnRows(measured),
  ...wakeRows(measured),
  ...crowdRows(measured),
  ...heldRows(measured),
];

const judged = (what: string, budget: number, measured: number, note?: string): BudgetRow => ({
  what,
  budget,
  measured,
  verdict: measured <= budget ? 'within' : 'OVER',
  ...(note !== undefined && { note }),
});

const methods: ReadonlyMap<string, Method> = new Map(endpoints.map(({ id, method }) => [id, method]));

/** A GET is a read, unless it changes something: a provider of calls can only send a browser back by a GET. */
export const isRead = ({ endpoint, warm }: CountRow): boolean =>
  methods.get(endpoint) === 'GET' && warm.writeUnits === 0;

function tripRows({ counts }: Measured): readonly BudgetRow[] {
  const { sendColdTrips, sendWarmTrips, writeTrips, readTrips, readColdTrips } = designBudgets;
  const sends = counts.filter(({ endpoint }) => endpoint === 'messages.send');
  // A poll that is held is a read that looks again and again until its time is over, not one that takes long.
  const others = counts.filter((row) => row.endpoint !== 'messages.send' && row.operation !== COSTED.hold);
  const writes = others.filter((row) => !isRead(row));
  const reads = others.filter(isRead);
  return [
    ...tripRow('sending a message', 'cold', sendColdTrips, sends),
    ...tripRow('sending a message', 'warm', sendWarmTrips, sends),
    ...tripRow('other writes', 'cold', writeTrips, writes),
    ...tripRow('other writes', 'warm', writeTrips, writes),
    ...tripRow('other reads', 'cold', readColdTrips, reads),
    ...tripRow('other reads', 'warm', readTrips, reads),
  ];
}

/** The most round trips of some operations, and for each endpoint over the budget the operation that takes most. */
function tripRow(
  what: string,
  container: 'cold' | 'warm',
  budget: number,
  counts: readonly CountRow[],
): readonly BudgetRow[] {
  const sorted = counts.toSorted((a, b) => b[container].roundTrips - a[container].roundTrips);
  const [most] = sorted;
  if (!most) return [];
  const over = sorted.filter(
    (row, i) =>
      row[container].roundTrips > budget &&
      sorted.findIndex(({ endpoint }) => endpoint === row.endpoint) === i,
  );
  const named = over.map((row) => `${row.operation} ${row[container].roundTrips}`).join(', ');
  const title = `round trips, ${what}, ${container}`;
  return [judged(title, budget, most[container].roundTrips, named || undefined)];
}

function unitRows({ counts, growth }: Measured): readonly BudgetRow[] {
  const { messageUnits, fewSubscribers, manySubscribers } = designBudgets;
  const retried = counts.find(({ operation }) => operation === COSTED.toChannel);
  const among = (size: number): number | undefined => {
    const rows = growth.filter(
      (row) => row.of === 'subscribers' && row.size === size && row.endpoint === 'messages.send',
    );
    return rows.length === 0 ? undefined : Math.max(...rows.map(unitsOf));
  };
  const [few, many] = [among(fewSubscribers), among(manySubscribers)];
  const title = (which: string): string => `write units, a channel message ${which}`;
  const to = (size: number): string => title(`to ${figure(size)}`);
  return [
    ...(retried ? [judged(title('that may be sent again'), messageUnits, unitsOf(retried))] : []),
    ...(few === undefined ? [] : [judged(to(fewSubscribers), messageUnits, few)]),
    ...(many === undefined ? [] : [judged(to(manySubscribers), messageUnits, many)]),
    ...(few === undefined || many === undefined
      ? []
      : [judged(title(`to ${figure(manySubscribers)}, more than to ${fewSubscribers}`), 0, many - few)]),
  ];
}

const unitsOf = ({ cold, warm }: CountRow): number => Math.max(cold.writeUnits, warm.writeUnits);

/** Of the functions behind the gateway: the budget is theirs, and a worker starts while nobody waits. */
function functionRows({ functions }: Measured): readonly BudgetRow[] {
  const { bundleBytes, markdownBundleBytes, passwordBundleBytes, importRatio } = designBudgets;
  const ours = functions.filter(({ id }) => methods.has(id));
  const most = (
    what: string,
    budget: number,
    rows: readonly FunctionRow[],
    of: (row: FunctionRow) => number,
  ): readonly BudgetRow[] => {
    const [top] = rows.toSorted((a, b) => of(b) - of(a));
    return top ? [judged(what, budget, of(top), top.id)] : [];
  };
  const largest = (what: string, bytes: number): readonly BudgetRow[] =>
    most(
      `bytes, the largest bundle ${what}`,
      bytes,
      ours.filter(({ budget }) => budget === bytes),
      (row) => row.bytes,
    );
  return [
    ...largest('without Markdown', bundleBytes),
    ...largest('with Markdown', markdownBundleBytes),
    ...largest('that takes new passwords', passwordBundleBytes),
    ...most("an import, to the bare document client's", importRatio, ours, importRatioOf),
  ];
}

const exportRows = (measured: Measured): readonly BudgetRow[] =>
  measured.export.map(({ messages, runs, seconds, peakMb }) => {
    const size = messages === designBudgets.exportMessages ? '' : 'a smaller one than the budget is for; ';
    return judged(
      `MB at the peak, an export of ${figure(messages)} messages`,
      designBudgets.exportMb,
      peakMb,
      `${size}${figure(seconds)} s, runs: ${runs}`,
    );
  });

const searchRows = ({ search }: Measured): readonly BudgetRow[] =>
  search.flatMap(({ rows }) => {
    const budgeted = rows.filter(isBudgeted);
    const { searchMessages, searchColdMs, searchWarmMs } = designBudgets;
    const slowest = (time: 'coldMs' | 'warmMs', budget: number, where: string): readonly BudgetRow[] => {
      const [top] = budgeted.toSorted((a, b) => b[time] - a[time]);
      if (top === undefined) return [];
      const size = top.messages === searchMessages ? '' : 'not as many as the budget is for; ';
      const what = `ms, the first page of a search among ${figure(top.messages)} messages, ${where}`;
      return [judged(what, budget, top[time], `${size}for ${top.what}`)];
    };
    return [
      ...slowest('coldMs', searchColdMs, 'in a new process'),
      ...slowest('warmMs', searchWarmMs, 'in one that searched before'),
    ];
  });

const processorRows = ({ processor }: Measured): readonly BudgetRow[] =>
  processor.map(({ operation, ratio, budget, sdkRatio }) =>
    judged(
      `processor time, ${operation}, to a bare loop of its requests`,
      budget,
      ratio,
      `${figure(sdkRatio)} to a loop with the client of the SDK`,
    ),
  );

const memoryRows = ({ memory }: Measured): readonly BudgetRow[] =>
  memory.map(({ when, mb }) =>
    judged(
      `MB of all processes, ${when}`,
      when === 'every function was called' ? designBudgets.calledMb : designBudgets.idleMb,
      mb,
    ),
  );

const turnRows = ({ turns }: Measured): readonly BudgetRow[] =>
  turns.map(({ operation, p50, p99, limit }) =>
    judged(`ms, ${operation}, in turn with others, p50`, limit, p50, `99 in 100 within ${figure(p99)}`),
  );

const startRows = ({ start }: Measured): readonly BudgetRow[] =>
  start.map(({ start: state, p50, max }) =>
    judged(
      `s, npm start, ${state}, p50`,
      state === 'nothing changed' ? designBudgets.restartSeconds : designBudgets.startSeconds,
      p50 / 1000,
      `packages installed; at most ${figure(max / 1000)}`,
    ),
  );

/**
 * With one client, so that it is the wake that is measured and not the queue for processors. Judged from before the
 * commit, so that what is within is surely within.
 */
function wakeRows({ delivery }: Measured): readonly BudgetRow[] {
  const alone = delivery.find(({ waiting, deliveries }) => waiting === 1 && deliveries > 0);
  if (!alone) return [];
  const note = (afterReply: number): string =>
    `from the sender's request; from their reply, after the commit, ${figure(afterReply)}`;
  const { wakeMedianMs, wakeMs } = designBudgets;
  return [
    judged('ms, a blocked poll wakes, p50', wakeMedianMs, alone.p50, note(alone.afterReply.p50)),
    judged('ms, a blocked poll wakes, at most', wakeMs, alone.max, note(alone.afterReply.max)),
  ];
}

/** With many clients of one organization, who share two processors with the service. */
const crowdRows = ({ delivery }: Measured): readonly BudgetRow[] =>
  delivery
    .filter(({ waiting, deliveries }) => waiting === designBudgets.crowd && deliveries > 0)
    .map(({ waiting, p50, failed }) =>
      judged(`ms, ${waiting} blocked polls wake, p50`, designBudgets.crowdMedianMs, p50, `${failed} failed`),
    );

/** Reads a minute for each poll, besides looks: less than one, since an environment reads for all that it holds. */
const MOST_READS = 0.5;

/** What clients take that wait while nothing happens. */
function heldRows({ held }: Measured): readonly BudgetRow[] {
  const { waitingMb, looks: mostLooks } = designBudgets;
  return held.flatMap(({ clients, organizations, ended, idleMb, heldMb, functions, looks, reads }) => {
    const early = Object.entries(ended).map(([how, count]) => `${figure(count)} with ${how}`);
    const waiting = `while ${figure(clients)} clients wait`;
    const memory =
      idleMb === undefined || heldMb === undefined
        ? []
        : [
            judged(
              `MB more ${waiting}`,
              waitingMb,
              heldMb - idleMb,
              `${figure(idleMb)} without them, ${figure(heldMb)} with them`,
            ),
          ];
    return [
      ...memory,
      judged(`functions that run ${waiting}`, 0, functions),
      judged(
        `polls that end early ${waiting}`,
        0,
        Object.values(ended).reduce((sum, count) => sum + count, 0),
        early.join(', '),
      ),
      judged(`other reads a minute for each of ${figure(clients)} polls that wait`, MOST_READS, reads),
      judged(`looks a second at one log ${waiting}`, mostLooks, looks, `in ${organizations} organizations`),
    ];
  });
}

/** The rows for a terminal. */
export function budgetTable(rows: readonly BudgetRow[]): Told {
  const over = rows.filter(({ verdict }) => verdict === 'OVER').length;
  return {
    title: `Budgets of DESIGN 7 (the highest of each): ${rows.length} measured, ${over} over.`,
    table: terminalTable(
      [
        { head: 'what' },
        { head: 'budget', figures: true },
        { head: 'measured', figures: true },
        { head: '' },
        { head: 'note' },
      ],
      rows.map(({ what, budget, measured, verdict, note = '' }) => [what, budget, measured, verdict, note]),
    ),
  };
}
