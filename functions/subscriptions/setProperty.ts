import { setSubscriptionProperty } from '../../shared/endpoints/subscriptions.ts';
import {
  checkProperties,
  checkPropertyChanges,
  doChangeProperties,
  loadChangedSubscriptions,
} from '../../shared/model/subscription/settings.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(setSubscriptionProperty, {
  load: ({ input, outside, realm, userId }) =>
    loadChangedSubscriptions(outside.table, realm, userId, [input]),
  // Muting has two events.
  reserve: 2,
  run: async ({ input, realm, userId, commit }, subscriptions) => {
    const changes = checkPropertyChanges(checkProperties([input]), subscriptions);
    if (changes.length === 0) return {};
    const change = doChangeProperties(realm, userId, changes);
    return commit(change.entries.length, () => change);
  },
});
