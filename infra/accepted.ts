import { Validations } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/**
 * Accepts findings of cdk-nag for a construct and everything in it: the reason, by rule. A test fails for a finding
 * without a reason, and for a reason without a finding.
 */
export const accept = (construct: IConstruct, findings: Readonly<Record<string, string>>): void =>
  Validations.of(construct).acknowledge(...Object.entries(findings).map(([id, reason]) => ({ id, reason })));
