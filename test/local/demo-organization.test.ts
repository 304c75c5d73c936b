import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, inject, test } from 'vitest';
import {
  type DemoOptions,
  type DemoPlace,
  ensureDemo,
  prepareDemo,
} from '../../infra/local/demo-organization.ts';
import { tableDefinition } from '../../infra/table-schema.ts';
import { signInWithPassword } from '../../shared/domain/account/sign-in.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { CHEAP } from '../support/realm.ts';
import { temporaryFolder } from './sample-cloud.ts';

const noQueues = { send: async () => {} };

let options: DemoOptions & DemoPlace;

const makeDemo = async (given: DemoOptions & DemoPlace = options) =>
  ensureDemo(await prepareDemo(given), given);

beforeEach(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  const TableName = `demo-${crypto.randomUUID()}`;
  const client = new DynamoDBClient({ endpoint: inject('dynamodb'), region: 'us-east-1' });
  await client.send(new CreateTableCommand({ TableName, ...tableDefinition() }));
  options = {
    dataDirectory: await temporaryFolder(),
    site: new URL('http://127.0.0.1:9991'),
    environment: {
      TABLE_NAME: TableName,
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb'),
    },
    passwordCost: CHEAP,
  };
});

const seed = () => join(options.dataDirectory, 'demo-seed');
const names = ['admin', 'bot', 'guest', 'member', 'moderator', 'owner'];

test('a first start creates the organization, and the files for clients', async () => {
  const demo = await makeDemo();
  expect(demo.created).toBe(true);
  expect(demo.accounts?.map(({ name }) => name).sort()).toEqual(names);
  for (const { name, email, apiKey } of demo.accounts ?? []) {
    expect(apiKey).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(await readFile(join(demo.folder, `${name}.zuliprc`), 'utf8')).toBe(
      `[api]\nemail=${email}\nkey=${apiKey}\nsite=http://127.0.0.1:9991\n`,
    );
  }
  expect(new Set(demo.accounts?.map(({ apiKey }) => apiKey)).size).toBe(names.length);
  expect(existsSync(seed())).toBe(false);
});

test('users get working passwords, stored as digests, and in a file that only its owner can read', async () => {
  const { passwordCost: _cheap, ...real } = options;
  const { passwords, passwordFile = '' } = await makeDemo(real);
  expect(passwords?.map(({ email }) => email)).toEqual(
    ['owner', 'admin', 'moderator', 'member', 'guest'].map((name) => `${name}@example.com`),
  );
  expect((await stat(passwordFile)).mode & 0o777).toBe(0o600);
  const kept = await readFile(passwordFile, 'utf8');
  const outside = makeOutside(options.environment);
  for (const { email, password } of passwords ?? []) {
    expect(password).toMatch(/^([0-9a-f]{4}-){4}[0-9a-f]{4}$/);
    expect(kept).toMatch(new RegExp(`^${email} +${password}$`, 'm'));
    const signIn = { email, password, address: '192.0.2.1', label: 'Terminal' };
    expect(await signInWithPassword(outside, noQueues, '127.0.0.1', signIn)).toMatchObject({ email });
  }
  expect(new Set(passwords?.map(({ password }) => password)).size).toBe(5);
  const stored = await outside.table.get('password', {
    realm: 'main',
    userId: passwords?.[0]?.userId ?? 0,
  });
  expect(stored?.hash).toMatch(/^scrypt\$15\$8\$3\$/);

  const later = await makeDemo();
  expect([later.passwords, later.passwordFile]).toEqual([undefined, passwordFile]);
  expect(await readFile(passwordFile, 'utf8')).toBe(kept);
});

test('a later start changes nothing', async () => {
  const first = await makeDemo();
  const second = await makeDemo();
  expect(second.created).toBe(false);
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  const keys = (accounts: typeof first.accounts) => accounts?.toSorted(byName).map(({ apiKey }) => apiKey);
  expect(keys(second.accounts)).toEqual(keys(first.accounts));
});

test('a start after one that was interrupted before it wrote the files makes the same keys', async () => {
  await writeFile(seed(), 'a seed that was kept');
  const before = await makeDemo();
  await rm(before.folder, { recursive: true });
  await writeFile(seed(), 'a seed that was kept');
  const after = await makeDemo();
  expect(after.passwords).toEqual(before.passwords);
  expect(after.created).toBe(false);
  expect(after.accounts?.map(({ apiKey }) => apiKey)).toEqual(before.accounts?.map(({ apiKey }) => apiKey));
  expect(existsSync(join(after.folder, 'member.zuliprc'))).toBe(true);
});

test('an organization whose files are lost gets no files with wrong keys', async () => {
  const { folder } = await makeDemo();
  await rm(folder, { recursive: true });
  const demo = await makeDemo();
  expect([demo.created, demo.accounts]).toEqual([false, undefined]);
  expect([existsSync(folder), existsSync(seed())]).toEqual([false, false]);
});

test('an organization whose files are lost gets none either after a start that ended before there was a table', async () => {
  const { folder } = await makeDemo();
  await rm(folder, { recursive: true });
  await prepareDemo(options);
  const demo = await makeDemo();
  expect([demo.created, demo.accounts, existsSync(folder)]).toEqual([false, undefined, false]);
});
