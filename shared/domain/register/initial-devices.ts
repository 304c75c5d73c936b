import { deviceObjects, loadDevices } from '../push/device.ts';
import type { Section } from './section.ts';

/** The devices of the caller (wire facts 12.1). */
const device: Section = async ({ outside, caller }) => ({
  devices: deviceObjects(await loadDevices(outside.table, caller.realmId, caller.user.userId)),
});

export const deviceSections = { device } satisfies Record<string, Section>;
