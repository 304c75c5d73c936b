import { sqsQueues } from '../../shared/adapters/queues.ts';
import { loadDevices } from '../../shared/domain/push/device.ts';
import { accessTestDevices, sendTest } from '../../shared/domain/push/test-notification.ts';
import { testPush } from '../../shared/endpoints/push.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  testPush,
  {
    load: ({ outside, realm, userId }) => loadDevices(outside.table, realm, userId),
    run: async ({ input, realm, userId, outside, clients }, loaded) => {
      const devices = accessTestDevices(loaded, input.device_id);
      await sendTest(outside, clients.queues, realm, userId, devices);
      return {};
    },
  },
  { queues: sqsQueues },
);
