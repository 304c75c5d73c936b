type Cell = string | number;

/** A column: what stands above it, and whether its cells are figures, which stand at its right. */
export interface Column {
  readonly head: string;
  readonly figures?: boolean;
}

const text = (cell: Cell): string => (typeof cell === 'number' ? figure(cell) : cell);

/** A figure with as many digits as say something. */
export function figure(value: number): string {
  if (Number.isNaN(value)) return '–';
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: 0, maximumFractionDigits: digits });
}

/** Dollars, to the cent, or as precisely as it takes where they are few. */
export function dollars(value: number): string {
  if (value >= 1_000) return `$${Math.round(value).toLocaleString('en-US')}`;
  return `$${value.toFixed(value >= 0.01 || value === 0 ? 2 : 4)}`;
}

/** A table for a terminal. */
export function terminalTable(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const cells = [columns.map(({ head }) => head), ...rows.map((row) => row.map(text))];
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => (row[i] ?? '').length)));
  const line = (row: readonly string[]): string =>
    columns
      .map(({ figures }, i) => {
        const cell = row[i] ?? '';
        return figures ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0);
      })
      .join('  ')
      .trimEnd();
  const [head = [], ...body] = cells;
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...body.map(line)].join('\n');
}

/** A table in Markdown, its columns as wide as their widest cell. */
export function markdownTable(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const escaped = (cell: string): string => cell.replaceAll('|', '\\|');
  const cells = [columns.map(({ head }) => head), ...rows.map((row) => row.map(text))].map((row) =>
    row.map(escaped),
  );
  const widths = columns.map((_, i) => Math.max(3, ...cells.map((row) => (row[i] ?? '').length)));
  const line = (row: readonly string[]): string => {
    const padded = columns.map(({ figures }, i) => {
      const [cell, width] = [row[i] ?? '', widths[i] ?? 0];
      return figures ? cell.padStart(width) : cell.padEnd(width);
    });
    return `| ${padded.join(' | ')} |`;
  };
  const [head = [], ...body] = cells;
  const under = columns.map(({ figures }, i) => {
    const width = widths[i] ?? 0;
    return figures ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width);
  });
  return [line(head), `| ${under.join(' | ')} |`, ...body.map(line)].join('\n');
}
