import { timingSafeEqual } from 'node:crypto';
import { badRequest } from '../../kernel/errors.ts';
import type { Outside, Vault } from '../../kernel/outside.ts';
import type { Change } from '../../log/commit.ts';
import type { Write } from '../../table/write.ts';
import { type Device, type DeviceChanges, deviceEvent, deviceKey } from './device.ts';
import { type Keyring, newChest, openChest, type StoredChest } from './key-chest.ts';
import type { GivenKey, GivenPush } from './push-form.ts';
import { doRemember, newJob, putJob } from './push-job.ts';

/** A chest, with the write that keeps it where it is new. */
export interface ChestInUse {
  readonly chest: Keyring;
  readonly write?: Write;
}

/** The chest of the organization where a key is to be sealed: the one there is, or the first one. */
export async function accessChest(
  outside: Outside,
  vault: Vault,
  realm: string,
  stored: StoredChest | undefined,
): Promise<ChestInUse> {
  if (stored === undefined) return newChest(outside, vault, realm);
  return { chest: await openChest(outside, vault, realm, stored) };
}

/**
 * Decides what a registration changes; undefined where it says what is so already (wire facts 12.1). A key alone or a
 * token alone replace those of a registration that there is. A token waits for those before it to be settled.
 */
export function checkRegistration(
  device: Device,
  given: GivenPush,
  used: ChestInUse | undefined,
): GivenPush | undefined {
  const { key, token } = given;
  if ((key === undefined || token === undefined) && device.keyId === undefined) {
    throw badRequest('There is no registration of this device to change: send both a key and a token.');
  }
  const isSameKey = key === undefined || (used !== undefined && isKeyOf(device, key, used.chest));
  if (token === undefined) return isSameKey ? undefined : given;
  const failed = device.errorCode !== undefined;
  if (device.pendingTokenId !== undefined && !failed) {
    throw badRequest('A registration of this device is in progress.');
  }
  const isSameKind = key === undefined || device.tokenKind === token.kind;
  const isSame = isSameKey && !failed && device.tokenId === token.id && isSameKind;
  return isSame ? undefined : given;
}

/** Whether the device has this key already, in constant time. */
function isKeyOf(device: Device, { id, secret }: GivenKey, chest: Keyring): boolean {
  if (device.keyId !== id || device.sealedKey === undefined) return false;
  return timingSafeEqual(chest.open(device.sealedKey, device), secret);
}

/** When and under which number a registration is made. */
interface Moment {
  /** Milliseconds. */
  readonly now: number;
  readonly seq: number;
  /** The organization's address as the device knows it. */
  readonly url: string;
}

/**
 * Registers a device for notifications: a key counts at once, a token when the relay has taken it. The job that asks
 * the relay is part of the same transaction, so that a registration is never forgotten half way.
 */
export function doRegisterPush(
  realm: string,
  device: Device,
  { key, token }: GivenPush,
  used: ChestInUse | undefined,
  { now, seq, url }: Moment,
): Change<Record<string, never>> {
  const since = Math.floor(now / 1000);
  const { userId, deviceId } = device;
  const sealedKey = key && used?.chest.seal(key.secret, device);
  const changes: DeviceChanges = {
    ...(key && { push_key_id: key.id }),
    ...(token && {
      pending_push_token_id: token.id,
      push_token_last_updated_timestamp: since,
      push_registration_error_code: null,
    }),
  };
  const set = {
    url,
    ...(key && { sealedKey, keyId: key.id }),
    ...(token && { pendingTokenId: token.id, tokenSince: since }),
  };
  const job = token && {
    kind: 'register' as const,
    userId,
    deviceId,
    tokenId: token.id,
    tokenKind: token.kind,
    relayKey: token.relayKey,
    registration: token.registration,
  };
  return {
    writes: [
      {
        update: deviceKey(realm, device),
        change: { set, ...(token && { remove: ['errorCode'] }), add: { version: 1 } },
        when: { equals: { version: device.version } },
        lastWriterWins: true,
      },
      ...(used?.write ? [used.write] : []),
      ...(job ? [putJob(realm, newJob(job, registerJob(deviceId, seq), now)), doRemember(realm)] : []),
    ],
    entries: [deviceEvent(device, 'update', changes)],
    result: {},
  };
}

/** The name of the job that asks the relay to take a token. */
export const registerJob = (deviceId: number, seq: number): string => `register-${deviceId}-${seq}`;
