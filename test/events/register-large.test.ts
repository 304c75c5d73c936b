import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as listUsers } from '../../functions/users/list.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import type { User } from '../../shared/model/user/user.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { key } from '../../shared/table/keys.ts';
import type { Write } from '../../shared/table/write.ts';
import { put } from '../support/given.ts';
import { basic } from '../support/raw-request.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

/** With names and addresses of some length. */
const PEOPLE = 10_000;

let realm: TestRealm;

beforeAll(async () => {
  realm = await newRealm();
  const writes = Array.from({ length: PEOPLE }, (_, i): Write => {
    const userId = 1_000_000 + i;
    const user: User = {
      userId,
      email: `firstname.lastname${i}@department.example.com`,
      fullName: `Firstname Middlename Lastname (${i})`,
      role: roles.member,
      isActive: true,
      isBot: false,
      dateJoined: '2026-01-01T00:00:00.000Z',
      avatarVersion: 1,
      timezone: 'America/Argentina/Buenos_Aires',
    };
    return { put: key('user', { realm: realm.realm, userId }), item: { ...user } };
  });
  const lanes = Array.from({ length: 4 }, (_, lane) => writes.filter((_, i) => i % 4 === lane));
  await Promise.all(lanes.map((lane) => put(realm, lane)));
}, 120_000);

/** Calls a function as the gateway does; what comes back is what Lambda must take. */
async function answered(handler: Served, parameters: Record<string, string>, encoding?: string) {
  const event = {
    headers: {
      host: realm.host,
      authorization: basic(realm.people.member),
      'content-type': 'application/x-www-form-urlencoded',
      accept: '*/*',
      ...(encoding !== undefined && { 'accept-encoding': encoding }),
    },
    body: new URLSearchParams(parameters).toString(),
    isBase64Encoded: false,
    pathParameters: null,
    multiValueQueryStringParameters: null,
    requestContext: { requestId: 'r', domainName: realm.host },
  };
  const result = await handler.with(realm.outside)(event as never);
  const text = result.isBase64Encoded
    ? gunzipSync(Buffer.from(result.body, 'base64')).toString()
    : result.body;
  return { result, body: JSON.parse(text), bytes: Buffer.byteLength(JSON.stringify(result)) };
}

it('a registration returns the whole state of an organization of 10,000 users, compressed', async () => {
  const { result, body, bytes } = await answered(register, {}, 'gzip, deflate, br');
  expect(result).toMatchObject({
    statusCode: 200,
    headers: {
      'Content-Encoding': 'gzip',
      Vary: 'Accept, Accept-Encoding',
      'Content-Type': 'application/json',
    },
  });
  expect(body.realm_users).toHaveLength(PEOPLE + 6);
  const members = body.realm_user_groups.find(({ name }: { name: string }) => name === 'role:members');
  expect(members.members).toHaveLength(PEOPLE + 2);
  // 5 MB of text.
  expect(bytes).toBeLessThan(500_000);
});

it('a state that is too large for Lambda is also compressed for a client without Accept-Encoding', async () => {
  const { result, body, bytes } = await answered(register, { client_gravatar: 'false' });
  expect([result.statusCode, result.headers?.['Content-Encoding']]).toEqual([200, 'gzip']);
  expect(body.realm_users).toHaveLength(PEOPLE + 6);
  expect(bytes).toBeLessThan(1_000_000);
});

it('a client that refuses gzip gets a clear error if the reply is too large for Lambda', async () => {
  const { result, body, bytes } = await answered(register, { client_gravatar: 'false' }, 'identity');
  expect([result.statusCode, body.code]).toEqual([400, 'BAD_REQUEST']);
  expect(body.msg).toMatch(/too large .* gzip/);
  expect(bytes).toBeLessThan(1_000);
  const less = await answered(register, { fetch_event_types: '["realm"]' }, 'identity');
  expect(less.result.statusCode).toBe(200);
});

it('a client that takes nothing compressed gets all users, as long as they fit', async () => {
  const { result, body, bytes } = await answered(listUsers, {});
  expect([result.statusCode, result.headers?.Vary]).toEqual([200, 'Accept, Accept-Encoding']);
  expect(result.headers).not.toHaveProperty('Content-Encoding');
  expect(body.members).toHaveLength(PEOPLE + 6);
  expect(bytes).toBeLessThan(6 * 1024 * 1024);
});
