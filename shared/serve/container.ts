import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '../environment.ts';
import { LookupCache } from '../kernel/lookup.ts';
import { CODE, METRICS, type MetricName, metrics, NAMESPACE, type Outside } from '../kernel/outside.ts';
import { itemVersions } from '../model/realm/realm.ts';
import { passwordCost } from '../model/user/password.ts';
import { tableClient } from '../table/protocol.ts';
import { Table } from '../table/table.ts';

let container: Outside | undefined;

/** The outside of a real function, made once per container: connections and caches are reused. */
export function outsideOf(environment: Environment): Outside {
  container ??= makeOutside(environment);
  return container;
}

/** A new outside on the table that the environment names. */
export function makeOutside(environment: Environment): Outside {
  const name = environment.TABLE_NAME;
  if (name === undefined) throw new Error('TABLE_NAME is not set');
  return {
    table: new Table(name, tableClient(environment), itemVersions),
    cache: new LookupCache(),
    now: Date.now,
    wait: (ms) => wait(ms),
    uuid: randomUUID,
    randomBytes,
    passwordCost,
    environment,
    ...(environment.MAIL_DOMAIN && { mailDomain: environment.MAIL_DOMAIN }),
    ...operatorLog(Date.now, environment),
  };
}

/**
 * How the clients that a function uses besides the table are made, by name. Each function passes its own, so that no
 * other bundle contains them.
 */
export type ClientFactories = Readonly<Record<string, (environment: Environment) => unknown>>;

/** The clients that the factories make. */
export type Clients<F extends ClientFactories> = { readonly [K in keyof F]: ReturnType<F[K]> };

const made = new WeakMap<Pick<Outside, 'environment'>, Map<ClientFactories, unknown>>();

/** The clients of a function, made once per container, when they are first needed. */
export function clientsFor<F extends ClientFactories>(
  outside: Pick<Outside, 'environment'>,
  factories: F,
): Clients<F> {
  const ofContainer = made.get(outside) ?? new Map<ClientFactories, unknown>();
  made.set(outside, ofContainer);
  const clients =
    (ofContainer.get(factories) as Clients<F> | undefined) ??
    (Object.fromEntries(
      Object.entries(factories).map(([name, make]) => [name, make(outside.environment)]),
    ) as Clients<F>);
  ofContainer.set(factories, clients);
  return clients;
}

type Line = Readonly<Record<string, unknown>>;

/**
 * The operator's log, one JSON object per line. Not written by `console.log`: Lambda puts a time and an id before its
 * lines, which are then no JSON.
 */
export const operatorLog = (
  now: () => number,
  environment: Environment = {},
): Pick<Outside, 'report' | 'count'> => ({
  report: (line) => write({ ...line, ...(environment[CODE] && { code: environment[CODE] }) }),
  count: (metric, kind, details) =>
    write(embeddedMetric(environment[NAMESPACE] ?? METRICS, metric, kind, now(), details)),
});

const write = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** One count in CloudWatch's embedded metric format, with details that stay in the log. */
function embeddedMetric(
  namespace: string,
  name: MetricName,
  kind: string | undefined,
  at: number,
  details: Line = {},
): Line {
  const dimension = metrics[name];
  return {
    _aws: {
      Timestamp: at,
      CloudWatchMetrics: [
        {
          Namespace: namespace,
          Dimensions: [dimension === undefined ? [] : [dimension]],
          Metrics: [{ Name: name, Unit: 'Count' }],
        },
      ],
    },
    ...details,
    ...(dimension !== undefined && { [dimension]: kind }),
    [name]: 1,
  };
}
