import { sqsQueues } from '../../shared/adapters/queues.ts';
import { accessDevice, doRemoveDevice, isActiveDevice, loadDevice } from '../../shared/domain/push/device.ts';
import { removeDevice } from '../../shared/endpoints/push.ts';
import { tryWakePush } from '../../shared/kernel/wake-up.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  removeDevice,
  {
    load: ({ input, outside, realm, userId }) => loadDevice(outside.table, realm, userId, input.device_id),
    reserve: 1,
    run: async ({ realm, userId, outside, commit, clients }, loaded) => {
      const device = accessDevice(loaded);
      await commit(1, () => doRemoveDevice(realm, device));
      if (isActiveDevice(device)) await tryWakePush(outside, clients.queues, { realm, left: userId });
      return {};
    },
  },
  { queues: sqsQueues },
);
