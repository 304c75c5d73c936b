import * as z from 'zod/mini';
import { readPolicy, type Statement } from './iam.ts';
import type { CloudFormationTemplate, TemplateValues } from './template-values.ts';

/** A role of the template and all that its policies say. */
export interface Role {
  readonly name: string;
  readonly statements: readonly Statement[];
}

/**
 * Reads the roles by their ARNs, each with the policies in it and those attached to it.
 *
 * @param attached Properties of the template's policies that stand for themselves.
 * @throws Error when a role has a policy of AWS's own whose contents are not known here.
 */
export function readRoles(
  template: CloudFormationTemplate,
  values: TemplateValues,
  attached: readonly unknown[],
): ReadonlyMap<string, Role> {
  const policies = attached.map((properties) => policyShape.parse(properties));
  const roles = Object.entries(template.Resources).filter(
    ([, resource]) => resource.Type === 'AWS::IAM::Role',
  );
  return new Map(
    roles.map(([logicalId, resource]) => {
      const { Policies = [], ManagedPolicyArns = [] } = roleShape.parse(
        values.resolve(resource.Properties ?? {}),
      );
      const managed = ManagedPolicyArns.find((arn) => !arn.endsWith('/AWSLambdaBasicExecutionRole'));
      if (managed) throw new Error(`The local cloud does not know what ${managed} allows.`);
      const name = values.attribute(logicalId, 'ref');
      const documents = [...Policies, ...policies.filter((policy) => policy.Roles?.includes(name))];
      const statements = documents.flatMap((policy) => readPolicy(policy.PolicyDocument));
      return [values.attribute(logicalId, 'Arn'), { name, statements }] as const;
    }),
  );
}

const policyShape = z.object({ PolicyDocument: z.unknown(), Roles: z.optional(z.array(z.string())) });

const roleShape = z.object({
  Policies: z.optional(z.array(policyShape)),
  ManagedPolicyArns: z.optional(z.array(z.string())),
});
