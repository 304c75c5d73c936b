import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '../environment.ts';
import { LookupCache } from '../kernel/lookup.ts';
import type { Outside } from '../kernel/outside.ts';
import { itemVersions } from '../model/realm/realm.ts';
import { documentClient } from '../table/protocol.ts';
import { Table } from '../table/table.ts';
import { operatorLog } from './operator-log.ts';

let container: Outside | undefined;

/**
 * The outside of a real function, made once per container from its environment: connections and hints are
 * reused, nothing of a request is kept.
 */
export function outsideOf(environment: Environment): Outside {
  container ??= makeOutside(environment);
  return container;
}

/** A fresh outside on the table that the environment names; used for containers and by the local cloud. */
export function makeOutside(environment: Environment): Outside {
  const name = environment.TABLE_NAME;
  if (name === undefined) throw new Error('TABLE_NAME is not set');
  return {
    table: new Table(name, documentClient(environment), itemVersions),
    cache: new LookupCache(),
    now: Date.now,
    wait: (ms) => wait(ms),
    uuid: randomUUID,
    randomBytes,
    environment,
    ...(environment.MAIL_DOMAIN && { mailDomain: environment.MAIL_DOMAIN }),
    ...operatorLog(Date.now, environment),
  };
}

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
