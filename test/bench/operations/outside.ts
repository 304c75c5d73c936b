import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Call, type Operation, operation, plain, type Request } from '../operation.ts';

const newDevice = async (call: Call): Promise<number> =>
  (await call('push.registerDevice', 'member')).device_id;

/** What an app registers with: a key of its own and a token. */
const registration = (device_id: number) => ({
  device_id,
  push_key: Buffer.concat([Buffer.from([0x31]), randomBytes(32)]).toString('base64'),
  push_key_id: randomBytes(4).readUInt32BE(),
  token_kind: 'fcm',
  token_id: randomBytes(8).toString('base64'),
  bouncer_public_key: 'key-of-the-relay',
  encrypted_push_registration: 'for the relay only',
});

/** A device that gets notifications, once the worker has registered it at the relay. */
async function activeDevice(call: Call): Promise<void> {
  await call('push.register', 'member', registration(await newDevice(call)));
  for (let attempt = 0; ; attempt++) {
    try {
      await call('push.sendTest', 'member');
      return;
    } catch (error) {
      if (attempt === 50) throw error;
      await wait(100);
    }
  }
}

/** Asks to be sent to the provider; the request with which the same browser comes back. */
async function returning(call: Call): Promise<Request> {
  const { location, cookie } = await call('calls.register', 'member', {}, { path: { provider: 'zoom' } });
  const state = new URL(location).searchParams.get('state') ?? '';
  return { path: { provider: 'zoom' }, query: { state, code: 'good' }, headers: { cookie } };
}

/** Push notifications and calls, which other people's services have a part in. */
export const outsideOperations: readonly Operation[] = [
  { ...plain('push.registerDevice', 'member'), repeatable: false },
  operation({
    name: 'push.removeDevice',
    as: 'member',
    repeatable: false,
    prepare: newDevice,
    request: (device_id) => ({ parameters: { device_id } }),
  }),
  plain('push.addApnsToken', 'member', (n) => ({
    parameters: { token: btoa(`apple ${n}`), appid: 'org.example.chat' },
  })),
  operation({
    name: 'push.removeApnsToken',
    as: 'member',
    repeatable: false,
    prepare: (call, n) =>
      call('push.addApnsToken', 'member', { token: btoa(`gone ${n}`), appid: 'org.example.chat' }),
    request: (_, n) => ({ parameters: { token: btoa(`gone ${n}`) } }),
  }),
  plain('push.addFcmToken', 'member', (n) => ({ parameters: { token: `android ${n}` } })),
  operation({
    name: 'push.removeFcmToken',
    as: 'member',
    repeatable: false,
    prepare: (call, n) => call('push.addFcmToken', 'member', { token: `gone ${n}` }),
    request: (_, n) => ({ parameters: { token: `gone ${n}` } }),
  }),
  operation({
    name: 'push.register',
    as: 'member',
    repeatable: false,
    beyond: 'relay',
    prepare: newDevice,
    request: (device_id) => ({ parameters: registration(device_id) }),
  }),
  operation({
    name: 'push.sendTest',
    as: 'member',
    repeatable: false,
    beyond: 'relay',
    prepare: activeDevice,
    request: () => ({}),
  }),
  operation({
    name: 'push.sendLegacyTest',
    as: 'member',
    repeatable: false,
    beyond: 'relay',
    prepare: activeDevice,
    request: () => ({}),
  }),
  plain('calls.createBigBlueButton', 'member', (n) => ({ query: { meeting_name: `meeting ${n}` } })),
  operation({
    name: 'calls.register',
    as: 'member',
    repeatable: true,
    beyond: 'provider',
    prepare: async () => {},
    request: () => ({ path: { provider: 'zoom' } }),
  }),
  operation({
    name: 'calls.complete',
    as: undefined,
    repeatable: false,
    beyond: 'provider',
    prepare: returning,
    request: (request) => request,
  }),
  operation({
    name: 'calls.create',
    as: 'member',
    repeatable: true,
    beyond: 'provider',
    prepare: async (call) => {
      await call('calls.complete', undefined, {}, await returning(call));
    },
    request: () => ({ path: { provider: 'zoom' } }),
  }),
];
