import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Counted } from './call-cost.ts';
import { costPage } from './cost-page.ts';
import type { CountRow } from './counts.ts';
import type { GrowthRow } from './growth.ts';
import { costPlot, growthPage, growthPlot } from './growth-page.ts';

const file = join(import.meta.dirname, 'recorded.ndjson');
const docs = join(import.meta.dirname, '../../docs');

/** The pages that are made from what was counted, by the name of their file in `docs/`. */
export const pagesOf = (counted: Counted): Readonly<Record<string, string>> => ({
  'COST.md': costPage(counted),
  'GROWTH.md': growthPage(counted),
  'growth.svg': growthPlot(counted),
  'cost.svg': costPlot(counted),
});

/** What was counted when the pages were made. */
export async function readRecorded(): Promise<Counted> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const rows: readonly (CountRow | GrowthRow)[] = lines.map((line) => JSON.parse(line));
  return { counts: rows.filter((row) => !('of' in row)), growth: rows.filter((row) => 'of' in row) };
}

/** The pages as they are. */
export const readPage = (name: string): Promise<string> => readFile(join(docs, name), 'utf8');

/** Records what was counted, and writes the pages again. */
export async function record(counted: Counted): Promise<void> {
  // One row a line, so that a change of a count is a change of a line.
  const rows = [...counted.counts, ...counted.growth].map((row) => `${JSON.stringify(row)}\n`);
  await writeFile(file, rows.join(''));
  for (const [name, page] of Object.entries(pagesOf(counted))) await writeFile(join(docs, name), page);
}
