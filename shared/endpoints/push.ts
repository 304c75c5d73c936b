import * as z from 'zod/mini';
import { PUSH } from '../domain/push/wake-up.ts';
import { endpoint, reads, writes } from './endpoint.ts';
import { integer, json, optional, text, word } from './parameter.ts';

const deviceId = integer('The device, as its registration told it.');

export const registerDevice = endpoint({
  id: 'push.registerDevice',
  method: 'POST',
  path: '/api/v1/register_client_device',
  source: 'wire facts 12.1',
  description: 'Registers a device that the caller logged in on.',
  access: 'human',
  parameters: {},
  reply: z.object({ device_id: z.int() }),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const removeDevice = endpoint({
  id: 'push.removeDevice',
  method: 'POST',
  path: '/api/v1/remove_client_device',
  source: 'https://zulip.com/api/remove-client-device',
  description: 'Removes a device of the caller; it gets no push notifications any more.',
  access: 'human',
  parameters: { device_id: deviceId },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'DeleteItem'], queues: [PUSH] },
});

export const registerPush = endpoint({
  id: 'push.register',
  method: 'POST',
  path: '/api/v1/mobile_push/register',
  source: 'wire facts 12.1',
  description: 'Lets push notifications reach a device of the caller, or changes its key or its token.',
  access: 'human',
  parameters: {
    device_id: deviceId,
    token_kind: optional(
      word("Whose service carries notifications to the device: Apple's or Google's.", ['apns', 'fcm']),
    ),
    push_key: optional(
      text('What notifications are encrypted with: base64 of the byte 0x31 and 32 secret ones.'),
    ),
    push_key_id: optional(
      json(
        'By which the device knows the key: 32 bits without a sign.',
        z.int().check(z.minimum(0), z.maximum(0xffff_ffff)),
      ),
    ),
    bouncer_public_key: optional(
      text("The relay's key with which the registration is encrypted.", z.string().check(z.maxLength(500))),
    ),
    encrypted_push_registration: optional(
      text('The registration, which only the relay can read.', z.string().check(z.maxLength(10_000))),
    ),
    token_id: optional(
      text("By which the device knows its token: base64 of an integer's bytes, eight at most."),
    ),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST', 'PUSH_SERVICE_NOT_CONFIGURED'],
  needs: { table: writes, queues: [PUSH], key: ['Encrypt', 'Decrypt'], settings: ['PUSH_RELAY_URL'] },
});

export const testPush = endpoint({
  id: 'push.sendTest',
  method: 'POST',
  path: '/api/v1/mobile_push/e2ee/test_notification',
  source: 'specification 4.11, wire facts 12.2',
  description: "Sends an encrypted test notification to the caller's devices, and tells what became of it.",
  access: 'human',
  parameters: { device_id: optional(integer('The only device to send it to; all of the caller if absent.')) },
  weight: () => 10,
  reply: z.object({}),
  errors: [
    'NO_ACTIVE_PUSH_DEVICE',
    'ADMIN_ACTION_REQUIRED',
    'FAILED_TO_CONNECT_BOUNCER',
    'INTERNAL_SERVER_ERROR_ON_BOUNCER',
  ],
  needs: { table: [...reads, 'PutItem', 'DeleteItem'], queues: [PUSH], settings: ['PUSH_RELAY_URL'] },
  // The wait for the relay's answer (`test-notification.ts`), and what it takes to ask for it.
  timeout: 27,
});

export const testLegacyPush = endpoint({
  id: 'push.sendLegacyTest',
  method: 'POST',
  path: '/api/v1/mobile_push/test_notification',
  source: 'wire facts 12.5',
  description: 'Sends a test notification to devices without encryption, of which there are none here.',
  access: 'human',
  parameters: { token: optional(text('The token of the only device to send it to.')) },
  reply: z.object({}),
  errors: ['INVALID_PUSH_DEVICE_TOKEN'],
  needs: { table: reads },
});
