import { Validations } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/**
 * Says why findings of cdk-nag stand, by rule, for a construct and all that is in it. A test fails for a finding that
 * nobody explains, and for an explanation of nothing.
 */
export const accept = (construct: IConstruct, findings: Readonly<Record<string, string>>): void =>
  Validations.of(construct).acknowledge(...Object.entries(findings).map(([id, reason]) => ({ id, reason })));
