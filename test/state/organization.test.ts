import { describe } from 'vitest';
import { itFollows } from './case.ts';
import { organizationCases } from './cases/organization.ts';

describe('clients that follow events know what a registration tells: organization', () => {
  itFollows(organizationCases);
});
