import { sqsQueues } from '../../shared/adapters/queues.ts';
import { kmsVault } from '../../shared/adapters/vault.ts';
import { accessDevice, loadDevice } from '../../shared/domain/push/device.ts';
import { openKeyring } from '../../shared/domain/push/keyring.ts';
import {
  checkPushParameters,
  checkRegistration,
  doRegisterPush,
} from '../../shared/domain/push/registration.ts';
import { registerPush } from '../../shared/endpoints/push.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { tryWakePush } from '../../shared/kernel/wake-up.ts';
import { hasRelay } from '../../shared/model/realm/realm.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  registerPush,
  {
    load: async ({ input, outside: { table }, realm, userId }) => {
      const [device, keyring] = await Promise.all([
        loadDevice(table, realm, userId, input.device_id),
        table.get('pushChest', { realm }),
      ]);
      return { device, keyring };
    },
    reserve: 1,
    run: async ({ input, realm, outside, baseUrl, commit, clients }, loaded) => {
      if (!hasRelay(outside.environment)) throw refusal('noPushService');
      const device = accessDevice(loaded.device);
      const registration = checkPushParameters(input);
      const keyring = registration.key && (await openKeyring(outside, clients.vault, realm, loaded.keyring));
      if (!checkRegistration(device, registration, keyring)) return {};
      const now = outside.now();
      const job = await commit(1, ([seq = 0]) =>
        doRegisterPush(realm, device, registration, keyring, { now, seq, url: baseUrl }),
      );
      if (job !== undefined) await tryWakePush(outside, clients.queues, { realm, job });
      return {};
    },
  },
  { queues: sqsQueues, vault: kmsVault },
);
