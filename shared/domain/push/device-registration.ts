import { badRequest } from '../../kernel/errors.ts';
import type { Change } from '../../log/commit.ts';
import { type Device, deviceEvent, deviceKey } from './device.ts';

/**
 * Devices that one person can have. Two registrations at once may both be the last one: it keeps replies short, and
 * nothing rests on it.
 */
export const MAX_DEVICES = 100;

/** Decides whether somebody may have one more device. */
export function checkRoomForDevice(devices: readonly Device[]): void {
  if (devices.length < MAX_DEVICES) return;
  throw badRequest(`You have ${MAX_DEVICES} devices: remove one of them first.`);
}

/** Registers a device. Its id is the number of its event. `url` is the organization's address as it knows it. */
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

/** Removes a device. What the relay has still to say of it comes to nothing. */
export const doRemoveDevice = (realm: string, device: Device): Change<Record<string, never>> => ({
  writes: [{ delete: deviceKey(realm, device), when: { absent: false } }],
  entries: [deviceEvent(device, 'remove')],
  result: {},
});
