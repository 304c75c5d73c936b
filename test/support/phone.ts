import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { SQSBatchResponse } from 'aws-lambda';
import { expect } from 'vitest';
import { handler as registerPush } from '../../functions/push/register.ts';
import { handler as registerDevice } from '../../functions/push/registerDevice.ts';
import { handler as sendTest } from '../../functions/push/sendTest.ts';
import { handler as worker } from '../../functions/workers/push.ts';
import type { FakeRelay, PushRequest } from './push-relay.ts';
import { newRealm, type Person, type Reply, type TestRealm } from './realm.ts';
import { type Work, workOf } from './work-queue.ts';
import { queued, runQueue } from './worker-run.ts';

/** An organization whose operator set up this relay, with the worker's queue. */
export interface PushRealm extends TestRealm {
  readonly work: Work;
}

/** The environment in which a relay is set up. */
export const relayAt = (address: string) => ({ PUSH_RELAY_URL: address, PUSH_RELAY_ORG_ID: 'our-server' });

export async function pushRealm(
  { address }: Pick<FakeRelay, 'address'>,
  given?: TestRealm,
): Promise<PushRealm> {
  const realm = given ?? (await newRealm());
  const work = await workOf(realm, 'push');
  return Object.assign(realm.container(undefined, { environment: relayAt(address) }), { work });
}

/** The same organization from another container, in which the relay is set up too. */
export const elsewhere = (
  realm: PushRealm,
  ...[faults, outside]: Parameters<TestRealm['container']>
): PushRealm =>
  Object.assign(realm.container(faults, { environment: realm.outside.environment, ...outside }), {
    work: realm.work,
  });

/** Lets the worker do what the queue has for it, until there is nothing more. */
export async function worked(realm: PushRealm): Promise<SQSBatchResponse[]> {
  const ends: SQSBatchResponse[] = [];
  for (;;) {
    const messages = await realm.work.receive();
    if (messages.length === 0) return ends;
    ends.push(
      await runQueue(
        realm,
        worker,
        messages.map(({ Body = '' }) => queued(Body)),
      ),
    );
    await Promise.all(messages.map(realm.work.done));
  }
}

/** Wakes the worker without a queue. */
export const nudged = (realm: TestRealm, nudge: object = {}): Promise<SQSBatchResponse> =>
  runQueue(realm, worker, [queued(JSON.stringify({ realm: realm.realm, ...nudge }))]);

/** A telephone with the app: it has a key of its own, and a token. */
export interface Phone {
  readonly owner: Person;
  readonly deviceId: number;
  readonly keyId: number;
  readonly key: Uint8Array;
  readonly tokenId: string;
  /** What it shows of a notification that reached it. */
  // biome-ignore lint/suspicious/noExplicitAny: notices are what the tests look into
  readonly read: (request: PushRequest | undefined) => any;
}

/** The parameters with which an app registers, all of them. */
export const form = (phone: Pick<Phone, 'deviceId' | 'key' | 'keyId' | 'tokenId'>, kind = 'fcm') => ({
  device_id: phone.deviceId,
  ...keyForm(phone),
  ...tokenForm(phone, kind),
});

export const keyForm = ({ key, keyId }: Pick<Phone, 'key' | 'keyId'>) => ({
  push_key: Buffer.concat([Buffer.from([0x31]), key]).toString('base64'),
  push_key_id: keyId,
});

export const tokenForm = ({ tokenId }: Pick<Phone, 'tokenId'>, kind = 'fcm') => ({
  token_kind: kind,
  token_id: tokenId,
  bouncer_public_key: 'key-of-the-relay',
  encrypted_push_registration: 'for the relay only',
});

/** Decrypts as a telephone does: NaCl's secretbox, the nonce before it. */
export function decrypted(key: Uint8Array, data: string) {
  const bytes = Buffer.from(data, 'base64');
  const plain = xsalsa20poly1305(key, bytes.subarray(0, 24)).decrypt(bytes.subarray(24));
  return JSON.parse(Buffer.from(plain).toString());
}

/** A phone on which a user has just logged in. */
export async function newPhone(realm: TestRealm, owner: Person): Promise<Phone> {
  const { status, body } = await realm.call(registerDevice, owner);
  expect(status, body.msg).toBe(200);
  const key = new Uint8Array(randomBytes(32));
  const keyId = randomBytes(4).readUInt32BE();
  return {
    owner,
    deviceId: body.device_id,
    key,
    keyId,
    tokenId: randomBytes(8).toString('base64'),
    read: (request) => {
      if (request === undefined) throw new Error('no notification');
      expect(request.payload.push_key_id).toBe(keyId);
      return decrypted(key, request.payload.encrypted_data);
    },
  };
}

export const registered = (realm: TestRealm, as: Person, parameters: object): Promise<Reply> =>
  realm.call(registerPush, as, { ...parameters });

/** A telephone that notifications reach. */
export async function activePhone(realm: PushRealm, owner: Person, kind = 'fcm'): Promise<Phone> {
  const phone = await newPhone(realm, owner);
  const { status, body } = await registered(realm, owner, form(phone, kind));
  expect(status, body.msg).toBe(200);
  await worked(realm);
  return phone;
}

/** Asks for a test notification, with the worker at its side. */
export async function tested(
  realm: PushRealm,
  as: Person,
  parameters: object = {},
  by: PushRealm = realm,
): Promise<Reply> {
  let isOver = false;
  const reply = realm.call(sendTest, as, { ...parameters }).finally(() => {
    isOver = true;
  });
  reply.catch(() => {});
  while (!isOver) {
    await worked(by);
    await Promise.race([reply, wait(20)]);
  }
  return reply;
}

/** How a reply ended. */
export const outcome = ({ status, body }: Reply) => [status, body.code];
