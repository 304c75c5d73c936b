import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

/** The service that delivers to a device: Apple's or Google's. */
export type TokenKind = 'apns' | 'fcm';

/** A device that a user logged in on, as stored. Times are in seconds since 1970. */
export interface Device {
  readonly userId: number;
  readonly deviceId: number;
  /** The organization's URL as the device knows it. The device tells its accounts apart by it. */
  readonly url: string;
  /** The key that encrypts its notifications, sealed (`keyring.ts`), and the device's own number for it. */
  readonly sealedKey?: string;
  readonly keyId?: number;
  /** The token that the relay accepted, in base64. */
  readonly tokenId?: string;
  readonly tokenKind?: TokenKind;
  /** The newest token, which the relay has not accepted yet, and when the device sent it. */
  readonly pendingTokenId?: string;
  readonly tokenSince?: number;
  /** The relay's error code if it rejected the pending token. */
  readonly errorCode?: string;
  /** Incremented by each change, for optimistic locking. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    device: Device;
  }
}

/** A device that can get notifications. */
export type ActiveDevice = Device & Required<Pick<Device, 'sealedKey' | 'keyId' | 'tokenId' | 'tokenKind'>>;

/** Most devices of one user. It only keeps replies short, so two concurrent registrations may exceed it. */
export const MAX_DEVICES = 100;

export const deviceKey = (
  realm: string,
  { userId, deviceId }: Pick<Device, 'userId' | 'deviceId'>,
): Key<'device'> => key('device', { realm, userId, deviceId });

/** All devices of a user. One round trip. */
export const loadDevices = (table: Table, realm: string, userId: number): Promise<Device[]> =>
  table.all('device', { realm, userId });

/** A device of a user, or undefined if they have none with this id. One round trip. */
export const loadDevice = async (
  table: Table,
  realm: string,
  userId: number,
  deviceId: number,
): Promise<Device | undefined> =>
  isId(deviceId) ? table.get(deviceKey(realm, { userId, deviceId })) : undefined;

/** The device. An unknown id and another user's device get the same error (wire facts 12.1). */
export function accessDevice(device: Device | undefined): Device {
  if (device === undefined) throw badRequest('Invalid device ID.');
  return device;
}

/** Whether the device can get notifications: the relay accepted a token of it (wire facts 12.2). */
export const isActiveDevice = (device: Device): device is ActiveDevice =>
  device.tokenId !== undefined &&
  device.tokenKind !== undefined &&
  device.sealedKey !== undefined &&
  device.keyId !== undefined;

/** Devices by id, as `POST /register` returns them. Keys are left out. */
export const deviceObjects = (devices: readonly Device[]) =>
  Object.fromEntries(
    devices.map((device) => [
      device.deviceId,
      {
        push_key_id: device.keyId ?? null,
        push_token_id: device.tokenId ?? null,
        pending_push_token_id: device.pendingTokenId ?? null,
        push_token_last_updated_timestamp: device.tokenSince ?? null,
        push_registration_error_code: device.errorCode ?? null,
      },
    ]),
  );

/** The changed fields in a `device` update event, named as in `deviceObjects` (wire facts 14.6). */
export type DeviceChanges = Partial<ReturnType<typeof deviceObjects>[string]>;

/** The event about a device, for its owner's clients. */
export const deviceEvent = (
  { userId, deviceId }: Pick<Device, 'userId' | 'deviceId'>,
  op: 'add' | 'remove' | 'update',
  changes: DeviceChanges = {},
): EventEntry => ({
  kind: 'event',
  hearers: { users: [userId] },
  payload: { type: 'device', op, device_id: deviceId, ...changes },
});

/** Checks that a user with these devices may add one. Throws `BAD_REQUEST`. */
export function checkRoomForDevice(devices: readonly Device[]): void {
  if (devices.length < MAX_DEVICES) return;
  throw badRequest(`You have ${MAX_DEVICES} devices: remove one of them first.`);
}

/** Adds a device. Its id is the number of its event. `url` is the organization's URL as the device knows it. */
export function doRegisterDevice(
  realm: string,
  userId: number,
  url: string,
  [deviceId = 0]: readonly number[],
): Change<{ device_id: number }> {
  const device: Device = { userId, deviceId, url, version: 1 };
  return {
    writes: [{ put: deviceKey(realm, device), item: { ...device }, when: { absent: true } }],
    entries: [deviceEvent(device, 'add')],
    result: { device_id: deviceId },
  };
}

/** Removes a device. A pending registration of it with the relay is dropped. */
export const doRemoveDevice = (realm: string, device: Device): Change<Record<string, never>> => ({
  writes: [{ delete: deviceKey(realm, device), when: { absent: false } }],
  entries: [deviceEvent(device, 'remove')],
  result: {},
});
