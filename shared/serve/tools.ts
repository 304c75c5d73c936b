import type { Environment } from '../domain/environment.ts';
import type { Outside } from '../domain/outside.ts';

/**
 * What a function uses of the outside besides the table, by name, each with how it is made from the environment.
 * A function names its own, so that no other one carries their clients.
 */
export type Makers = Readonly<Record<string, (environment: Environment) => unknown>>;

/** The tools that come of it. */
export type Made<M extends Makers> = { readonly [K in keyof M]: ReturnType<M[K]> };

const made = new WeakMap<Pick<Outside, 'environment'>, unknown>();

/** The tools of a function, made once per container and when they are first needed. */
export function toolsOf<M extends Makers>(outside: Pick<Outside, 'environment'>, makers: M): Made<M> {
  const known = made.get(outside);
  if (known !== undefined) return known as Made<M>;
  const tools = Object.fromEntries(
    Object.entries(makers).map(([name, make]) => [name, make(outside.environment)]),
  ) as Made<M>;
  made.set(outside, tools);
  return tools;
}
