import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { messageCases } from './cases/messages.ts';

describe('clients that follow events end with the state that a new registration returns: messages', () => {
  itFollows(messageCases);
});
