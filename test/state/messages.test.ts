import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { messageCases } from './cases/messages.ts';

describe('clients that follow events know what a registration tells: messages', () => {
  itFollows(messageCases);
});
