import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { inject } from 'vitest';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { tableDefinition } from '../../infra/table-schema.ts';
import { createOrganization, type OrganizationInput } from '../../shared/domain/organization/create.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import { itemVersions } from '../../shared/model/realm/realm.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import { type Send, Table } from '../../shared/table/table.ts';
import { call, type Person, type Reply } from './realm.ts';

/** A service with a table of its own and nobody in it, as it is after `cdk deploy`. */
export interface TestService {
  readonly table: string;
  readonly outside: Outside;
  /** The same service seen from another process, with faults if wanted. */
  readonly container: (faults?: (send: Send) => Send) => Outside;
  /** Calls an endpoint at a host, in the container of `outside`. */
  readonly call: (
    host: string,
    handler: Served,
    as: Omit<Person, 'userId'> | undefined,
    parameters?: Readonly<Record<string, unknown>>,
  ) => Promise<Reply>;
}

export async function newService(): Promise<TestService> {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  const table = `service-${randomUUID()}`;
  const client = new DynamoDBClient({ endpoint: inject('dynamodb'), region: 'us-east-1' });
  await client.send(new CreateTableCommand({ TableName: table, ...tableDefinition() }));
  client.destroy();
  const environment = {
    TABLE_NAME: table,
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb'),
  };
  const send = tableClient(environment);
  const container: TestService['container'] = (faults = (each) => each) => ({
    ...makeOutside(environment),
    table: new Table(table, faults(send), itemVersions),
    report: () => {},
    count: () => {},
  });
  const outside = container();
  return {
    table,
    outside,
    container,
    call: (host, handler, as, parameters) =>
      call(outside, host, handler, as && { ...as, userId: 0 }, parameters),
  };
}

/** The id, role and name of a user at a host, or the status of the refusal. */
export async function whoIs(service: TestService, host: string, as: Omit<Person, 'userId'>) {
  const { status, body } = await service.call(host, getOwn, as);
  return status === 200 ? { userId: body.user_id, role: body.role, name: body.full_name } : status;
}

/** Makes an organization as the operator does. */
export const given = ({ outside }: TestService, wanted: Partial<OrganizationInput> = {}) =>
  createOrganization(outside, { name: 'Acme', ownerEmail: 'ada@example.com', ...wanted });

/** The message of a refusal for the operator; fails if nothing was refused. */
export const refusalOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: Error) => {
      if (error.name !== 'Refusal') throw error;
      return error.message;
    },
  );
