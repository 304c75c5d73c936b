import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { subscriptionCases } from './cases/subscriptions.ts';

describe('clients that follow events end with the state that a new registration returns: subscriptions', () => {
  itFollows(subscriptionCases);
});
