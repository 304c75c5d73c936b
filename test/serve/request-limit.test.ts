import { describe, expect, it } from 'vitest';
import { handler as createExport } from '../../functions/exports/create.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as regenerate } from '../../functions/users/regenerateKey.ts';
import { withKey } from '../support/accounts.ts';
import { mishaps } from '../support/faults.ts';
import { basic, sendRaw } from '../support/raw-request.ts';
import { newRealm, type Reply, type TestRealm } from '../support/realm.ts';

/** The realm in containers that limit requests. It begins at the start of a minute. */
async function limited(limit: number, realm?: TestRealm): Promise<TestRealm> {
  const one = realm ?? (await newRealm());
  if (realm === undefined) one.pass(60_000 - (one.outside.now() % 60_000));
  return one.container(undefined, { environment: { API_RATE_LIMIT: `${limit}` } });
}

const message = { type: 'channel', to: 'general', topic: 't', content: 'hello' };
const leftOf = ({ headers }: Reply) => Number(headers['X-RateLimit-Remaining']);

describe('requests of an account (companion facts 5)', () => {
  it('have the remaining number in every reply, refusals too', async () => {
    const realm = await limited(200);
    const { member } = realm.people;
    const first = await realm.call(getOwn, member);
    const reset = Math.ceil(realm.outside.now() / 60_000) * 60;
    expect(first.headers).toMatchObject({
      'X-RateLimit-Limit': '200',
      'X-RateLimit-Remaining': '199',
      'X-RateLimit-Reset': String(reset),
    });
    const refused = await realm.call(send, member, { ...message, to: 'nowhere' });
    expect([refused.status, leftOf(refused)]).toEqual([400, 198]);
    expect(leftOf(await realm.call(send, member, message))).toBe(197);
  });

  it('are refused over the limit, until the minute ends', async () => {
    const realm = await limited(3);
    const { member, admin } = realm.people;
    for (const left of [2, 1, 0]) expect(leftOf(await realm.call(getOwn, member))).toBe(left);
    const over = await realm.call(getOwn, member);
    expect(over.status).toBe(429);
    expect(over.body).toMatchObject({ result: 'error', code: 'RATE_LIMIT_HIT' });
    expect(over.headers).toMatchObject({ 'X-RateLimit-Limit': '3', 'X-RateLimit-Remaining': '0' });
    expect(over.headers['Retry-After']).toBe(String(over.body['retry-after']));
    expect(over.body['retry-after']).toBeGreaterThan(0);
    expect(over.body['retry-after']).toBeLessThanOrEqual(60);
    expect((await realm.call(getOwn, admin)).status).toBe(200);
    realm.pass(over.body['retry-after'] * 1_000);
    expect(leftOf(await realm.call(getOwn, member))).toBe(2);
  });

  it('that are refused are not counted, so that they do not prolong the wait', async () => {
    const realm = await limited(20);
    const { owner } = realm.people;
    await realm.call(getOwn, owner);
    expect((await realm.call(createExport, owner)).status).toBe(429);
    expect(leftOf(await realm.call(getOwn, owner))).toBe(18);
  });

  it('count for one account, however the credentials are spelled, and with every key', async () => {
    const realm = await limited(200);
    const { email, apiKey } = realm.people.member;
    const encoded = (text: string) => Buffer.from(text).toString('base64');
    const spellings = [
      basic({ email, apiKey }),
      `bAsIc ${encoded(`${email}:${apiKey}`)}`,
      `Basic\t${encoded(`${email}:${apiKey}`)}`,
      `Basic ${encoded(`${email.toUpperCase()}:${apiKey}`)}`,
      `Basic ${encoded(`  ${email} : ${apiKey}`)}`,
      `Basic ${encoded(`${email}:${apiKey} `).replace(/=+$/, '')}`,
    ];
    for (const [n, authorization] of spellings.entries()) {
      const reply = await sendRaw(realm, getOwn, { headers: { authorization } });
      expect([reply.status, leftOf(reply)], authorization).toEqual([200, 199 - n]);
    }
    const renewed = withKey(realm.people.member, await realm.call(regenerate, realm.people.member));
    expect(leftOf(await realm.call(getOwn, renewed))).toBe(199 - spellings.length - 1);
  });

  it('count together in all containers', async () => {
    const realm = await limited(10);
    for (let n = 1; n <= 10; n++) {
      const container = await limited(10, realm);
      expect(leftOf(await container.call(getOwn, realm.people.member))).toBe(10 - n);
    }
    expect((await (await limited(10, realm)).call(getOwn, realm.people.member)).status).toBe(429);
  });

  it('with a key that is not valid are not counted', async () => {
    const realm = await limited(200);
    const { member } = realm.people;
    for (let n = 0; n < 5; n++) {
      const reply = await realm.call(getOwn, { ...member, apiKey: 'x'.repeat(32) });
      expect(reply.status).toBe(401);
      expect(reply.headers).not.toHaveProperty('X-RateLimit-Limit');
    }
    expect(realm.meter.writeUnits).toBe(0);
    expect(leftOf(await realm.call(getOwn, member))).toBe(199);
  });

  it('to many users count as several', async () => {
    const realm = await limited(200);
    const { member, guest } = realm.people;
    const to = Array<number>(50).fill(guest.userId);
    expect(leftOf(await realm.call(send, member, { type: 'direct', to, content: 'hello' }))).toBe(195);
  });

  it('are not limited if the limit is 0', async () => {
    const realm = await limited(0);
    const reply = await realm.call(getOwn, realm.people.member);
    expect(reply.headers).not.toHaveProperty('X-RateLimit-Limit');
    expect(realm.meter.writeUnits).toBe(0);
  });

  it('are limited by default', async () => {
    const realm = (await newRealm()).container(undefined, { environment: { API_RATE_LIMIT: undefined } });
    expect((await realm.call(getOwn, realm.people.member)).headers['X-RateLimit-Limit']).toBe('200');
  });
});

describe('counting', () => {
  it('costs one write unit and no round trip, cold and warm', async () => {
    for (const [handler, parameters] of [
      [getOwn, {}],
      [send, message],
    ] as const) {
      const realm = await newRealm();
      // The first send makes the topic, and its sender takes part from then on.
      await realm.call(send, realm.people.member, message);
      const free = realm.container();
      const counting = await limited(200, realm);
      for (const warmth of ['cold', 'warm']) {
        const cost = async ({ call, meter }: TestRealm) => {
          meter.reset();
          expect((await call(handler, realm.people.member, parameters)).status).toBe(200);
          return { roundTrips: meter.roundTrips, writeUnits: meter.writeUnits, readUnits: meter.readUnits };
        };
        const without = await cost(free);
        const expected = { ...without, writeUnits: without.writeUnits + 1 };
        expect(await cost(counting), warmth).toEqual(expected);
      }
    }
  });

  it('of a refused request costs less than serving it, and then nothing', async () => {
    const realm = await limited(2);
    const { member } = realm.people;
    await realm.call(send, member, message);
    realm.meter.reset();
    await realm.call(send, member, message);
    const { writeUnits: served } = realm.meter;
    realm.meter.reset();
    expect((await realm.call(send, member, message)).status).toBe(429);
    // The refused count, and a number of the log that was taken ahead and given back.
    expect(realm.meter.writeUnits).toBeLessThanOrEqual(3);
    expect(realm.meter.writeUnits).toBeLessThan(served);
    realm.meter.reset();
    for (let n = 0; n < 5; n++) expect((await realm.call(send, member, message)).status).toBe(429);
    expect([realm.meter.readUnits, realm.meter.writeUnits]).toEqual([0, 0]);
  });

  it('is done once for a request whose remembered names were wrong', async () => {
    const realm = await limited(200);
    const { member } = realm.people;
    await realm.call(getOwn, member);
    const changed = await realm.outside.table.get({
      pk: `${realm.realm}/email/${member.email}`,
      sk: 'account',
    });
    expect(changed).toBeDefined();
    await realm.outside.table.update(
      { pk: `${realm.realm}/email/${member.email}`, sk: 'account' },
      { set: { note: 'new' } },
    );
    expect(leftOf(await realm.call(getOwn, member))).toBe(198);
  });

  it('that fails makes the request fail, and the client retries', async () => {
    const realm = await limited(200);
    const throttled = realm.container(
      mishaps({
        update: [
          async () => {
            throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
          },
        ],
      }),
      { environment: { API_RATE_LIMIT: '200' } },
    );
    expect((await throttled.call(getOwn, realm.people.member)).status).toBe(429);
    expect((await throttled.call(getOwn, realm.people.member)).status).toBe(200);
  });
});
