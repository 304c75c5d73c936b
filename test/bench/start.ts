import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './latencies.ts';
import { startService } from './service.ts';

const project = join(import.meta.dirname, '../..');

/** All that `npm start` reads besides the packages. */
const PARTS = ['cdk.json', 'functions', 'infra', 'package-lock.json', 'package.json', 'shared'];

export interface StartRow {
  readonly start: 'everything to build' | 'nothing changed';
  /** ms until the line that says that it is ready. */
  readonly p50: number;
  readonly max: number;
}

/**
 * Measures `npm start`, its packages installed, from the command to its last line: in a copy of the project, so that
 * what others have built is left alone.
 *
 * @param rounds How often it starts in each way.
 */
export async function measureStart(rounds = 3): Promise<readonly StartRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-start-'));
  try {
    for (const part of PARTS) {
      // The modification time of the lock file decides whether the packages are up to date.
      await cp(join(project, part), join(folder, part), { recursive: true, preserveTimestamps: true });
    }
    await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
    const [built, unchanged] = [[] as number[], [] as number[]];
    for (let round = 0; round < rounds; round++) {
      for (const made of ['dist', 'data']) await rm(join(folder, made), { recursive: true, force: true });
      built.push(await startOnce(folder));
      unchanged.push(await startOnce(folder));
    }
    return [rowOf('everything to build', built), rowOf('nothing changed', unchanged)];
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** With the data of the start before, as on a laptop. */
async function startOnce(folder: string): Promise<number> {
  const service = await startService({ folder, environment: { DATA_DIR: join(folder, 'data') } });
  await service.stop();
  return service.readyMs;
}

const rowOf = (start: StartRow['start'], times: readonly number[]): StartRow => ({
  start,
  p50: median(times),
  max: Math.max(...times),
});
