import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { organizationCases } from './cases/organization.ts';

describe('clients that follow events end with the state that a new registration returns: organization', () => {
  itFollows(organizationCases);
});
