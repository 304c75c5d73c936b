import type { ReadEntry } from '../../log/slot.ts';

const made = new WeakMap<readonly ReadEntry[], Map<string, unknown>>();

/**
 * Reads or makes something once for all listeners whom the same entries woke. Those of one room get the very same list
 * (`Follower`), and go on in the same moment. So what one of them reads is as new as what each would read by itself.
 *
 * @param entries the list as the log handed it out
 * @param what names it, with all that it depends on besides these entries
 */
export function onceFor<T>(entries: readonly ReadEntry[], what: string, make: () => T): T {
  const things = made.get(entries) ?? new Map<string, unknown>();
  made.set(entries, things);
  if (!things.has(what)) things.set(what, make());
  return things.get(what) as T;
}
