import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartProblem } from './start-problem.ts';

/** The folder in which the local cloud keeps everything, held by this process alone. */
export interface DataDirectory {
  readonly path: string;
  /** Lets another process have it. */
  release(): void;
}

/** Another process has the folder. */
export class DirectoryInUse extends StartProblem {}

/**
 * Makes the folder and takes it for this process. The lock is one of the operating system, which takes it back
 * from a process that ends in whatever way.
 *
 * @param patience Milliseconds to wait for another process, which may be just about to end.
 * @throws DirectoryInUse when another process has the folder.
 * @throws StartProblem when it cannot be written.
 */
export function openDataDirectory(path: string, patience = 3000): DataDirectory {
  try {
    makeFolder(path);
    const probe = join(path, `.probe-${process.pid}`);
    writeFileSync(probe, 'can this folder be written?');
    rmSync(probe);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new StartProblem(`DATA_DIR ${path} cannot be written (${code}): set it to a folder that can be.`);
  }
  const lock = new DatabaseSync(join(path, 'lock'), { timeout: patience });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new DirectoryInUse(
      `Another npm start has DATA_DIR ${path}: stop it, or set DATA_DIR to another folder.`,
    );
  }
  return { path, release: () => lock.close() };
}

/** Makes a folder and those above it. Node's own recursion never ends on a file system that allows no new folders. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

const SQLITE_BUSY = 5;
