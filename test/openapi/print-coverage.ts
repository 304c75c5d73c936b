/**
 * `npm run api-coverage`: prints which endpoints of Zulip's API are here, and why others are not, and writes the latter into
 * the README. Fails if the list in `zulip-endpoints.ts` and the declarations do not fit together.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { absentList, coverageOf, withAbsentList } from './coverage.ts';

const readme = new URL('../../README.md', import.meta.url);

const coverage = coverageOf();
console.log(absentList(coverage));
console.log(`\n${coverage.ours} more are our own.`);
for (const error of coverage.errors) console.error(error);
if (coverage.errors.length === 0)
  writeFileSync(readme, withAbsentList(readFileSync(readme, 'utf8'), coverage));
else process.exitCode = 1;
