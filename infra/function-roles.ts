import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { digestOf } from '../shared/kernel/text.ts';
import { accept } from './accepted.ts';
import { areaOf, upperCamel, writingLogs } from './area-logs.ts';
import { grants, type Resources, type Rights, wideGrants } from './resources.ts';

/**
 * The roles of the functions. A role allows exactly what one declaration needs and writing to the log group of its area.
 * Functions of one area that need the same share it: it allows none of them more, and CloudFormation's 500 resources then
 * have room for twice as many endpoints. A role is named by a digest of what it allows, so it stays when others come.
 */
export class FunctionRoles extends Construct {
  readonly #roles = new Map<string, Role>();

  /** The role of a function, for the resources of its stack. */
  roleOf({ id, needs, triggerGrants = [] }: Rights, resources: Resources): Role {
    const area = areaOf(id);
    const areaLogs = writingLogs('AreaLogs', resources.logs.groupOf(id));
    const traces = new PolicyStatement({
      sid: 'Traces',
      actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'],
      resources: ['*'],
    });
    const statements = [...grants(needs, resources), ...triggerGrants, areaLogs, traces];
    const name = `${upperCamel(area)}${markOf(Stack.of(this).resolve(statements.map((each) => each.toJSON())))}`;
    const known = this.#roles.get(name);
    if (known) return known;
    const role = new Role(this, name, {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { needs: new PolicyDocument({ statements }) },
    });
    const unnamed = 'Traces of X-Ray belong to no resource that could be named.';
    accept(role, {
      'AwsSolutions-IAM5[Resource::*]': unnamed,
      'Serverless-LambdaStarPermissions': unnamed,
      ...wideGrants(needs, resources),
    });
    this.#roles.set(name, role);
    return role;
  }
}

const markOf = (statements: unknown): string =>
  digestOf(JSON.stringify(statements)).slice(0, 8).toUpperCase();
