import { traceOf } from './errors.ts';
import type { Outside } from './outside.ts';

/** Longest (ms) that a reply waits for a queue. */
const SEND_TIMEOUT_MS = 1_000;

/**
 * Waits until a message that wakes a worker is sent, but not for long. A failure is only reported, with this line: what the
 * worker has to do is stored, and a sweep or the next message wakes it for that.
 */
export async function wakeWorker(
  { report, wait }: Pick<Outside, 'report' | 'wait'>,
  sending: Promise<void>,
  line: { readonly worker: string; readonly message: string } & Readonly<Record<string, unknown>>,
): Promise<void> {
  const sent = sending.catch((error: unknown) => report({ level: 'WARN', ...line, error: traceOf(error) }));
  await Promise.race([sent, wait(SEND_TIMEOUT_MS)]);
}
