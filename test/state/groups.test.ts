import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { groupCases } from './cases/groups.ts';

describe('clients that follow events know what a registration tells: groups', () => {
  itFollows(groupCases);
});
