import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { groupCases } from './cases/groups.ts';

describe('clients that follow events end with the state that a new registration returns: groups', () => {
  itFollows(groupCases);
});
