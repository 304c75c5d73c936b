import { setSubscriptionProperties } from '../../shared/endpoints/subscription-properties.ts';
import {
  checkChoices,
  checkProperties,
  doChoose,
  entriesOfChoices,
  loadChosen,
} from '../../shared/model/subscription/settings.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(setSubscriptionProperties, {
  load: ({ input, outside, realm, userId }) =>
    loadChosen(outside.table, realm, userId, input.subscription_data),
  // Muting is told twice.
  reserve: ({ subscription_data }) => Math.max(1, 2 * Math.min(subscription_data.length, 50)),
  run: async ({ input, realm, userId, commit }, subscriptions) => {
    const choices = checkChoices(checkProperties(input.subscription_data), subscriptions);
    if (choices.length === 0) return {};
    return commit(entriesOfChoices(choices), () => doChoose(realm, userId, choices));
  },
});
