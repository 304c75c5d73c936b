import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { peopleCases } from './cases/people.ts';

describe('clients that follow events know what a registration tells: people', () => {
  itFollows(peopleCases);
});
