import { describe, expect, it } from 'vitest';
import { handler as listKeys } from '../../functions/apiKeys/list.ts';
import { handler as revokeKey } from '../../functions/apiKeys/revoke.ts';
import { handler as regenerateBotKey } from '../../functions/bots/regenerateKey.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as regenerate } from '../../functions/users/regenerateKey.ts';
import { addKey } from '../../shared/domain/account/api-key.ts';
import { renewKeyAsOperator } from '../../shared/domain/account/operator.ts';
import { MAX_KEYS } from '../../shared/model/user/caller.ts';
import { key } from '../../shared/table/keys.ts';
import { answer, mayCall, withKey } from '../support/accounts.ts';
import { givenClient, virtualTime } from '../support/event-queue.ts';
import { fault, lost, mishaps, refusedWith, unheard } from '../support/faults.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const DAY_MS = 86_400_000;

/** The person on another device, which has just signed in. */
async function onDevice({ outside, realm }: TestRealm, person: Person, label: string): Promise<Person> {
  return { ...person, apiKey: await addKey(outside, realm, person.email, label) };
}

async function keysOf(realm: TestRealm, person: Person) {
  const { body } = await realm.call(listKeys, person);
  expect(body).toMatchObject({ result: 'success' });
  return body.api_keys as {
    id: string;
    label: string;
    created: number | null;
    last_used: number | null;
    is_current: boolean;
  }[];
}

const revoke = (realm: TestRealm, as: Person, id: string) =>
  realm.call(revokeKey, as, {}, { path: { key: id } });

describe('an account with several keys', () => {
  it('lists its keys with their labels, and marks the key of the request', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const phone = await onDevice(realm, member, 'Phone');
    const created = expect.any(Number);
    expect(await keysOf(realm, phone)).toEqual([
      { id: 'first', label: 'First API key', created, last_used: created, is_current: false },
      { id: expect.stringMatching(/^\w{8}$/), label: 'Phone', created, last_used: created, is_current: true },
    ]);
  });

  it('stores only digests of its keys', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const phone = await onDevice(realm, member, 'Phone');
    const account = await realm.outside.table.get('account', { realm: realm.realm, email: member.email });
    expect(JSON.stringify(account)).toContain('Phone');
    expect(JSON.stringify(account)).not.toContain(phone.apiKey);
  });

  it('shortens a long label and names a device without one', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await onDevice(realm, member, `${'x'.repeat(50)}\ud800`);
    await onDevice(realm, member, '  ');
    expect((await keysOf(realm, member)).map(({ label }) => label)).toEqual([
      'First API key',
      'x'.repeat(40),
      'Unnamed device',
    ]);
  });

  it('gets a key for each of two devices that sign in at the same time', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const devices = await Promise.all(['A', 'B', 'C', 'D'].map((label) => onDevice(realm, member, label)));
    for (const device of [member, ...devices]) expect(await mayCall(realm, device)).toBe(true);
  });

  it.each([
    ['is lost', [lost]],
    ['works and its reply is lost', [unheard]],
  ])('gets one key when the first try to store it %s', async (_, transact) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const phone = await onDevice(realm.container(mishaps({ transact })), member, 'Phone');
    expect(await mayCall(realm, phone)).toBe(true);
    expect(await keysOf(realm, member)).toHaveLength(2);
  });

  it(`has at most ${MAX_KEYS} keys, and a further one replaces the oldest of the same device, or else the oldest of all`, async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const devices: Person[] = [];
    for (let i = 1; i < MAX_KEYS; i++) devices.push(await onDevice(realm, member, `device ${i}`));
    const again = await onDevice(realm, member, 'device 5');
    expect(await mayCall(realm, devices[4] as Person)).toBe(false);
    expect(await mayCall(realm, member)).toBe(true);
    const other = await onDevice(realm, member, 'another');
    expect(await mayCall(realm, member)).toBe(false);
    for (const device of [again, other, devices[0] as Person])
      expect(await mayCall(realm, device)).toBe(true);
    expect(await keysOf(realm, other)).toHaveLength(MAX_KEYS);
  });

  it('costs at most one read unit to read', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (let i = 0; i <= MAX_KEYS; i++) await onDevice(realm, member, '\u{1f4f1}'.repeat(40));
    const account = await realm.outside.table.get('account', { realm: realm.realm, email: member.email });
    expect(Buffer.byteLength(JSON.stringify(account))).toBeLessThan(5_000);
    const container = realm.container();
    container.meter.reset();
    await container.outside.table.get('account', { realm: realm.realm, email: member.email });
    expect(container.meter.readUnits).toBe(1);
  });

  it('works with an item of an earlier release, which has only one digest', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { table } = realm.outside;
    const at = key('account', { realm: realm.realm, email: member.email });
    const { userId, keyDigest } = (await table.get(at)) as { userId: number; keyDigest: string };
    await table.put(at, { userId, keyDigest });
    // The day of use is noted beside the reads of a request, so the first one may not see its own.
    await keysOf(realm, member);
    expect(await keysOf(realm, member)).toEqual([
      { id: 'first', label: 'First API key', created: null, last_used: expect.any(Number), is_current: true },
    ]);
    const phone = await onDevice(realm, member, 'Phone');
    expect(await mayCall(realm, phone)).toBe(true);
    const renewed = withKey(member, await realm.call(regenerate, member));
    expect(await mayCall(realm, renewed)).toBe(true);
    expect(await mayCall(realm, member)).toBe(false);
    expect(await mayCall(realm, phone)).toBe(true);
  });
});

describe('DELETE /users/me/api_keys/{key}', () => {
  it('revokes only this key, at once, in warm containers too', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const [phone, laptop] = [await onDevice(realm, member, 'Phone'), await onDevice(realm, member, 'Laptop')];
    expect(await mayCall(realm, phone)).toBe(true);
    const stolen = (await keysOf(realm, member)).find(({ label }) => label === 'Phone');
    expect(answer(await revoke(realm, laptop, stolen?.id ?? ''))).toEqual([200, undefined]);
    expect(await mayCall(realm, phone)).toBe(false);
    expect(await mayCall(realm, laptop)).toBe(true);
    expect(await mayCall(realm, member)).toBe(true);
  });

  it('signs out the caller who revokes the key of the request', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const phone = await onDevice(realm, member, 'Phone');
    const own = (await keysOf(realm, phone)).find(({ is_current: isCurrent }) => isCurrent);
    expect(answer(await revoke(realm, phone, own?.id ?? ''))).toEqual([200, undefined]);
    expect(answer(await revoke(realm, phone, own?.id ?? ''))).toEqual([401, 'UNAUTHORIZED']);
  });

  it('can also revoke the first key of the account', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const phone = await onDevice(realm, member, 'Phone');
    expect(answer(await revoke(realm, phone, 'first'))).toEqual([200, undefined]);
    expect(await mayCall(realm, member)).toBe(false);
    expect(await mayCall(realm, phone)).toBe(true);
    expect((await keysOf(realm, phone)).map(({ label }) => label)).toEqual(['Phone']);
  });

  it('refuses keys of other accounts and revoked keys like unknown ones', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const phone = await onDevice(realm, member, 'Phone');
    const [, { id } = { id: '' }] = await keysOf(realm, phone);
    expect(answer(await revoke(realm, admin, id))).toEqual([400, 'BAD_REQUEST']);
    expect(await mayCall(realm, phone)).toBe(true);
    await revoke(realm, member, id);
    expect(answer(await revoke(realm, member, id))).toEqual([400, 'BAD_REQUEST']);
  });

  it('lets only one of two devices that revoke each other succeed', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const [a, b] = [await onDevice(realm, member, 'A'), await onDevice(realm, member, 'B')];
    const [, { id: idOfA } = { id: '' }, { id: idOfB } = { id: '' }] = await keysOf(realm, member);
    const replies = await Promise.all([
      revoke(realm.container(), a, idOfB),
      revoke(realm.container(), b, idOfA),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(await keysOf(realm, member)).toHaveLength(2);
  });

  it('ends waiting polls of that key at once, and no others', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const phone = await onDevice(realm, member, 'Phone');
    const [, { id } = { id: '' }] = await keysOf(realm, phone);
    for (const [person, expected] of [
      [phone, 401],
      [member, 200],
    ] as const) {
      const client = await givenClient(realm, person, { event_types: ['presence'] });
      let done = person === member;
      const time = virtualTime(async () => {
        if (done) return;
        done = true;
        expect((await revoke(realm, member, id)).status).toBe(200);
      });
      const reply = await client.ask({ dont_block: false }, realm.container(undefined, time));
      expect(reply.status).toBe(expected);
      if (expected === 401) expect(time.passed()).toBeLessThan(1_000);
    }
  });

  it('takes two round trips when warm and three at most', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (const label of ['A', 'B']) await onDevice(realm, member, label);
    const [, ...keys] = await keysOf(realm, member);
    const container = realm.container();
    for (const { id } of keys) {
      container.meter.reset();
      expect((await revoke(container, member, id)).status).toBe(200);
      expect(container.meter.roundTrips).toBeLessThanOrEqual(3);
    }
  });
});

describe('a key that replaces others', () => {
  it('replaces the key of the request, if the caller regenerates it', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const phone = await onDevice(realm, member, 'Phone');
    const renewed = withKey(phone, await realm.call(regenerate, phone));
    expect(await mayCall(realm, phone)).toBe(false);
    expect(await mayCall(realm, member)).toBe(true);
    expect((await keysOf(realm, renewed)).map(({ label }) => label)).toEqual(['First API key', 'Phone']);
  });

  it('replaces all keys, if it is made for a bot or by the operator', async () => {
    const realm = await newRealm();
    const { member, bot } = realm.people;
    const other = await onDevice(realm, bot, 'Server');
    const reply = await realm.call(regenerateBotKey, member, {}, { path: { bot_id: bot.userId } });
    expect(await mayCall(realm, withKey(bot, reply))).toBe(true);
    expect(await mayCall(realm, other)).toBe(false);
    const phone = await onDevice(realm, member, 'Phone');
    const { apiKey } = await renewKeyAsOperator(realm.outside, realm.realm, member.email);
    expect(await mayCall(realm, { ...member, apiKey })).toBe(true);
    expect(await mayCall(realm, phone)).toBe(false);
  });
});

describe('the day on which a key was used last', () => {
  it('is recorded once a day by each container, but not on the day on which the key was made', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const today = Math.floor(realm.outside.now() / DAY_MS) * 86_400;
    const writes = async (container: TestRealm): Promise<number> => {
      container.meter.reset();
      expect((await container.call(getOwn, member)).status).toBe(200);
      return container.meter.writeUnits;
    };
    expect(await writes(realm)).toBe(0);
    realm.pass(2 * DAY_MS);
    expect(await writes(realm)).toBe(1);
    expect(await writes(realm)).toBe(0);
    expect((await keysOf(realm, member))[0]).toMatchObject({ last_used: today + 2 * 86_400 });
  });

  it('is recorded without a further round trip', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const container = realm.container();
    expect((await container.call(getOwn, member)).status).toBe(200);
    realm.pass(2 * DAY_MS);
    container.meter.reset();
    expect((await container.call(getOwn, member)).status).toBe(200);
    expect(container.meter.roundTrips).toBe(1);
  });

  it('is not recorded while the store is throttled, and the request succeeds', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    realm.pass(2 * DAY_MS);
    const throttled = refusedWith(() => fault('ThrottlingException'));
    const container = realm.container(mishaps({ update: [throttled] }));
    expect((await container.call(getOwn, member)).status).toBe(200);
    container.meter.reset();
    expect((await container.call(getOwn, member)).status).toBe(200);
    expect(container.meter.writeUnits).toBe(1);
  });
});
