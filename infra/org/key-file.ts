import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageProblem } from './arguments.ts';

/** A new file for a key that is shown only once. */
export interface KeyFile {
  readonly write: (text: string) => void;
  /** There is nothing to write after all. */
  readonly discard: () => void;
}

/**
 * Makes the file before there is a key that could get lost. Only its owner may read it, and one that is there already
 * is never overwritten.
 *
 * @param given Its path, as seen from the folder.
 * @throws UsageProblem when it is there already or cannot be made.
 */
export function openKeyFile(given: string, folder: string): KeyFile {
  const path = resolve(folder, given);
  const file = makeFile(path, given);
  return {
    write(text) {
      writeSync(file, text);
      closeSync(file);
    },
    discard() {
      closeSync(file);
      rmSync(path, { force: true });
    },
  };
}

function makeFile(path: string, given: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'is there already' : `cannot be made (${code})`;
    throw new UsageProblem(`The file ${given} ${why}: name another one.`);
  }
}
