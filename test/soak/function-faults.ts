import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Errors that injected faults explain, by the first line that functions report. */
const weather = [
  /ThroughputExceeded|ThrottlingException|RequestLimitExceeded|requested throughput|ThrottlingError/,
  /TransactionConflict|TransactionCanceledException|Transaction cancelled|Transaction is ongoing/,
  /InternalServerError|could not be processed/,
  /ECONNRESET|ECONNREFUSED|EPIPE|socket hang up|aborted|Timeout|timed out|time was up/i,
  /Runtime\.ExitError/,
  /still in the outbox: unsure/,
  /cannot be filled; readers will do it|readers filled the slots|unprocessed again and again/,
];

/** The errors in the logs of the functions, by their first lines, with how often each was met and by whom. */
export function faultsIn(folder: string): Map<string, { count: number; readonly functions: Set<string> }> {
  const found = new Map<string, { count: number; readonly functions: Set<string> }>();
  for (const file of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      const what = errorIn(line);
      if (what === undefined) continue;
      const known = found.get(what) ?? { count: 0, functions: new Set<string>() };
      known.count += 1;
      known.functions.add(file.replace(/\.log.*$/, ''));
      found.set(what, known);
    }
  }
  return found;
}

/** Whether an injected fault explains an error. */
export const isWeather = (what: string): boolean => weather.some((each) => each.test(what));

function errorIn(line: string): string | undefined {
  const invoke = /ERROR Invoke Error (\{.*\})$/.exec(line)?.[1];
  try {
    if (invoke !== undefined) {
      const { errorType, errorMessage } = JSON.parse(invoke);
      return `${errorType}: ${errorMessage}`;
    }
    if (!line.startsWith('{')) return line.trim() === '' ? undefined : line.slice(0, 200);
    const { level, error, ...rest } = JSON.parse(line);
    if (level !== 'ERROR') return undefined;
    return String(error ?? JSON.stringify(rest)).split('\n')[0];
  } catch {
    // A line that was cut when the service was killed.
    return undefined;
  }
}
