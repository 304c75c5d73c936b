import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

const projectRoot = resolve(import.meta.dirname, '..');

/** Every file at or below a path. */
async function filesOf(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/**
 * Digest over files, their places in the project, and a value (as JSON). A build with the
 * same digest as the last one can reuse its result.
 *
 * @param paths Absolute paths of files and folders, all of which must exist.
 */
export async function digestOf(paths: readonly string[], value: unknown): Promise<string> {
  const files = (await Promise.all(paths.map(filesOf))).flat().sort();
  const hash = createHash('sha256').update(JSON.stringify(value));
  for (const file of files) {
    hash.update(`\0${relative(projectRoot, file)}\0`).update(await readFile(file));
  }
  return hash.digest('hex');
}
