import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { TestProject } from 'vitest/node';
import { tableDefinition } from '../shared/table/schema.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the store of this run answers. */
    dynamodb: string;
  }
}

/** The one table of a test run; each test has a realm of its own in it. */
export const TABLE = 'parlance-test';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Starts the real local store in memory before all tests (or uses `DYNAMODB_ENDPOINT`), and makes the table. */
export default async function setup(project: TestProject): Promise<() => void> {
  let endpoint = process.env.DYNAMODB_ENDPOINT;
  let store: ChildProcess | undefined;
  if (endpoint === undefined) {
    const port = await freePort();
    const binary = new URL('../node_modules/@dynoxide/linux-x64/dynoxide', import.meta.url).pathname;
    store = spawn(binary, ['serve', '--host', '127.0.0.1', '--port', String(port)], { stdio: 'ignore' });
    endpoint = `http://127.0.0.1:${port}`;
  }
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  for (let attempt = 0; ; attempt++) {
    try {
      await client.send(new CreateTableCommand({ TableName: TABLE, ...tableDefinition() }));
      break;
    } catch (error) {
      if (error instanceof Error && error.name === 'ResourceInUseException') break;
      if (attempt === 50) throw error;
      await wait(100);
    }
  }
  project.provide('dynamodb', endpoint);
  return () => {
    store?.kill();
  };
}
