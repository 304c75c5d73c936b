import type { Environment } from '../environment.ts';
import type { Outside } from '../kernel/outside.ts';

/**
 * How the clients that a function uses besides the table are made from the environment, by name. A function names its
 * own, so that no other function's bundle carries them.
 */
export type ClientFactories = Readonly<Record<string, (environment: Environment) => unknown>>;

/** The clients that the factories make. */
export type Clients<F extends ClientFactories> = { readonly [K in keyof F]: ReturnType<F[K]> };

const made = new WeakMap<Pick<Outside, 'environment'>, unknown>();

/** The clients of a function, made once per container, when they are first needed. */
export function clientsFor<F extends ClientFactories>(
  outside: Pick<Outside, 'environment'>,
  factories: F,
): Clients<F> {
  const earlier = made.get(outside);
  if (earlier !== undefined) return earlier as Clients<F>;
  const clients = Object.fromEntries(
    Object.entries(factories).map(([name, make]) => [name, make(outside.environment)]),
  ) as Clients<F>;
  made.set(outside, clients);
  return clients;
}
