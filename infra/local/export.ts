/**
 * `npm run export -- inspect FILE`: prints what is in the archive of a data export, and whether it is complete.
 */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { inspectExport } from './export-archive.ts';

const [verb, file, ...others] = process.argv.slice(2);
if (verb !== 'inspect' || file === undefined || others.length > 0) {
  console.error('Say which archive to look into: npm run export -- inspect FILE');
  process.exit(2);
}
try {
  // npm runs scripts in the project's folder; the file is meant to be where npm was called.
  const path = resolve(process.env.INIT_CWD ?? '.', file);
  const { manifest, counts, files, problems } = await inspectExport(createReadStream(path));
  if (manifest) {
    const asked = new Date(1000 * manifest.export_time).toISOString();
    console.log(
      `Export ${manifest.export_id} (${manifest.export_type}), asked for at ${asked}, ${files} files:`,
    );
  }
  for (const [section, count] of Object.entries(counts))
    console.log(`${String(count).padStart(9)} ${section}`);
  for (const problem of problems) console.error(problem);
  console.log(problems.length === 0 ? 'The archive is whole.' : 'The archive is not as it should be.');
  process.exitCode = problems.length === 0 ? 0 : 1;
} catch (error) {
  console.error(
    `This is not the archive of an export: ${error instanceof Error ? error.message : String(error)}.`,
  );
  process.exitCode = 1;
}
