import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import type { FunctionError } from './invocation.ts';

/** Bytes after which a log is set aside at the next start. */
const longestLog = 10 * 1024 * 1024;

/** The logs of the functions: one file for each, as on AWS each has log streams of its own. */
export class FunctionLogs {
  readonly #folder: string;
  readonly #echo: boolean;
  readonly #files = new Map<string, WriteStream>();

  /** @param echo Shows the functions' output on the console too. */
  constructor(folder: string, echo: boolean) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#echo = echo;
  }

  /** Appends what a function wrote. */
  write(functionName: string, text: string | Uint8Array): void {
    this.#open(functionName).write(text);
    if (this.#echo) process.stdout.write(text);
  }

  /** Appends an error that a function did not catch, in one line, as Lambda does. */
  writeError(functionName: string, { errorType, errorMessage, trace }: FunctionError): void {
    const line = JSON.stringify({ errorType, errorMessage, stack: trace });
    this.write(functionName, `${new Date().toISOString()} ERROR Invoke Error ${line}\n`);
  }

  /** The file of a function's log. */
  pathOf(functionName: string): string {
    return join(this.#folder, `${functionName}.log`);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => new Promise<void>((done) => file.end(done))));
  }

  #open(functionName: string): WriteStream {
    const open = this.#files.get(functionName);
    if (open) return open;
    const path = this.pathOf(functionName);
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > longestLog) renameSync(path, `${path}.1`);
    const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.#files.set(functionName, file);
    return file;
  }
}
