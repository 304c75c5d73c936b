import * as z from 'zod/mini';
import { PUSH } from '../kernel/wake-up.ts';
import { endpoint, reads, readsItems, writes } from './endpoint.ts';
import { integer, optional, text, word } from './parameter.ts';

const deviceId = integer('The `device_id` from its registration.');

export const registerDevice = endpoint({
  id: 'push.registerDevice',
  route: 'POST /api/v1/register_client_device',
  source: 'wire facts 12.1',
  description: 'Registers a device on which the caller is logged in.',
  access: 'human',
  reply: z.object({ device_id: z.int() }),
  needs: { table: writes },
});

export const removeDevice = endpoint({
  id: 'push.removeDevice',
  route: 'POST /api/v1/remove_client_device',
  source: 'https://zulip.com/api/remove-client-device',
  description: 'Removes a device of the caller, which then receives no more push notifications.',
  access: 'human',
  parameters: { device_id: deviceId },
  needs: { table: [...writes, 'DeleteItem'], queues: [PUSH] },
});

export const registerPush = endpoint({
  id: 'push.register',
  route: 'POST /api/v1/mobile_push/register',
  source: 'wire facts 12.1',
  description: 'Registers a device of the caller for push notifications, or changes its key or its token.',
  access: 'human',
  parameters: {
    device_id: deviceId,
    token_kind: optional(
      word('The push service of the device: Apple (`apns`) or Google (`fcm`).', ['apns', 'fcm']),
    ),
    push_key: optional(
      text('The key that encrypts notifications: base64 of the byte 0x31 followed by 32 secret bytes.'),
    ),
    push_key_id: optional(
      integer('The ID by which the device recognizes the key, an unsigned 32-bit integer.', 0, 0xffff_ffff),
    ),
    bouncer_public_key: optional(
      text(
        'The public key of the relay, with which the registration is encrypted.',
        z.string().check(z.maxLength(500)),
      ),
    ),
    encrypted_push_registration: optional(
      text('The registration, which only the relay can decrypt.', z.string().check(z.maxLength(10_000))),
    ),
    token_id: optional(
      text('The ID by which the device recognizes its token: base64 of at most eight bytes.'),
    ),
  },
  errors: ['PUSH_SERVICE_NOT_CONFIGURED'],
  needs: { table: writes, queues: [PUSH], key: ['Encrypt', 'Decrypt'], settings: ['PUSH_RELAY_URL'] },
});

export const testPush = endpoint({
  id: 'push.sendTest',
  route: 'POST /api/v1/mobile_push/e2ee/test_notification',
  source: 'specification 4.11, wire facts 12.2',
  description: "Sends an encrypted test notification to the caller's devices, and waits for the result.",
  access: 'human',
  parameters: {
    device_id: optional(integer('The device to send it to. Default: all devices of the caller.')),
  },
  weight: () => 10,
  errors: [
    'NO_ACTIVE_PUSH_DEVICE',
    'ADMIN_ACTION_REQUIRED',
    'FAILED_TO_CONNECT_BOUNCER',
    'INTERNAL_SERVER_ERROR_ON_BOUNCER',
  ],
  needs: { table: [...reads, 'PutItem', 'DeleteItem'], queues: [PUSH], settings: ['PUSH_RELAY_URL'] },
  // The wait for the relay's answer, and the requests before it.
  timeout: 27,
});

export const testLegacyPush = endpoint({
  id: 'push.sendLegacyTest',
  route: 'POST /api/v1/mobile_push/test_notification',
  source: 'wire facts 12.5',
  description: 'Refuses a test notification without encryption, which this service does not send.',
  access: 'human',
  parameters: { token: optional(text('The token of the device to send it to.')) },
  errors: ['INVALID_PUSH_DEVICE_TOKEN'],
  needs: { table: readsItems },
});

const legacyToken = text('The token of the device at its push service.');

/** What the four endpoints for tokens of older clients have in common. */
const legacy = {
  source: 'companion facts 3.11',
  access: 'human',
  needs: { table: [...readsItems, 'PutItem'] },
} as const;

export const addApnsToken = endpoint({
  ...legacy,
  id: 'push.addApnsToken',
  route: 'POST /api/v1/users/me/apns_device_token',
  description: 'Takes the token of an Apple device for notifications without encryption. None are sent.',
  parameters: {
    token: legacyToken,
    appid: text('The ID of the app.', z.string().check(z.regex(/^[A-Za-z0-9.-]+$/))),
  },
});

export const removeApnsToken = endpoint({
  ...legacy,
  id: 'push.removeApnsToken',
  route: 'DELETE /api/v1/users/me/apns_device_token',
  description: 'Forgets the token of an Apple device.',
  parameters: { token: legacyToken },
});

export const addFcmToken = endpoint({
  ...legacy,
  id: 'push.addFcmToken',
  route: 'POST /api/v1/users/me/android_gcm_reg_id',
  description: 'Takes the token of an Android device for notifications without encryption. None are sent.',
  parameters: { token: legacyToken },
});

export const removeFcmToken = endpoint({
  ...legacy,
  id: 'push.removeFcmToken',
  route: 'DELETE /api/v1/users/me/android_gcm_reg_id',
  description: 'Forgets the token of an Android device.',
  parameters: { token: legacyToken },
});
