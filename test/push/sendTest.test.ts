import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handler as removeDevice } from '../../functions/push/removeDevice.ts';
import { handler as sendLegacyTest } from '../../functions/push/sendLegacyTest.ts';
import { handler as sendTest } from '../../functions/push/sendTest.ts';
import { handler as getSettings } from '../../functions/server/getSettings.ts';
import { handler as worker } from '../../functions/workers/push.ts';
import type { Realm } from '../../shared/model/realm/realm.ts';
import { givenClient, virtualTime } from '../support/event-queue.ts';
import {
  activePhone,
  elsewhere,
  form,
  newPhone,
  nudged,
  outcome,
  type PushRealm,
  pushRealm,
  registered,
  tested,
  tokenForm,
  worked,
} from '../support/phone.ts';
import { type Answer, type FakeRelay, json, refused, startRelay, taken } from '../support/push-relay.ts';
import { newRealm, type Person } from '../support/realm.ts';
import { queued, runQueue } from '../support/worker-run.ts';

let relay: FakeRelay;
let realm: PushRealm;
let member: Person;
beforeEach(async () => {
  relay = await startRelay();
  realm = await pushRealm(relay);
  member = realm.people.member;
});
afterEach(() => relay.stop());

const NO_DEVICE = [400, 'NO_ACTIVE_PUSH_DEVICE'];
const ADMIN = [403, 'ADMIN_ACTION_REQUIRED'];
const UNREACHABLE = [502, 'FAILED_TO_CONNECT_BOUNCER'];
const BROKEN = [502, 'INTERNAL_SERVER_ERROR_ON_BOUNCER'];

const organization = async (): Promise<Realm | undefined> =>
  realm.outside.table.get('realm', { realm: realm.realm });

/** The fields about push notifications that new clients of the organization get. */
const settingsOf = async () => {
  const { state } = await givenClient(realm, member, { fetch_event_types: ['realm'] });
  const { body } = await realm.call(getSettings, undefined);
  return [
    state.realm_push_notifications_enabled,
    state.realm_push_notifications_enabled_end_timestamp,
    body.push_notifications_enabled,
  ];
};

describe('POST /mobile_push/e2ee/test_notification (4.11)', () => {
  test('sends one request for all devices, and only each device can decrypt its part (4.11/all-devices, 4.11/reply; wire facts 12.3, 12.4)', async () => {
    const android = await activePhone(realm, member);
    const apple = await activePhone(realm, member, 'apns');
    const others = await activePhone(realm, realm.people.admin);
    const { status, body } = await tested(realm, member);
    expect([status, body]).toEqual([200, { result: 'success', msg: '' }]);
    const [asked] = relay.asked.slice(-1);
    expect(asked?.path).toBe('/api/v1/remotes/push/e2ee/notify');
    expect(asked?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from('our-server:the push-relay-org-key of the tests').toString('base64')}`,
      'user-agent': expect.stringMatching(/^ZulipServer\/\d/),
    });
    expect(JSON.parse(asked?.body ?? '')).toEqual({
      realm_uuid: (await organization())?.uuid,
      push_requests: [
        {
          token_id: android.tokenId,
          fcm_priority: 'high',
          payload: { push_key_id: android.keyId, encrypted_data: expect.any(String) },
        },
        {
          token_id: apple.tokenId,
          http_headers: { apns_priority: 10, apns_push_type: 'alert' },
          payload: {
            push_key_id: apple.keyId,
            encrypted_data: expect.any(String),
            aps: { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' },
          },
        },
      ],
    });
    const [[forAndroid, forApple] = [], ...more] = relay.sent();
    expect(more).toEqual([]);
    for (const [phone, request] of [[android, forAndroid] as const, [apple, forApple] as const]) {
      expect(phone.read(request)).toEqual({
        realm_url: `http://${realm.host}`,
        realm_name: 'Test',
        user_id: member.userId,
        type: 'test',
        time: expect.any(Number),
      });
    }
    const stranger = { ...forAndroid?.payload, push_key_id: others.keyId };
    expect(() => others.read({ ...forAndroid, payload: stranger } as typeof forAndroid)).toThrow();
    expect(forAndroid?.payload.encrypted_data).not.toBe(forApple?.payload.encrypted_data);
  });

  test('sends only to the named device (4.11/device_id)', async () => {
    const [one, two] = [await activePhone(realm, member), await activePhone(realm, member)];
    expect((await tested(realm, member, { device_id: two.deviceId })).status).toBe(200);
    const [[request, ...more] = []] = relay.sent();
    expect([request?.token_id, more]).toEqual([two.tokenId, []]);
    expect(one.tokenId).not.toBe(two.tokenId);
  });

  test('refuses if no device can get it: none, unknown, another user’s, pending or removed (4.11/NO_ACTIVE_PUSH_DEVICE)', async () => {
    expect(outcome(await tested(realm, member))).toEqual(NO_DEVICE);
    const pending = await newPhone(realm, member);
    await registered(realm, member, form(pending));
    const others = await activePhone(
      { ...realm, work: { ...realm.work, receive: async () => [] } },
      realm.people.admin,
    );
    for (const deviceId of [undefined, 0, -3, 99_999_999, others.deviceId, pending.deviceId]) {
      expect(
        outcome(
          await realm.call(sendTest, member, { ...(deviceId !== undefined && { device_id: deviceId }) }),
        ),
      ).toEqual(NO_DEVICE);
    }
    await worked(realm);
    expect((await tested(realm, member)).status).toBe(200);
    await realm.call(removeDevice, member, { device_id: pending.deviceId });
    expect(outcome(await tested(realm, member))).toEqual(NO_DEVICE);
  });

  test('refuses bots (wire facts 12.2)', async () => {
    expect(outcome(await tested(realm, realm.people.bot))).toEqual([400, 'BAD_REQUEST']);
  });

  test('refuses if the relay reports every token as dead, and drops them (wire facts 12.2; 7/NO_ACTIVE_PUSH_DEVICE)', async () => {
    const [one, two] = [await activePhone(realm, member), await activePhone(realm, member)];
    const client = await givenClient(realm, member);
    relay.behave(taken({ delete_token_ids: [one.tokenId] }));
    expect((await tested(realm, member)).status).toBe(200);
    relay.behave(taken({ delete_token_ids: [two.tokenId, 'somebody else'] }));
    expect(outcome(await tested(realm, member))).toEqual(NO_DEVICE);
    expect(await client.poll()).toEqual(
      [one, two].map(({ deviceId }) => ({
        id: expect.any(Number),
        type: 'device',
        op: 'update',
        device_id: deviceId,
        push_token_id: null,
      })),
    );
    expect(outcome(await tested(realm, member))).toEqual(NO_DEVICE);
    expect((await organization())?.hasPushDevices).toBeUndefined();
  });

  test('keeps a token that has replaced the dead one meanwhile', async () => {
    const [phone, other] = [await activePhone(realm, member), await newPhone(realm, member)];
    relay.behave(async (response, asked) => {
      relay.behave();
      await registered(realm, member, { device_id: phone.deviceId, ...tokenForm(other) });
      const [{ Body = '' } = {}] = await realm.work.receive();
      await runQueue(realm, worker, [queued(Body)]);
      taken({ delete_token_ids: [phone.tokenId] })(response, asked);
    });
    await tested(realm, member);
    const { state } = await givenClient(realm, member, { fetch_event_types: ['device'] });
    expect(state.devices[phone.deviceId].push_token_id).toBe(other.tokenId);
  });

  const half: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
    response.write('{"result":"succ');
    setTimeout(() => response.destroy(), 20);
  };
  const html: Answer = (response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please sign in</html>');

  const troubles: readonly [string, Answer, typeof ADMIN][] = [
    ['does not know this server', refused('INVALID_ZULIP_SERVER', 401), ADMIN],
    ['answers 401', json(401, {}), ADMIN],
    ['answers 403', json(403, {}), ADMIN],
    ['answers with an unexpected status', json(418, {}), ADMIN],
    ['has another error', refused('SOMETHING_ELSE'), ADMIN],
    ['answers with HTML', html, ADMIN],
    ['sends us elsewhere', (response) => void response.writeHead(302, { location: '/' }).end(), ADMIN],
    ['breaks the connection', (response) => void response.destroy(), UNREACHABLE],
    ['gives half an answer', half, UNREACHABLE],
    ['answers 500', json(500, {}), BROKEN],
    ['answers 503 with HTML', (response) => void response.writeHead(503).end('<html>'), BROKEN],
  ];
  test('reports each fault of the relay to the caller, and changes nothing (4.11/ADMIN_ACTION_REQUIRED, 4.11/FAILED_TO_CONNECT_BOUNCER, 4.11/INTERNAL_SERVER_ERROR_ON_BOUNCER)', async () => {
    await activePhone(realm, member);
    for (const [does, answer, expected] of troubles) {
      relay.behave(answer);
      expect(outcome(await tested(realm, member)), does).toEqual(expected);
    }
    relay.behave();
    expect(await settingsOf()).toEqual([true, null, true]);
    expect((await tested(realm, member)).status).toBe(200);
  });

  test('reports an unreachable relay to the caller (7/FAILED_TO_CONNECT_BOUNCER)', async () => {
    await activePhone(realm, member);
    relay.stop();
    expect(outcome(await tested(realm, member))).toEqual(UNREACHABLE);
  });

  test.each([
    ['organization not registered', 'MISSING_REMOTE_REALM'],
    ['plan disallows', 'PUSH_NOTIFICATIONS_DISALLOWED'],
  ])(
    '"%s" turns push notifications off, until the relay serves the organization again (wire facts 12.2; 7/ADMIN_ACTION_REQUIRED)',
    async (_, code) => {
      await activePhone(realm, member);
      const client = await givenClient(realm, realm.people.admin, { event_types: ['realm'] });
      expect(await settingsOf()).toEqual([true, null, true]);
      relay.behave(refused(code));
      expect(outcome(await tested(realm, member))).toEqual(ADMIN);
      expect(outcome(await tested(realm, member))).toEqual(ADMIN);
      expect(await settingsOf()).toEqual([false, null, false]);
      relay.behave(taken({ realm_push_status: { can_push: true, expected_end_timestamp: 1_900_000_000 } }));
      expect((await tested(realm, member)).status).toBe(200);
      expect(await settingsOf()).toEqual([true, 1_900_000_000, true]);
      const told = (property: string, value: unknown) => ({
        id: expect.any(Number),
        type: 'realm',
        op: 'update',
        property,
        value,
      });
      expect(await client.poll()).toEqual([
        told('push_notifications_enabled', false),
        told('push_notifications_enabled', true),
        told('push_notifications_enabled_end_timestamp', 1_900_000_000),
      ]);
    },
  );

  test.each([
    ['no relay', { PUSH_RELAY_URL: undefined }],
    ['a relay that does not know our name', { PUSH_RELAY_ORG_ID: undefined }],
  ])('is refused if the operator has set up %s by now', async (_, without) => {
    await activePhone(realm, member);
    const environment = { ...realm.outside.environment, ...without };
    const bare = elsewhere(realm, undefined, { environment });
    expect(outcome(await tested(bare, member))).toEqual(ADMIN);
  });

  test('gives up before the gateway does if the worker does not answer, and deletes the test (7/FAILED_TO_CONNECT_BOUNCER)', async () => {
    await activePhone(realm, member);
    const time = virtualTime();
    const late = elsewhere(realm, undefined, { ...time, environment: realm.outside.environment });
    // The worker does not run while the caller waits.
    expect(outcome(await late.call(sendTest, member))).toEqual(UNREACHABLE);
    expect(time.passed()).toBeGreaterThan(15_000);
    expect(time.passed()).toBeLessThan(24_000);
    await worked(realm);
    expect(relay.sent()).toEqual([]);
    expect(await realm.outside.table.all('pushJob', { realm: realm.realm })).toEqual([]);
  });

  test('does not wait longer for a hanging relay than the caller does', async () => {
    await activePhone(realm, member);
    relay.behave(() => {});
    const later = elsewhere(realm, undefined, { now: () => realm.outside.now() + 19_000 });
    expect(outcome(await tested(realm, member, {}, later))).toEqual(UNREACHABLE);
  });

  test('is sent once, even if the queue delivers its message three times', async () => {
    await activePhone(realm, member);
    const reply = realm.call(sendTest, member);
    let bodies: string[] = [];
    while (bodies.length === 0) bodies = (await realm.work.receive()).map(({ Body = '' }) => Body);
    const [body = ''] = bodies;
    await Promise.all([
      runQueue(realm, worker, [queued(body), queued(body)]),
      runQueue(elsewhere(realm), worker, [queued(body)]),
    ]);
    expect((await reply).status).toBe(200);
    realm.pass(200_000);
    await runQueue(realm, worker, [queued(body, 2)]);
    await nudged(realm);
    expect(relay.sent()).toHaveLength(1);
  });

  test('takes 3 round trips and one write, without the polls for the result', async () => {
    await activePhone(realm, member);
    const seen: number[][] = [];
    const container = elsewhere(realm, undefined, {
      wait: async (ms) => {
        const { roundTrips, calls } = container.meter;
        seen.push([roundTrips, calls.filter(({ writeUnits }) => writeUnits > 0).length]);
        await realm.outside.wait(ms);
      },
    });
    expect((await tested(container, member, {}, realm)).status).toBe(200);
    expect(seen[0]).toEqual([3, 1]);
  });
});

describe('POST /mobile_push/test_notification (wire facts 12.5)', () => {
  test('is a "silent success" without device and token, but refuses an unknown token', async () => {
    expect((await realm.call(sendLegacyTest, member)).status).toBe(200);
    expect(outcome(await realm.call(sendLegacyTest, member, { token: 'c0ffee' }))).toEqual([
      400,
      'INVALID_PUSH_DEVICE_TOKEN',
    ]);
    expect(outcome(await realm.call(sendLegacyTest, realm.people.bot))).toEqual([400, 'BAD_REQUEST']);
  });
});

test('without a configured relay, clients see that there are no push notifications', async () => {
  const bare = await newRealm();
  const { state } = await givenClient(bare, bare.people.member, { fetch_event_types: ['realm', 'device'] });
  expect(state).toMatchObject({ realm_push_notifications_enabled: false, devices: {} });
});
