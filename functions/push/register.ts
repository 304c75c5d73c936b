import { sqsQueues } from '../../shared/adapters/queues.ts';
import { kmsVault } from '../../shared/adapters/vault.ts';
import { accessDevice, loadDevice } from '../../shared/domain/push/device.ts';
import { loadStoredChest } from '../../shared/domain/push/key-chest.ts';
import { tryToNudge } from '../../shared/domain/push/nudge.ts';
import { checkPushForm } from '../../shared/domain/push/push-form.ts';
import {
  accessChest,
  checkRegistration,
  doRegisterPush,
  registerJob,
} from '../../shared/domain/push/push-registration.ts';
import { registerPush } from '../../shared/endpoints/push.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { hasRelay } from '../../shared/model/realm/push-settings.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  registerPush,
  {
    load: async ({ input, outside: { table }, realm, userId }) => {
      const [device, chest] = await Promise.all([
        loadDevice(table, realm, userId, input.device_id),
        loadStoredChest(table, realm),
      ]);
      return { device, chest };
    },
    reserve: 1,
    run: async ({ input, realm, outside, baseUrl, commit, clients }, loaded) => {
      if (!hasRelay(outside.environment)) throw refusal('noPushService');
      const device = accessDevice(loaded.device);
      const given = checkPushForm(input);
      const used = given.key && (await accessChest(outside, clients.vault, realm, loaded.chest));
      const changes = checkRegistration(device, given, used);
      if (changes === undefined) return {};
      const now = outside.now();
      const job = await commit(1, ([seq = 0]) => ({
        ...doRegisterPush(realm, device, changes, used, { now, seq, url: baseUrl }),
        result: registerJob(device.deviceId, seq),
      }));
      if (changes.token) await tryToNudge(outside, clients.queues, { realm, job });
      return {};
    },
  },
  { queues: sqsQueues, vault: kmsVault },
);
