import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handler as registerDevice } from '../../functions/push/registerDevice.ts';
import { handler as removeDevice } from '../../functions/push/removeDevice.ts';
import { type Device, MAX_DEVICES } from '../../shared/domain/push/device.ts';
import type { Realm } from '../../shared/model/realm/realm.ts';
import { key } from '../../shared/table/keys.ts';
import { givenClient } from '../support/event-queue.ts';
import { requestOf } from '../support/faults.ts';
import {
  activePhone,
  elsewhere,
  form,
  keyForm,
  newPhone,
  nudged,
  outcome,
  type PushRealm,
  pushRealm,
  registered,
  tokenForm,
  worked,
} from '../support/phone.ts';
import { type Answer, type FakeRelay, json, refused, startRelay } from '../support/push-relay.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

let relay: FakeRelay;
let realm: PushRealm;
let member: Person;
beforeEach(async () => {
  relay = await startRelay();
  realm = await pushRealm(relay);
  member = realm.people.member;
});
afterEach(() => relay.stop());

const BAD = [400, 'BAD_REQUEST'];

/** The devices of a user, in the state of their client. */
const devicesOf = async (at: TestRealm, as: Person) =>
  (await givenClient(at, as, { fetch_event_types: ['device'] })).state.devices;

const stored = (deviceId: number): Promise<Device | undefined> =>
  realm.outside.table.get('device', { realm: realm.realm, userId: member.userId, deviceId });

const organization = async (): Promise<Realm | undefined> =>
  realm.outside.table.get('realm', { realm: realm.realm });

const jobs = () => realm.outside.table.all('pushJob', { realm: realm.realm });

const nothing = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};

describe('POST /register_client_device (wire facts 12.1)', () => {
  test('gives each device an id, and sends its owner an event', async () => {
    const client = await givenClient(realm, member);
    const [one, two] = [await newPhone(realm, member), await newPhone(realm, member)];
    expect(one.deviceId).not.toBe(two.deviceId);
    expect(await client.poll()).toMatchObject([
      { type: 'device', op: 'add', device_id: one.deviceId },
      { type: 'device', op: 'add', device_id: two.deviceId },
    ]);
    expect(await devicesOf(realm, member)).toEqual({ [one.deviceId]: nothing, [two.deviceId]: nothing });
    expect(await devicesOf(realm, realm.people.admin)).toEqual({});
  });

  test('refuses bots', async () => {
    expect(outcome(await realm.call(registerDevice, realm.people.bot))).toEqual(BAD);
  });

  test('refuses a device beyond the limit', async () => {
    const writes = Array.from({ length: MAX_DEVICES }, (_, i) => {
      const device = { userId: member.userId, deviceId: i + 1, url: '', version: 1 };
      return { put: key('device', { realm: realm.realm, ...device }), item: device };
    });
    await realm.outside.table.transact(writes, realm.outside.uuid());
    expect(outcome(await realm.call(registerDevice, member))).toEqual(BAD);
    await realm.call(removeDevice, member, { device_id: 7 });
    expect((await realm.call(registerDevice, member)).status).toBe(200);
  });
});

describe('POST /remove_client_device', () => {
  test('removes a device of the caller with an event, and no device of another user', async () => {
    const phone = await activePhone(realm, member);
    const client = await givenClient(realm, member);
    const parameters = { device_id: phone.deviceId };
    expect(outcome(await realm.call(removeDevice, realm.people.admin, parameters))).toEqual(BAD);
    expect((await realm.call(removeDevice, member, parameters)).status).toBe(200);
    expect(outcome(await realm.call(removeDevice, member, parameters))).toEqual(BAD);
    expect(await client.poll()).toMatchObject([{ type: 'device', op: 'remove', device_id: phone.deviceId }]);
    expect(await devicesOf(realm, member)).toEqual({});
  });

  test('stops sends from waking the worker after the last device of the organization', async () => {
    const [one, two] = [await activePhone(realm, member), await activePhone(realm, realm.people.admin)];
    await realm.call(removeDevice, member, { device_id: one.deviceId });
    await worked(realm);
    expect((await organization())?.hasPushDevices).toBe(true);
    await realm.call(removeDevice, realm.people.admin, { device_id: two.deviceId });
    await worked(realm);
    expect((await organization())?.hasPushDevices).toBeUndefined();
    expect(await realm.outside.table.get('pushFollower', { realm: realm.realm })).toBeUndefined();
  });

  test('lets a device that becomes active during the removal of another get its notifications', async () => {
    const [one, two] = [await activePhone(realm, member), await newPhone(realm, member)];
    await realm.call(removeDevice, member, { device_id: one.deviceId });
    await realm.work.receive();
    let isFirst = true;
    const stalled = elsewhere(realm, (send) => async (command) => {
      if (requestOf(command) === 'update' && isFirst) {
        isFirst = false;
        await registered(realm, member, form(two));
        await worked(realm);
      }
      return send(command);
    });
    await nudged(stalled, { left: member.userId });
    const follower = await realm.outside.table.get('pushFollower', { realm: realm.realm });
    expect([(await organization())?.hasPushDevices, follower?.holders]).toEqual([
      true,
      new Set([member.userId]),
    ]);
  });

  test('removes the device for one of two concurrent requests', async () => {
    const { deviceId } = await newPhone(realm, member);
    const replies = await Promise.all(
      [elsewhere(realm), elsewhere(realm)].map((at) =>
        at.call(removeDevice, member, { device_id: deviceId }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
});

describe('POST /mobile_push/register (wire facts 12.1)', () => {
  test('"registers" with both parameters, and the result of the relay arrives as an event', async () => {
    const phone = await newPhone(realm, member);
    const client = await givenClient(realm, member);
    expect((await registered(realm, member, form(phone))).status).toBe(200);
    const since = expect.any(Number);
    expect(await devicesOf(realm, member)).toEqual({
      [phone.deviceId]: {
        ...nothing,
        push_key_id: phone.keyId,
        pending_push_token_id: phone.tokenId,
        push_token_last_updated_timestamp: since,
      },
    });
    await worked(realm);
    const { tokenId, keyId, deviceId } = phone;
    expect(await client.poll()).toEqual([
      {
        id: expect.any(Number),
        type: 'device',
        op: 'update',
        device_id: deviceId,
        push_key_id: keyId,
        pending_push_token_id: tokenId,
        push_token_last_updated_timestamp: since,
        push_registration_error_code: null,
      },
      {
        id: expect.any(Number),
        type: 'device',
        op: 'update',
        device_id: deviceId,
        push_token_id: tokenId,
        pending_push_token_id: null,
      },
    ]);
    expect(await devicesOf(realm, member)).toMatchObject({
      [deviceId]: { push_token_id: tokenId, pending_push_token_id: null },
    });
    const [asked, ...more] = relay.asked;
    expect(more).toEqual([]);
    expect(asked?.path).toBe('/api/v1/remotes/push/e2ee/register');
    expect(asked?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('our-server:the push-relay-org-key of the tests').toString('base64')}`,
      'user-agent': expect.stringMatching(/^ZulipServer\/\d/),
    });
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
      realm_uuid: (await organization())?.uuid,
      token_id: tokenId,
      encrypted_push_registration: 'for the relay only',
      bouncer_public_key: 'key-of-the-relay',
    });
    expect(await jobs()).toEqual([]);
  });

  test('treats the same parameters again as "a success without work"', async () => {
    const phone = await activePhone(realm, member);
    const client = await givenClient(realm, member);
    expect((await registered(realm, member, form(phone))).status).toBe(200);
    expect(
      (await registered(realm, member, keyForm(phone) && { device_id: phone.deviceId, ...keyForm(phone) }))
        .status,
    ).toBe(200);
    expect((await registered(realm, member, { device_id: phone.deviceId, ...tokenForm(phone) })).status).toBe(
      200,
    );
    await worked(realm);
    expect([await client.poll(), relay.asked.length]).toEqual([[], 1]);
  });

  test('with only a key pair "rotates key at once; error if nothing registered"', async () => {
    const [phone, other] = [await newPhone(realm, member), await newPhone(realm, member)];
    const parameters = { device_id: phone.deviceId, ...keyForm(other) };
    expect(outcome(await registered(realm, member, parameters))).toEqual(BAD);
    await registered(realm, member, form(phone));
    const client = await givenClient(realm, member);
    expect((await registered(realm, member, parameters)).status).toBe(200);
    expect(await client.poll()).toEqual([
      {
        id: expect.any(Number),
        type: 'device',
        op: 'update',
        device_id: phone.deviceId,
        push_key_id: other.keyId,
      },
    ]);
  });

  test('with only a token set "rotates token; error if nothing registered", and keeps the old one until then', async () => {
    const [phone, other] = [await newPhone(realm, member), await newPhone(realm, member)];
    const parameters = { device_id: phone.deviceId, ...tokenForm(other) };
    expect(outcome(await registered(realm, member, parameters))).toEqual(BAD);
    await registered(realm, member, form(phone));
    await worked(realm);
    expect((await registered(realm, member, parameters)).status).toBe(200);
    expect(await stored(phone.deviceId)).toMatchObject({
      tokenId: phone.tokenId,
      pendingTokenId: other.tokenId,
    });
    await worked(realm);
    expect(await devicesOf(realm, member)).toMatchObject({
      [phone.deviceId]: {
        push_key_id: phone.keyId,
        push_token_id: other.tokenId,
        pending_push_token_id: null,
      },
    });
  });

  test('refuses a second request: "earlier registration still pending: 400"', async () => {
    const phone = await newPhone(realm, member);
    await registered(realm, member, form(phone));
    expect(outcome(await registered(realm, member, form(phone)))).toEqual(BAD);
    expect(
      outcome(await registered(realm, member, { device_id: phone.deviceId, ...tokenForm(phone) })),
    ).toEqual(BAD);
  });

  test('requires a device that "must belong to caller"', async () => {
    const phone = await newPhone(realm, member);
    expect(outcome(await registered(realm, realm.people.admin, form(phone)))).toEqual(BAD);
    for (const deviceId of [0, -1, 99_999_999, 1e15]) {
      expect(outcome(await registered(realm, member, form({ ...phone, deviceId })))).toEqual(BAD);
    }
  });

  test('refuses bots', async () => {
    const phone = await newPhone(realm, member);
    expect(outcome(await registered(realm, realm.people.bot, form(phone)))).toEqual(BAD);
  });

  test('is refused if no relay is configured', async () => {
    const bare = await newRealm();
    const phone = await newPhone(bare, bare.people.member);
    expect(outcome(await registered(bare, bare.people.member, form(phone)))).toEqual([
      400,
      'PUSH_SERVICE_NOT_CONFIGURED',
    ]);
  });

  const good = Buffer.concat([Buffer.from([0x31]), Buffer.alloc(32, 7)]).toString('base64');
  const wrongForms: readonly [string, object][] = [
    ['neither set', { push_key: undefined, push_key_id: undefined, token_kind: undefined }],
    ['half of each', { push_key_id: undefined, token_id: undefined }],
    ['a key of another length', { push_key: Buffer.alloc(32, 0x31).toString('base64') }],
    ['a key of another cryptosystem', { push_key: Buffer.alloc(33, 0x32).toString('base64') }],
    ['a key in loose base64', { push_key: `${good.slice(0, -1)}\n=` }],
    ['a key in base64 of addresses', { push_key: Buffer.alloc(33, 0xff).toString('base64url') }],
    ['a key id with a sign', { push_key_id: -1 }],
    ['a key id that is too large', { push_key_id: 2 ** 32 }],
    ['a key id that is no integer', { push_key_id: 1.5 }],
    ['a token id that is no base64', { token_id: '!' }],
    ['a token id that is no integer', { token_id: '' }],
    ['a token id that is too long', { token_id: Buffer.alloc(9, 1).toString('base64') }],
    ['an unknown kind of token', { token_kind: 'carrier pigeon' }],
    ['a registration without end', { encrypted_push_registration: 'x'.repeat(10_001) }],
  ];
  test('refuses malformed parameters, and changes nothing', async () => {
    const phone = await newPhone(realm, member);
    for (const [what, wrong] of wrongForms) {
      const parameters = Object.fromEntries(
        Object.entries({ ...form(phone), ...wrong }).filter(([, value]) => value !== undefined),
      );
      expect(outcome(await registered(realm, member, parameters)), what).toEqual(BAD);
    }
    expect((await stored(phone.deviceId))?.version).toBe(1);
  });

  test('accepts the largest key id, and extends short token ids as integers', async () => {
    const phone = { ...(await newPhone(realm, member)), keyId: 2 ** 32 - 1, tokenId: '/w==' };
    expect((await registered(realm, member, form(phone))).status).toBe(200);
    expect(await devicesOf(realm, member)).toMatchObject({
      [phone.deviceId]: { push_key_id: 2 ** 32 - 1, pending_push_token_id: '//////////8=' },
    });
  });

  test('never stores or returns a key in clear', async () => {
    const phone = await activePhone(realm, member);
    const item = JSON.stringify(await stored(phone.deviceId));
    for (const encoding of ['base64', 'hex', 'latin1'] as const) {
      const secret = Buffer.from(phone.key).toString(encoding);
      for (const text of [
        item,
        JSON.stringify(realm.reports),
        JSON.stringify(await devicesOf(realm, member)),
      ]) {
        expect(text).not.toContain(secret);
      }
    }
    const own = await registered(realm, member, { ...form(phone), push_key: `${keyForm(phone).push_key}x` });
    expect(own.body.msg).not.toContain(keyForm(phone).push_key);
  });

  test('refuses the second of two concurrent registrations as in progress', async () => {
    const phone = await newPhone(realm, member);
    const replies = await Promise.all(
      [elsewhere(realm), elsewhere(realm)].map((at) => registered(at, member, form(phone))),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    await worked(realm);
    expect(relay.asked).toHaveLength(1);
  });

  test('returns usable keys to the first two concurrent registrations of an organization', async () => {
    const phones = [await newPhone(realm, member), await newPhone(realm, realm.people.admin)];
    const replies = await Promise.all(
      phones.map((phone) => registered(elsewhere(realm), phone.owner, form(phone))),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    await worked(realm);
    for (const phone of phones) expect((await registered(realm, phone.owner, form(phone))).status).toBe(200);
    expect(relay.asked).toHaveLength(2);
  });
});

describe('the registration at the relay', () => {
  const MINUTE = 60_000;

  test.each([
    ['of a wrong key', 'INVALID_BOUNCER_PUBLIC_KEY'],
    ['of what cannot be read', 'INVALID_ENCRYPTED_PUSH_REGISTRATION'],
    ['of what is too old', 'REQUEST_EXPIRED'],
  ])('sends an event that names the refusal %s, and the owner can try again', async (_, code) => {
    const phone = await newPhone(realm, member);
    await registered(realm, member, form(phone));
    const client = await givenClient(realm, member);
    relay.behave(refused(code));
    await worked(realm);
    expect(await client.poll()).toEqual([
      {
        id: expect.any(Number),
        type: 'device',
        op: 'update',
        device_id: phone.deviceId,
        push_registration_error_code: code,
      },
    ]);
    expect(await devicesOf(realm, member)).toMatchObject({
      [phone.deviceId]: { push_token_id: null, push_registration_error_code: code },
    });
    expect(await jobs()).toEqual([]);
    relay.behave();
    expect((await registered(realm, member, form(phone))).status).toBe(200);
    await worked(realm);
    expect(await devicesOf(realm, member)).toMatchObject({
      [phone.deviceId]: { push_token_id: phone.tokenId, push_registration_error_code: null },
    });
  });

  const troubles: readonly [string, Answer][] = [
    ['is broken', json(500, {})],
    ['is busy', json(429, {})],
    ['does not know us', refused('INVALID_ZULIP_SERVER', 401)],
    ['does not let us in', json(403, {})],
    ['does not know the organization', refused('MISSING_REMOTE_REALM')],
    [
      'answers with HTML',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    ],
    ['breaks off', (response) => response.destroy()],
  ];
  test('is retried with growing delays after any failure of the relay, and failures are logged', async () => {
    const phone = await newPhone(realm, member);
    await registered(realm, member, form(phone));
    await realm.work.receive();
    for (const [i, [does, answer]] of troubles.entries()) {
      relay.behave(answer);
      await nudged(realm);
      expect(relay.asked, does).toHaveLength(i + 1);
      expect(realm.reports[i]).toMatchObject({
        level: 'ERROR',
        worker: 'push',
        job: 'register',
        tried: 'again later',
      });
      await nudged(realm);
      expect(relay.asked, does).toHaveLength(i + 1);
      realm.pass(Math.min(15_000 * 2 ** i, 15 * MINUTE) + 10);
    }
    relay.behave();
    await nudged(realm);
    expect((await stored(phone.deviceId))?.tokenId).toBe(phone.tokenId);
    expect(JSON.stringify(realm.reports)).not.toContain('for the relay only');
  });

  test('expires after a day', async () => {
    const phone = await newPhone(realm, member);
    await registered(realm, member, form(phone));
    realm.pass(24 * 60 * MINUTE + 1);
    await worked(realm);
    expect([relay.asked, (await stored(phone.deviceId))?.errorCode]).toEqual([[], 'REQUEST_EXPIRED']);
  });

  test('has no effect for a device that was removed meanwhile', async () => {
    const phone = await newPhone(realm, member);
    await registered(realm, member, form(phone));
    await realm.call(removeDevice, member, { device_id: phone.deviceId });
    await worked(realm);
    expect([await jobs(), await stored(phone.deviceId)]).toEqual([[], undefined]);
    expect((await organization())?.hasPushDevices).toBeUndefined();
  });

  test('keeps a key that is rotated meanwhile', async () => {
    const [phone, other] = [await newPhone(realm, member), await newPhone(realm, member)];
    await registered(realm, member, form(phone));
    await registered(realm, member, { device_id: phone.deviceId, ...keyForm(other) });
    await worked(realm);
    expect(await stored(phone.deviceId)).toMatchObject({ keyId: other.keyId, tokenId: phone.tokenId });
  });

  test('is not lost when the function dies before it wakes the worker', async () => {
    const phone = await newPhone(realm, member);
    const dying = elsewhere(realm, undefined, {
      environment: { ...realm.outside.environment, AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9' },
    });
    expect((await registered(dying, member, form(phone))).status).toBe(200);
    expect(await worked(realm)).toEqual([]);
    await nudged(realm);
    expect((await stored(phone.deviceId))?.tokenId).toBe(phone.tokenId);
  });
});
