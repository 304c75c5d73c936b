/**
 * `npm run -s trace < LINES`: shows where in the sources the stack traces of a function's log come from. The functions are
 * built from this checkout for it, which must be the one that was deployed.
 */
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { buildFunctions } from './build.ts';
import { readableTrace } from './stack-trace.ts';

const outdir = join(resolve(import.meta.dirname, '..'), 'dist');
const { bundles } = await buildFunctions({ outdir, sourceMaps: true });
let traces = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const trace = await readableTrace(line, { bundles, outdir });
  if (trace === undefined) continue;
  traces += 1;
  console.log(`${trace}\n`);
}
if (traces === 0) {
  console.error('There was no line of a log with an error in it.');
  process.exitCode = 1;
}
