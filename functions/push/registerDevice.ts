import { checkRoomForDevice, doRegisterDevice, loadDevices } from '../../shared/domain/push/device.ts';
import { registerDevice } from '../../shared/endpoints/push.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(registerDevice, {
  load: ({ outside, realm, userId }) => loadDevices(outside.table, realm, userId),
  reserve: 1,
  run: ({ realm, userId, baseUrl, commit }, devices) => {
    checkRoomForDevice(devices);
    return commit(1, (numbers) => doRegisterDevice(realm, userId, baseUrl, numbers));
  },
});
