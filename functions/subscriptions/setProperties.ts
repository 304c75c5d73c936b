import { setSubscriptionProperties } from '../../shared/endpoints/subscriptions.ts';
import {
  checkProperties,
  checkPropertyChanges,
  doChangeProperties,
  loadChangedSubscriptions,
} from '../../shared/model/subscription/settings.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(setSubscriptionProperties, {
  load: ({ input, outside, realm, userId }) =>
    loadChangedSubscriptions(outside.table, realm, userId, input.subscription_data),
  // Muting has two events.
  reserve: ({ subscription_data }) => Math.max(1, 2 * Math.min(subscription_data.length, 50)),
  run: async ({ input, realm, userId, commit }, subscriptions) => {
    const changes = checkPropertyChanges(checkProperties(input.subscription_data), subscriptions);
    if (changes.length === 0) return {};
    const change = doChangeProperties(realm, userId, changes);
    return commit(change.entries.length, () => change);
  },
});
