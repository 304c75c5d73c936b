import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '../domain/environment.ts';
import type { Outside } from '../domain/outside.ts';
import { Memory } from '../domain/pointer.ts';
import { documentClient } from '../table/client.ts';
import { Table } from '../table/table.ts';

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
    table: new Table(name, documentClient(environment)),
    memory: new Memory(),
    now: Date.now,
    wait: (ms) => wait(ms),
    uuid: randomUUID,
    randomBytes,
    environment,
    ...mailPattern(environment.EMAIL_GATEWAY_PATTERN),
    report: (line) => console.log(JSON.stringify(line)),
  };
}

/** The pattern of mail addresses, if the operator takes mail: it has one `%s`. */
function mailPattern(pattern: string | undefined): Pick<Outside, 'mailPattern'> {
  if (pattern === undefined || pattern === '') return {};
  if (pattern.split('%s').length !== 2) throw new Error('EMAIL_GATEWAY_PATTERN must contain %s once');
  return { mailPattern: pattern };
}
