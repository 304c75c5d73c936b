import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { SERVICE_TIMEOUT } from '../../shared/aws/client-options.ts';
import { HOME, LookupCache } from '../../shared/kernel/lookup.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import type { ReadMessage } from '../../shared/log/slot.ts';
import { itemVersions } from '../../shared/model/realm/realm.ts';
import { passwordCost } from '../../shared/model/user/password.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import { Table } from '../../shared/table/table.ts';
import type { Audited } from '../support/audit/audit.ts';
import { entriesIn } from '../support/log-entries.ts';

/** The organization as it is stored, past the service and its doors, with a clock that can be moved on. */
export async function storedAt(endpoint: URL): Promise<Audited> {
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: endpoint.origin,
    // The whole organization is read at once, from a store that has had an hour of work.
    [SERVICE_TIMEOUT]: '60000',
  };
  Object.assign(process.env, environment);
  const client = new DynamoDBClient({ endpoint: endpoint.origin, region: environment.AWS_REGION });
  const { TableNames: [name] = [] } = await client.send(new ListTablesCommand({}));
  client.destroy();
  if (name === undefined) throw new Error('there is no table');
  const table = new Table(name, tableClient(environment), itemVersions);
  let offset = 0;
  const clock = { now: () => Date.now() + offset, wait: (ms: number) => wait(ms) };
  const outside: Outside = {
    ...clock,
    table,
    environment,
    cache: new LookupCache(),
    uuid: randomUUID,
    randomBytes,
    passwordCost,
    report: () => {},
    count: () => {},
  };
  return {
    realm: HOME,
    outside,
    log: { table, realm: HOME, ...clock },
    pass: (ms) => {
      offset += ms;
    },
  };
}

/** Every message that there is, in the order of their ids. */
export const messagesIn = async ({ log }: Audited): Promise<ReadMessage[]> =>
  (await entriesIn(log)).filter((entry) => entry.kind === 'message').filter(({ isDeleted }) => !isDeleted);

/** The ids of the messages with each marker. */
export function byMarker(messages: readonly ReadMessage[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { id, content } of messages) {
    const marker = /^\[\d+ \w+ \d+\]/.exec(content)?.[0];
    if (marker !== undefined) found.set(marker, [...(found.get(marker) ?? []), id]);
  }
  return found;
}
