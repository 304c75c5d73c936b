import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { subscriptionCases } from './cases/subscriptions.ts';

describe('clients that follow events know what a registration tells: subscriptions', () => {
  itFollows(subscriptionCases);
});
