import type { Needs } from '../shared/endpoints/endpoint.ts';
import type { OperatorSettingName } from '../shared/endpoints/operator-setting.ts';
import type { Worker } from '../shared/endpoints/workers.ts';

/** The setting without which a secret is not needed. */
const SETTING_OF_SECRET: Readonly<Record<string, OperatorSettingName>> = {
  'push-relay-org-key': 'PUSH_RELAY_URL',
  'zoom-client-secret': 'ZOOM_CLIENT_ID',
  'webex-client-secret': 'WEBEX_CLIENT_ID',
  'big-blue-button-secret': 'BIG_BLUE_BUTTON_URL',
  'oidc-client-secret': 'OIDC_ISSUER',
};

/** Without any of these settings, nothing is encrypted with the key. */
const SETTINGS_OF_KEY: readonly OperatorSettingName[] = [
  'PUSH_RELAY_URL',
  'ZOOM_CLIENT_ID',
  'WEBEX_CLIENT_ID',
];

type Settings = ReadonlyMap<string, string>;

/** The workers that need these settings. */
export const configuredWorkers = (workers: readonly Worker[], settings: Settings): readonly Worker[] =>
  workers.filter(({ onlyWith }) => onlyWith === undefined || settings.has(onlyWith));

/**
 * The needs of a declaration without those of features that the operator did not configure. Secrets, the key and queues
 * cost money every hour, so only those exist that a configured feature needs. Functions check the setting before they use
 * any of them.
 *
 * @param workers every worker of the service, whose queues may be missing
 */
export function configuredNeeds(needs: Needs, settings: Settings, workers: readonly Worker[]): Needs {
  const there = configuredWorkers(workers, settings);
  const missing = new Set(
    workers.flatMap((worker) => ('queue' in worker && !there.includes(worker) ? [worker.queue.name] : [])),
  );
  const hasSecret = (name: string): boolean => {
    const setting = SETTING_OF_SECRET[name];
    return setting === undefined || settings.has(setting);
  };
  const { key, secrets, queues, ...others } = needs;
  return {
    ...others,
    ...(queues && { queues: queues.filter((name) => !missing.has(name)) }),
    ...(secrets && { secrets: secrets.filter(hasSecret) }),
    ...(key && SETTINGS_OF_KEY.some((setting) => settings.has(setting)) && { key }),
  };
}
