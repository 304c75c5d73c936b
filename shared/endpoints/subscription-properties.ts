import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { json } from './parameter.ts';

export const setSubscriptionProperties = endpoint({
  id: 'subscriptions.setProperties',
  method: 'POST',
  path: '/api/v1/users/me/subscriptions/properties',
  source: 'https://zulip.com/api/update-subscription-settings',
  description:
    'Sets what the caller chooses for channels that they are subscribed to: all of it, or nothing.',
  access: 'user',
  parameters: {
    subscription_data: json(
      'For each choice the channel, the property (`color`, `is_muted`, `pin_to_top`, a kind of notification) and its value.',
      z
        .array(
          z.object({ stream_id: z.int(), property: z.string(), value: z.union([z.boolean(), z.string()]) }),
        )
        .check(z.maxLength(1_000)),
    ),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});
