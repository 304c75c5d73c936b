/**
 * `npm run check`: types, lint, dead code and layers, side by side. A line for each; what a tool says is shown only if
 * it fails. Tools reuse what they found in unchanged files (`node_modules/.cache/parlance`); `npm test` starts afresh.
 */
import { runChecks } from './checks.ts';

const found = await runChecks(true, (name, passed, ms) =>
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name.padEnd(9)} ${(ms / 1000).toFixed(1)} s`),
);
for (const [name, output] of found) console.log(`\n--- ${name}\n${output}`);
process.exitCode = found.size === 0 ? 0 : 1;
