import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import type { EventEntry } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

/** Whose service carries notifications to a device: Apple's or Google's. */
export type TokenKind = 'apns' | 'fcm';

/** A device that somebody logged in on, as stored. Times are in seconds since 1970. */
export interface Device {
  readonly userId: number;
  readonly deviceId: number;
  /** The organization's address as the device knows it: by it the device tells its accounts apart. */
  readonly url: string;
  /** What its notifications are encrypted with, sealed (`key-chest.ts`), and the device's own number for that. */
  readonly sealedKey?: string;
  readonly keyId?: number;
  /** The token that the relay knows, in base64: where notifications go. */
  readonly tokenId?: string;
  readonly tokenKind?: TokenKind;
  /** The token that the relay has been asked to take, and since when it is the newest. */
  readonly pendingTokenId?: string;
  readonly tokenSince?: number;
  /** Why the relay did not take it, in the relay's words. */
  readonly errorCode?: string;
  /** Grows with each change, so that a decision can be held to what it saw. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    device: Device;
  }
}

/** A device that notifications can be sent to. */
export type ActiveDevice = Device & Required<Pick<Device, 'sealedKey' | 'keyId' | 'tokenId' | 'tokenKind'>>;

export const deviceKey = (
  realm: string,
  { userId, deviceId }: Pick<Device, 'userId' | 'deviceId'>,
): Key<'device'> => key('device', { realm, userId, deviceId });

/** All devices of somebody. One round trip. */
export const loadDevices = (table: Table, realm: string, userId: number): Promise<Device[]> =>
  table.all('device', { realm, userId });

/** A device of somebody, or undefined where they have none with this id. One round trip. */
export const loadDevice = async (
  table: Table,
  realm: string,
  userId: number,
  deviceId: number,
): Promise<Device | undefined> =>
  isId(deviceId) ? table.get(deviceKey(realm, { userId, deviceId })) : undefined;

/** The device, or one refusal for an id that leads nowhere and for somebody else's (wire facts 12.1). */
export function accessDevice(device: Device | undefined): Device {
  if (device === undefined) throw badRequest('Invalid device ID.');
  return device;
}

/** Whether notifications can be sent to it: the relay has taken a token of it (wire facts 12.2). */
export const isActiveDevice = (device: Device): device is ActiveDevice =>
  device.tokenId !== undefined &&
  device.tokenKind !== undefined &&
  device.sealedKey !== undefined &&
  device.keyId !== undefined;

/** Devices as `POST /register` tells them, by their ids. The keys stay here. */
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

/** What a `device` event tells of an update: the keys that changed, as in `deviceObjects` (wire facts 14.6). */
export type DeviceChanges = Partial<ReturnType<typeof deviceObjects>[string]>;

/** Tells the owner's clients of a device. */
export const deviceEvent = (
  { userId, deviceId }: Pick<Device, 'userId' | 'deviceId'>,
  op: 'add' | 'remove' | 'update',
  changes: DeviceChanges = {},
): EventEntry => ({
  kind: 'event',
  hearers: { users: [userId] },
  payload: { type: 'device', op, device_id: deviceId, ...changes },
});
