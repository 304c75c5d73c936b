import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { join, relative, resolve } from 'node:path';
import * as z from 'zod/mini';
import type { Bundles } from './build.ts';

/** A line of a function's log that holds a stack trace: which function wrote it, from which code. */
const logLine = z.object({
  endpoint: z.optional(z.string()),
  worker: z.optional(z.string()),
  code: z.optional(z.string()),
  message: z.optional(z.string()),
  error: z.string(),
});

/** A place in a bundle, as it stands in a stack trace. */
const PLACE = /(?:file:\/\/)?[^\s()]*\bindex\.mjs:(\d+):(\d+)/g;

const projectRoot = resolve(import.meta.dirname, '..');

export interface TraceOptions {
  /** A build of this checkout, with source maps, and the folder that it is in. */
  readonly bundles: Bundles;
  readonly outdir: string;
}

/**
 * Makes the stack traces of a function's log readable: each place in a minified bundle becomes the place in the source.
 *
 * @param line A line as CloudWatch shows it, JSON with `error`. Text may stand before the JSON.
 * @returns the trace, with notes before it; undefined for a line without a trace
 */
export async function readableTrace(line: string, options: TraceOptions): Promise<string | undefined> {
  const found = logLine.safeParse(jsonOf(line));
  if (!found.success) return undefined;
  const { endpoint, worker, code, message } = found.data;
  const error = message === undefined ? found.data.error : `${message}\n${found.data.error}`;
  const id = endpoint ?? worker ?? '';
  const bundle = options.bundles[id];
  if (bundle === undefined) return `${id || 'A function'} is not in this checkout.\n${error}`;
  if (code !== bundle.code) {
    return `${id} ran other code than this checkout: check out the commit that was deployed.\n${error}`;
  }
  const map = new SourceMap(
    JSON.parse(await readFile(join(options.outdir, 'maps', `${id}.mjs.map`), 'utf8')),
  );
  const readable = error.replaceAll(PLACE, (place, at: string, column: string) => {
    // Columns count from one in traces, and from zero in maps.
    const entry = map.findEntry(Number(at) - 1, Number(column) - 1);
    if (!('originalSource' in entry)) return place;
    const source = relative(projectRoot, resolve(options.outdir, id, entry.originalSource));
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
  return `${id}\n${readable}`;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line.slice(line.indexOf('{')));
  } catch {
    return undefined;
  }
}
