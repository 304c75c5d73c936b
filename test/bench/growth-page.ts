import { PEOPLE } from './activity.ts';
import { type Counted, callCost } from './call-cost.ts';
import { monthCost } from './cost.ts';
import type { CrowdName } from './crowd.ts';
import { type GrowthRow, verdictOf } from './growth.ts';
import { type Plot, plotted } from './plot.ts';
import { dollars, figure, markdownTable } from './table.ts';
import { inFunctions, inServer } from './waiting.ts';

/** The rows of one operation, the smallest first. */
interface Curve {
  readonly operation: string;
  readonly rows: readonly GrowthRow[];
}

/** Why something grows, where that is known. */
const WHY: Partial<Readonly<Record<CrowdName, string>>> = {
  channels: "the caller's subscriptions say which messages to look for, 80 to a read unit",
  'nested groups':
    'the graph of groups is one item that every request reads, 100 KB at the most edges there may be; and who is in a group is one query for each group that is told',
  messages:
    'which messages somebody has read is noted by topic until later registrations make that short; it ends at some hundred for each place',
  'unread messages': 'each is read to know its topic, and told as a number; 5,000 at most are told',
};

/** How the page says a verdict. */
const SAYS = {
  'the same': 'no',
  'levels off': 'levels off',
  'with the reply': 'with the reply',
  grows: '**yes**',
} as const;

const kinds = (growth: readonly GrowthRow[]): CrowdName[] => [...new Set(growth.map(({ of }) => of))];

function curvesOf(growth: readonly GrowthRow[], of: CrowdName): Curve[] {
  const rows = growth.filter((row) => row.of === of);
  const operations = [...new Set(rows.map(({ operation }) => operation))];
  return operations.map((operation) => ({
    operation,
    rows: rows.filter((row) => row.operation === operation).toSorted((a, b) => a.size - b.size),
  }));
}

const sizesOf = (growth: readonly GrowthRow[], of: CrowdName): number[] =>
  [...new Set(growth.filter((row) => row.of === of).map(({ size }) => size))].sort((a, b) => a - b);

/** `docs/GROWTH.md`: what becomes of operations where there is more of everything. */
export function growthPage({ growth }: Counted): string {
  const sections = kinds(growth).flatMap((of) => [
    `## ${of[0]?.toUpperCase()}${of.slice(1)}`,
    '',
    markdownTable(
      [
        { head: 'operation' },
        ...['round trips', 'requests', 'read units', 'write units', 'reply, KB'].map((what) => ({
          head: `${what}: ${sizesOf(growth, of).map(figure).join(' / ')}`,
          figures: true,
        })),
        { head: 'grows' },
      ],
      curvesOf(growth, of).map(({ operation, rows }) => [
        operation,
        ...[
          rows.map(({ warm }) => figure(warm.roundTrips)),
          rows.map(({ warm }) => figure(warm.requests)),
          rows.map(({ warm }) => figure(warm.readUnits)),
          rows.map(({ warm }) => figure(warm.writeUnits)),
          rows.map(({ warm }) => figure(warm.toldBytes / 1_024)),
        ].map((cells) => (new Set(cells).size === 1 ? (cells[0] ?? '') : cells.join(' / '))),
        SAYS[verdictOf(rows)],
      ]),
    ),
    '',
  ]);
  const growing = kinds(growth).flatMap((of) => {
    const grows = curvesOf(growth, of).filter(({ rows }) => verdictOf(rows) === 'grows');
    const names = grows.map(({ operation }) => `\`${operation}\``);
    return names.length === 0 ? [] : [`${of}: ${names.join(', ')}${WHY[of] ? ` (${WHY[of]})` : ''}`];
  });
  return `${[
    '# How cost grows',
    '',
    '_Made by `npm run bench -- --only counts,growth --write`. Do not edit it by hand; `npm test` compares it._',
    '',
    'What one warm call takes by how many of something there are. Counted, not timed, so it is the same on every machine.',
    '"With the reply": more is read because more is told. "Levels off": no more from the second size on.',
    'What a million messages do: [LIMITS.md](LIMITS.md#a-million-messages).',
    '',
    '![What grows](growth.svg)',
    '',
    growing.length === 0
      ? 'Nothing grows but what a reply tells.'
      : `What grows by more than what it tells:\n\n${growing.map((one) => `- ${one}`).join('\n')}`,
    '',
    ...sections,
  ].join('\n')}`;
}

const unitsOf = ({ warm }: GrowthRow): number => warm.readUnits + 5 * warm.writeUnits;

/** `docs/growth.svg`: units by size, a plot for each thing there may be much of. */
export const growthPlot = ({ growth }: Counted): string =>
  plotted(
    kinds(growth).map(
      (of): Plot => ({
        title: `Units of one call, by ${of}`,
        x: of,
        y: 'read units + 5 × write units',
        series: chosen(curvesOf(growth, of)).map(({ operation, rows }) => ({
          name: operation,
          points: rows.map((row) => [row.size, Math.max(1, unitsOf(row))] as const),
        })),
      }),
    ),
  );

/** The curves that a plot has room for: those that grow most, and the commonest ones. */
function chosen(curves: readonly Curve[]): Curve[] {
  const growth = ({ rows }: Curve): number => {
    const [least, most] = [rows[0], rows.at(-1)];
    return least && most ? unitsOf(most) / Math.max(1, unitsOf(least)) : 1;
  };
  const first = curves.slice(0, 3);
  const rest = curves.slice(3).toSorted((a, b) => growth(b) - growth(a));
  return [...first, ...rest].slice(0, 7);
}

/** `docs/cost.svg`: what a month costs by active people, for each way to wait. */
export const costPlot = (counted: Counted): string =>
  plotted(
    [
      {
        title: 'Dollars a month, by active people',
        x: 'active people',
        y: 'dollars a month',
        series: [
          { name: 'each client waits in a function', waiting: inFunctions() },
          { name: 'a server at five times the price', waiting: inServer(5) },
          { name: 'a server holds polls', waiting: inServer() },
        ].map(({ name, waiting }) => ({
          name,
          points: PEOPLE.map((people) => [people, monthCost(counted, people, waiting)] as const),
        })),
      },
    ],
    1,
  );

/** Rows for the terminal. */
export const growthRows = (growth: readonly GrowthRow[]) =>
  kinds(growth).flatMap((of) =>
    curvesOf(growth, of).map(({ operation, rows }) => [
      of,
      operation,
      rows.map(({ warm }) => figure(warm.roundTrips)).join(' / '),
      rows.map(({ warm }) => figure(warm.readUnits)).join(' / '),
      rows.map(({ warm }) => figure(warm.writeUnits)).join(' / '),
      rows.map((row) => dollars(callCost(row) * 1e6)).join(' / '),
      // One size alone says nothing about growth.
      rows.length > 1 ? verdictOf(rows) : '',
    ]),
  );
