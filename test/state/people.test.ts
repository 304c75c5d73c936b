import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { peopleCases } from './cases/people.ts';
import { personalCases } from './cases/personal.ts';

describe('clients that follow events know what a registration tells: people', () => {
  itFollows([...peopleCases, ...personalCases]);
});
