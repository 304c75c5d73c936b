import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, inject, test, vi } from 'vitest';
import { startDynamoStore } from '../../infra/local/dynamo-store.ts';
import { ensureTable, removeExpired } from '../../infra/local/dynamo-table.ts';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import type { Table } from '../../infra/local/template.ts';
import { temporaryFolder } from './sample-cloud.ts';
import { sampleTable } from './sample-template.ts';

const clientOf = (endpoint: URL) =>
  new DynamoDBClient({
    endpoint: endpoint.origin,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });

const tableOf = (name: string): Table => {
  const { TimeToLiveSpecification, TableName, ...schema } = sampleTable(name).Properties ?? {};
  return { name, schema, ttlAttribute: 'expires' };
};

/** The processes that have a text in their command line. */
async function processesWith(text: string): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')),
  );
  return ids.filter((_, i) => commands[i]?.includes(text)).map(Number);
}

describe('the store', () => {
  test('at a given address may drop the connection of the first request', async () => {
    let asked = 0;
    const server = createServer((_, reply) => {
      asked += 1;
      reply.writeHead(200, { 'content-length': 10 });
      if (asked > 1) reply.end('0123456789');
      else reply.write('01234', () => reply.destroy());
    });
    const endpoint = await listenOnLoopback(server, 0);
    try {
      expect((await startDynamoStore('', endpoint)).endpoint).toBe(endpoint);
      expect(asked).toBe(2);
    } finally {
      server.close();
    }
  });

  test('loses nothing that it acknowledged when everything is killed', async () => {
    const file = join(await temporaryFolder(), 'dynamodb.sqlite');
    const acknowledged: string[] = [];
    const first = await startDynamoStore(file, undefined);
    const client = clientOf(first.endpoint);
    await ensureTable(client, tableOf('durable'));
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; ; i++) {
        const sk = `${writer}-${i}`;
        await client.send(
          new PutItemCommand({ TableName: 'durable', Item: { pk: { S: 'p' }, sk: { S: sk } } }),
        );
        acknowledged.push(sk);
      }
    });
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(200), 30_000);
    for (const id of await processesWith(file)) process.kill(id, 'SIGKILL');
    await Promise.allSettled(writers);
    expect(await first.died).toContain('listening');

    const second = await startDynamoStore(file, undefined);
    const again = clientOf(second.endpoint);
    const found = await Promise.all(
      acknowledged.map((sk) =>
        again.send(new GetItemCommand({ TableName: 'durable', Key: { pk: { S: 'p' }, sk: { S: sk } } })),
      ),
    );
    expect(found.filter(({ Item }) => !Item)).toEqual([]);
    await second.stop();
    expect(await processesWith(file)).toEqual([]);
  });

  test('has started only when it answers', async () => {
    const nowhere = new URL('http://127.0.0.1:1');
    vi.useFakeTimers({ toFake: ['Date'] });
    const started = startDynamoStore('unused', nowhere);
    vi.setSystemTime(Date.now() + 20_000);
    await expect(started).rejects.toThrow(
      'Nothing answers at http://127.0.0.1:1, where DYNAMODB_ENDPOINT says',
    );
    vi.useRealTimers();
  });

  test('that cannot open its file says why', async () => {
    await expect(startDynamoStore('/proc/no/such/folder.sqlite', undefined)).rejects.toThrow(
      /^The DynamoDB store did not start: .+/,
    );
  });
});

describe('a table', () => {
  const client = clientOf(new URL(inject('dynamodb')));

  test('is created with its indexes and its time to live, and is updated by a later template', async () => {
    const table = tableOf(`made-${crypto.randomUUID()}`);
    await ensureTable(client, table);
    const item = { pk: { S: 'p' }, sk: { S: 's' }, kind: { S: 'k' }, extra: { S: 'e' } };
    await client.send(new PutItemCommand({ TableName: table.name, Item: item }));
    const { TimeToLiveDescription } = await client.send(
      new DescribeTimeToLiveCommand({ TableName: table.name }),
    );
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'expires', TimeToLiveStatus: 'ENABLED' });
    await ensureTable(client, table);

    const index = (IndexName: string, Projection: object) => ({
      IndexName,
      KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
      Projection,
    });
    const GlobalSecondaryIndexes = [
      index('by-kind', { ProjectionType: 'INCLUDE', NonKeyAttributes: ['extra'] }),
      index('once-more', { ProjectionType: 'ALL' }),
    ];
    await ensureTable(client, { ...table, schema: { ...table.schema, GlobalSecondaryIndexes } });
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table.name }));
    expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName).sort()).toEqual([
      'by-kind',
      'once-more',
    ]);
    const query = { KeyConditionExpression: 'kind = :k', ExpressionAttributeValues: { ':k': { S: 'k' } } };
    for (const IndexName of ['by-kind', 'once-more']) {
      const { Items } = await client.send(new QueryCommand({ TableName: table.name, IndexName, ...query }));
      expect(Items).toEqual([item]);
    }
  });

  test('deletes expired items, and nothing else', async () => {
    const table = tableOf(`expiring-${crypto.randomUUID()}`);
    await ensureTable(client, table);
    const put = (sk: string, more: object) =>
      client.send(
        new PutItemCommand({ TableName: table.name, Item: { pk: { S: 'p' }, sk: { S: sk }, ...more } }),
      );
    await put('past', { expires: { N: '999' } });
    await put('now', { expires: { N: '1000' } });
    await put('never', {});
    await put('words', { expires: { S: 'soon' } });
    expect(await removeExpired(client, table, 1000)).toBe(1);
    const query = { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'p' } } };
    const { Items } = await client.send(new QueryCommand({ TableName: table.name, ...query }));
    expect(Items?.map(({ sk }) => sk?.S)).toEqual(['never', 'now', 'words']);
  });
});
