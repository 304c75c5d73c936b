import * as z from 'zod/mini';
import { readPolicy, type Statement } from './iam.ts';
import type { CloudFormationTemplate, TemplateValues } from './template-values.ts';

/** A role of the template and all that its policies say. */
export interface Role {
  readonly name: string;
  /** The services that may take it, as `lambda.amazonaws.com`. */
  readonly trusted: readonly string[];
  readonly statements: readonly Statement[];
}

/** Policies of the template that stand for themselves: properties, by ARN where they have one. */
export interface Policies {
  /** Those that name their roles. */
  readonly attached: readonly unknown[];
  /** Those that roles name. */
  readonly managed: ReadonlyMap<string, unknown>;
}

/**
 * Reads the roles by their ARNs, each with the policies in it and those attached to it.
 *
 * @throws Error when a role has a policy of AWS's own whose contents are not known here, or trusts under conditions.
 */
export function readRoles(
  template: CloudFormationTemplate,
  values: TemplateValues,
  { attached, managed }: Policies,
): ReadonlyMap<string, Role> {
  const policies = attached.map((properties) => policyShape.parse(properties));
  const managedPolicy = (arn: string) => {
    const properties = managed.get(arn);
    if (properties === undefined) throw new Error(`The local cloud does not know what ${arn} allows.`);
    return policyShape.parse(properties);
  };
  const roles = Object.entries(template.Resources).filter(
    ([, resource]) => resource.Type === 'AWS::IAM::Role',
  );
  return new Map(
    roles.map(([logicalId, resource]) => {
      const { AssumeRolePolicyDocument, Policies, ManagedPolicyArns } = roleShape.parse(
        values.resolve(resource.Properties ?? {}),
      );
      const name = values.attribute(logicalId, 'ref');
      const documents = [
        ...Policies,
        ...policies.filter((policy) => policy.Roles?.includes(name)),
        ...ManagedPolicyArns.filter((arn) => !arn.endsWith('/AWSLambdaBasicExecutionRole')).map(
          managedPolicy,
        ),
      ];
      const statements = documents.flatMap((policy) => readPolicy(policy.PolicyDocument));
      const trusted = AssumeRolePolicyDocument.Statement.flatMap(({ Principal }) => Principal.Service);
      return [values.attribute(logicalId, 'Arn'), { name, trusted, statements }] as const;
    }),
  );
}

const policyShape = z.object({ PolicyDocument: z.unknown(), Roles: z.optional(z.array(z.string())) });

/** Leave for services to take a role. Anything else, as a condition, is refused rather than passed over. */
const trustShape = z.strictObject({
  Effect: z.literal('Allow'),
  Action: z.literal('sts:AssumeRole'),
  Principal: z.strictObject({ Service: z.union([z.string(), z.array(z.string())]) }),
});

const roleShape = z.object({
  AssumeRolePolicyDocument: z.object({ Statement: z.array(trustShape) }),
  Policies: z._default(z.array(policyShape), []),
  ManagedPolicyArns: z._default(z.array(z.string()), []),
});
