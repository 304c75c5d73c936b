import { ManagedPolicy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { sha256 } from '../shared/kernel/text.ts';

/**
 * Policies that the functions are spread over: a role takes ten, and eight name 300 functions with the longest names. Twice
 * as many as before leave half of the functions where they were.
 */
const POLICIES = 8;

/** Characters of a managed policy, at most (IAM's limit), and of the part around the ARNs. */
const POLICY_LIMIT = 6_144;
const AROUND = 120;

/** The longest that stands before a function's name in its ARN, and the quotes and comma around it. */
const BEFORE_NAME = 'arn:aws-us-gov:lambda:ap-southeast-2:123456789012:function:"",'.length;

/** A function that the gateway calls, and its name, which is a token in the function itself. */
export interface Callee {
  readonly name: string;
  readonly lambda: Lambda;
}

/** Stays the same for a name, so that no deployment takes a permission from one policy before another has it. */
const policyOf = (name: string): number => (sha256(name)[0] ?? 0) % POLICIES;

/**
 * The role by which API Gateway calls functions. It names each function that has a route and allows nothing else, so
 * that a route needs no permission of its own. The list is too long for an inline policy (10,240 characters).
 *
 * The API names the role and the role its policies, so CloudFormation adds a function here before its route.
 */
export class InvocationRole extends Construct {
  readonly arn: string;

  /** @throws Error when a policy would be longer than IAM takes. */
  constructor(scope: Construct, id: string, callees: readonly Callee[]) {
    super(scope, id);
    const parts = [...Map.groupBy(callees, ({ name }) => policyOf(name))].sort(([a], [b]) => a - b);
    const managedPolicies = parts.map(([part, these]) => {
      const length = these.reduce((sum, { name }) => sum + BEFORE_NAME + name.length, AROUND);
      if (length > POLICY_LIMIT)
        throw new Error(`${these.length} functions do not fit into one policy: raise POLICIES.`);
      const statements = [
        new PolicyStatement({
          actions: ['lambda:InvokeFunction'],
          resources: these.map(({ lambda }) => lambda.functionArn),
        }),
      ];
      return new ManagedPolicy(this, `Functions${part}`, { statements });
    });
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      managedPolicies,
    });
    this.arn = role.roleArn;
  }
}
