import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { peopleCases } from './cases/people.ts';
import { personalCases } from './cases/personal.ts';

describe('clients that follow events end with the state that a new registration returns: people', () => {
  itFollows([...peopleCases, ...personalCases]);
});
