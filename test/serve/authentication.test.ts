import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { handler as create } from '../../functions/users/create.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { type AllowedCallers, endpoint, reads } from '../../shared/endpoints/endpoint.ts';
import { newApiKey } from '../../shared/model/user/caller.ts';
import { serve } from '../../shared/serve/serve.ts';
import { key } from '../../shared/table/keys.ts';
import { givenBot, givenChangedUser } from '../support/given.ts';
import { basic, type RawReply, sendRaw } from '../support/raw-request.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const as = (realm: TestRealm, authorization: string | undefined): Promise<RawReply> =>
  sendRaw(realm, getOwn, { headers: authorization === undefined ? {} : { authorization } });

const encoded = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

/** A 401, which is always the same reply, with the challenge. */
function expectUnauthorized(reply: RawReply): void {
  expect(reply.status).toBe(401);
  expect(reply.body).toEqual({ result: 'error', msg: expect.any(String), code: 'UNAUTHORIZED' });
  expect(reply.headers['WWW-Authenticate']).toBe('Basic realm="zulip"');
}

describe('authentication', () => {
  it('accepts the right key in any valid form of the header (5/basic)', async () => {
    const realm = await newRealm();
    const { email, apiKey, userId } = realm.people.member;
    const dresses = [
      basic({ email, apiKey }),
      basic({ email, apiKey }).replace('Basic', 'bASIC'),
      `  ${basic({ email, apiKey }).replace(' ', '   ')}  `,
      encoded(` ${email} : ${apiKey} `),
      encoded(`${email.toUpperCase()}:${apiKey}`),
    ];
    for (const authorization of dresses) {
      const { status, body } = await as(realm, authorization);
      expect([status, body.user_id], authorization).toEqual([200, userId]);
    }
  });

  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['nothing but the scheme', 'Basic'],
    ['no base64', 'Basic ***'],
    ['base64 in two parts', `${encoded('a:b')} ${encoded('c')}`],
    ['no colon', encoded('member@example.com')],
    ['two colons', encoded('member@example.com:key:more')],
    ['nothing at all', encoded(':')],
    ['no UTF-8', `Basic ${Buffer.from([0xff, 0xfe, 0x3a, 0xff]).toString('base64')}`],
    ['a NUL', encoded('member@example.com\0:x')],
    ['a very long address', encoded(`${'a'.repeat(5_000)}@example.com:x`)],
    ['a key of another shape', encoded('member@example.com:x')],
    ['an unknown address', encoded(`nobody@example.com:${'a'.repeat(32)}`)],
  ])('refuses %s', async (_, authorization) => {
    expectUnauthorized(await as(await newRealm(), authorization));
  });

  it.each(['Bearer abc', 'Digest username="x"', 'Negotiate YWJj'])(
    'accepts no scheme but Basic: %s',
    async (authorization) => {
      const { status, body, headers } = await as(await newRealm(), authorization);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(headers).not.toHaveProperty('WWW-Authenticate');
    },
  );

  it('refuses a wrong key, one of another account, and one of another organization', async () => {
    const [realm, other] = await Promise.all([newRealm(), newRealm()]);
    const { member, admin } = realm.people;
    expectUnauthorized(await as(realm, basic({ ...member, apiKey: newApiKey(realm.outside) })));
    expectUnauthorized(await as(realm, basic({ ...member, apiKey: admin.apiKey })));
    expectUnauthorized(await as(realm, basic({ ...member, apiKey: member.apiKey.toLowerCase() })));
    expectUnauthorized(await as(realm, basic(other.people.member)));
  });

  it('refuses deactivated accounts in the same words as unknown ones, and a deactivated organization with its own code', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    await givenChangedUser(realm, member, { isActive: false });
    const gone = await as(realm, basic(member));
    expectUnauthorized(gone);
    await realm.outside.table.update(key('realm', { realm: realm.realm }), { set: { deactivated: true } });
    const closed = await as(realm, basic(guest));
    expect([closed.status, closed.body.code]).toEqual([401, 'REALM_DEACTIVATED']);
    const unknown = await as(realm, encoded('nobody@example.com:x'));
    expect(gone.body).toEqual(unknown.body);
  });

  it('refuses the service bot, which has no key', async () => {
    const realm = await newRealm();
    const email = 'notification-bot@parlance.invalid';
    const account = await realm.outside.table.get('account', { realm: realm.realm, email });
    expect(account?.keyDigest).toMatch(/^f{64}$/);
    expectUnauthorized(await as(realm, encoded(`${email}:${'f'.repeat(64)}`)));
  });

  it('refuses an incoming webhook at endpoints that do not allow it', async () => {
    const realm = await newRealm();
    const hook = await givenBot(realm, realm.people.member);
    await givenChangedUser(realm, hook, { botType: 2 });
    expectUnauthorized(await as(realm, basic(hook)));
  });

  it('finds no organization at other hosts', async () => {
    const realm = await newRealm();
    const headers = { host: 'nowhere.test', authorization: basic(realm.people.member) };
    const { status, body } = await sendRaw(realm, getOwn, { headers });
    expect([status, body.code]).toEqual([404, 'NONEXISTENT_SUBDOMAIN']);
  });

  it('comes before any error about parameters', async () => {
    const realm = await newRealm();
    const bad = { body: '%', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    expectUnauthorized(await sendRaw(realm, create, bad));
    const authorization = basic(realm.people.owner);
    const { status } = await sendRaw(realm, create, { ...bad, headers: { ...bad.headers, authorization } });
    expect(status).toBe(400);
  });
});

describe('the cost of a refusal', () => {
  /** The requests that a call makes, with how many items they ask for. */
  async function work(realm: TestRealm, call: (container: TestRealm) => Promise<unknown>, isWarm: boolean) {
    const seen: string[] = [];
    const container = realm.container((send) => async (command) => {
      const { input } = command as { input: { RequestItems?: Record<string, { Keys: unknown[] }> } };
      const keys = Object.values(input.RequestItems ?? {}).map(({ Keys }) => Keys.length);
      seen.push([command.constructor.name, ...keys].join(' '));
      return send(command);
    });
    if (isWarm) {
      await container.call(create, realm.people.member, { email: 'x@example.com', full_name: 'X' });
      await call(container);
    }
    seen.length = 0;
    await call(container);
    return seen;
  }

  it('is the same for an unknown address as for a known one, cold and warm', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    await givenChangedUser(realm, guest, { isActive: false });
    const wrong = newApiKey(realm.outside);
    const attempt = (person: Pick<Person, 'email' | 'apiKey'>, isWarm: boolean) =>
      work(
        realm,
        (container) =>
          container.call(create, { ...person, userId: 0 }, { email: 'x@example.com', full_name: 'X' }),
        isWarm,
      );
    for (const isWarm of [false, true]) {
      const unknown = await attempt({ email: 'nobody@example.com', apiKey: wrong }, isWarm);
      expect(unknown).toHaveLength(1);
      expect(await attempt({ email: member.email, apiKey: wrong }, isWarm)).toEqual(unknown);
      expect(await attempt({ email: guest.email, apiKey: wrong }, isWarm)).toEqual(unknown);
      expect(await attempt({ email: `${'a'.repeat(999)}@x.test`, apiKey: wrong }, isWarm)).toEqual(unknown);
    }
  });

  it('includes no write and no number of the log', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const container = realm.container();
    for (const apiKey of ['x', newApiKey(realm.outside)]) {
      await container.call(
        create,
        { ...realm.people.owner, apiKey },
        { email: 'x@example.com', full_name: 'X' },
      );
    }
    expect(container.meter.writeUnits).toBe(0);
    expect(await lastNumber(realm)).toBe(before);
  });
});

describe('an endpoint with limited access', () => {
  const openTo = (access: AllowedCallers) =>
    serve(
      endpoint({
        id: 'tests.audience',
        route: 'GET /api/v1/audience',
        source: 'wire facts 1.3',
        description: 'Lets some people in.',
        access,
        parameters: {},
        reply: z.object({}),
        errors: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
        needs: { table: reads },
      }),
      { run: () => ({}) },
    );

  it.each([
    ['user', [], undefined],
    ['human', ['bot'], 'BAD_REQUEST'],
    ['member', ['guest'], 'BAD_REQUEST'],
    ['person', ['bot', 'guest'], 'BAD_REQUEST'],
    ['administrator', ['moderator', 'member', 'guest', 'bot'], 'UNAUTHORIZED_PRINCIPAL'],
    ['owner', ['admin', 'moderator', 'member', 'guest', 'bot'], 'UNAUTHORIZED_PRINCIPAL'],
  ] as const)('allows and refuses the right callers: %s', async (who, refused, code) => {
    const realm = await newRealm();
    for (const [name, person] of Object.entries(realm.people)) {
      const { status, body } = await realm.call(openTo(who), person);
      const isRefused = (refused as readonly string[]).includes(name);
      expect([status, body.code], name).toEqual(isRefused ? [400, code] : [200, undefined]);
    }
  });
});
