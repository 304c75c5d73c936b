/**
 * `npm run check`: types, lint, dead code and layers, side by side. A line for each; what a tool says is shown only if
 * it fails. Tools reuse what they found in unchanged files (`node_modules/.cache/parlance`); `npm test` starts afresh.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { checks, project } from './checks.ts';

const run = promisify(execFile);

const ends = await Promise.all(
  checks.map(async ({ name, script, args, cached }) => {
    const begin = performance.now();
    const end = (passed: boolean) =>
      console.log(
        `${passed ? 'ok    ' : 'FAILED'} ${name.padEnd(9)} ${((performance.now() - begin) / 1000).toFixed(1)} s`,
      );
    try {
      await run(process.execPath, [script, ...args, ...cached], { cwd: project, maxBuffer: 64 << 20 });
      end(true);
      return '';
    } catch (error) {
      end(false);
      const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
      return `\n--- ${name}\n${(stdout + stderr).trim() || message}`;
    }
  }),
);
for (const said of ends) if (said) console.log(said);
process.exitCode = ends.every((said) => said === '') ? 0 : 1;
