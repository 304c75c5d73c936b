/**
 * Calls `work` for each item, in their order and at most `limit` at a time. Goes on where one fails.
 *
 * @returns the errors of those that failed
 */
export async function runPool<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<unknown>,
): Promise<unknown[]> {
  const waiting = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const takeTurns = async (): Promise<void> => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      await work(next.value).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: limit }, takeTurns));
  return failures;
}

/** Does all of these at once. None keeps another from its work; then the first failure is thrown. */
export async function runTogether(...works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures = await runPool(works, works.length, (work) => work());
  if (failures.length > 0) throw failures[0];
}
