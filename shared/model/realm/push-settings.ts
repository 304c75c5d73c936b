import type { Environment } from '../../environment.ts';
import type { Realm } from './realm.ts';

/** Whether the operator set up a relay at all. */
export const hasRelay = (environment: Environment): boolean => Boolean(environment.PUSH_RELAY_URL);

/** What clients are told of the organization (wire facts 12.2), under the names of the `realm` event. */
export const pushSettings = (
  { pushRefused, pushEnds }: Pick<Realm, 'pushRefused' | 'pushEnds'>,
  environment: Environment,
) => ({
  push_notifications_enabled: hasRelay(environment) && pushRefused !== true,
  push_notifications_enabled_end_timestamp: hasRelay(environment) ? (pushEnds ?? null) : null,
});
