/** A line of a plot: how something at its x grows. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Plot {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly series: readonly Series[];
}

const WIDTH = 430;
const HEIGHT = 300;
const MARGIN = { left: 62, right: 16, top: 40, bottom: 46 } as const;
const LEGEND_LINE = 17;

/** Dark enough on white, and told apart by those who see few colours; dashes tell them apart too. */
const STYLES = [
  ['#0072b2', ''],
  ['#d55e00', ''],
  ['#009e73', ''],
  ['#cc79a7', ''],
  ['#555555', '6 3'],
  ['#b8860b', '2 3'],
  ['#56b4e9', '8 3 2 3'],
] as const;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const tickText = (value: number): string => {
  if (value >= 1_000_000) return `${value / 1_000_000}M`;
  if (value >= 1_000) return `${value / 1_000}k`;
  return String(value);
};

/** The powers of ten around some numbers above zero. */
function decades(values: readonly number[]): number[] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: high - low + 1 }, (_, i) => Number(`1e${low + i}`));
}

interface Scale {
  readonly ticks: readonly number[];
  readonly at: (value: number) => number;
}

function logScale(values: readonly number[], from: number, to: number): Scale {
  const ticks = decades(values);
  const [low, high] = [Math.log10(ticks[0] ?? 1), Math.log10(ticks.at(-1) ?? 10)];
  return { ticks, at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from) };
}

const round = (value: number): string => value.toFixed(1).replace(/\.0$/, '');

function axes({ x, y }: Plot, across: Scale, up: Scale): string[] {
  const [left, right] = [MARGIN.left, WIDTH - MARGIN.right];
  const [top, bottom] = [MARGIN.top, HEIGHT - MARGIN.bottom];
  return [
    ...up.ticks.flatMap((tick) => [
      `<path class="grid" d="M${left} ${round(up.at(tick))}H${right}"/>`,
      `<text class="tick" x="${left - 8}" y="${round(up.at(tick) + 4)}" text-anchor="end">${tickText(tick)}</text>`,
    ]),
    ...across.ticks.flatMap((tick) => [
      `<path class="grid" d="M${round(across.at(tick))} ${top}V${bottom}"/>`,
      `<text class="tick" x="${round(across.at(tick))}" y="${bottom + 17}" text-anchor="middle">${tickText(tick)}</text>`,
    ]),
    `<path class="axis" d="M${left} ${top}V${bottom}H${right}"/>`,
    `<text class="label" x="${(left + right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${escaped(x)}</text>`,
    `<text class="label" transform="translate(15 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(y)}</text>`,
  ];
}

function lines({ series }: Plot, across: Scale, up: Scale): string[] {
  return series.flatMap(({ points }, i) => {
    const [color, dashes] = STYLES[i % STYLES.length] ?? STYLES[0];
    const at = points.map(([x, y]) => [round(across.at(x)), round(up.at(y))] as const);
    const path = at.map(([x, y], k) => `${k === 0 ? 'M' : 'L'}${x} ${y}`).join('');
    return [
      `<path class="line" stroke="${color}"${dashes && ` stroke-dasharray="${dashes}"`} d="${path}"/>`,
      ...at.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${color}"/>`),
    ];
  });
}

function legend({ series }: Plot): string[] {
  return series.flatMap(({ name }, i) => {
    const [color, dashes] = STYLES[i % STYLES.length] ?? STYLES[0];
    const y = HEIGHT + 10 + i * LEGEND_LINE;
    return [
      `<path class="line" stroke="${color}"${dashes && ` stroke-dasharray="${dashes}"`} d="M${MARGIN.left} ${y}h24"/>`,
      `<text class="tick" x="${MARGIN.left + 32}" y="${y + 4}">${escaped(name)}</text>`,
    ];
  });
}

const heightOf = ({ series }: Plot): number => HEIGHT + 14 + series.length * LEGEND_LINE;

/** One plot with both axes in powers of ten, without its frame. Nothing of it may be zero. */
function panel(plot: Plot): string[] {
  const points = plot.series.flatMap((one) => one.points);
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const across = logScale(xs, MARGIN.left, WIDTH - MARGIN.right);
  const up = logScale(ys, HEIGHT - MARGIN.bottom, MARGIN.top);
  return [
    `<text class="title" x="${MARGIN.left}" y="22">${escaped(plot.title)}</text>`,
    ...axes(plot, across, up),
    ...lines(plot, across, up),
    ...legend(plot),
  ];
}

/** Plots beside and below each other, as one SVG image. */
export function plotted(plots: readonly Plot[], columns = 2): string {
  const rows = Array.from({ length: Math.ceil(plots.length / columns) }, (_, i) =>
    plots.slice(i * columns, (i + 1) * columns),
  );
  const heights = rows.map((row) => Math.max(...row.map(heightOf)) + 16);
  const height = heights.reduce((sum, one) => sum + one, 0);
  const width = WIDTH * Math.min(columns, plots.length);
  const panels = rows.flatMap((row, r) => {
    const top = heights.slice(0, r).reduce((sum, one) => sum + one, 0);
    return row.flatMap((plot, c) => [
      `<g transform="translate(${c * WIDTH} ${top})">`,
      ...panel(plot),
      '</g>',
    ]);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(plots.map(({ title }) => title).join('; '))}</title>`,
    '<style>',
    'text{font-family:system-ui,sans-serif;fill:#222}.title{font-size:14px;font-weight:600}',
    '.tick{font-size:11px}.label{font-size:12px;fill:#444}.grid{stroke:#e4e4e4;fill:none}',
    '.axis{stroke:#666;fill:none}.line{stroke-width:2;fill:none}',
    '</style>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...panels,
    '</svg>',
    '',
  ].join('\n');
}
