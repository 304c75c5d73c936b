import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { AwsCustomResource, type AwsSdkCall } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { accept } from './accepted.ts';
import { writingLogs } from './area-logs.ts';

/** A call of AWS that a deployment makes because CloudFormation has no resource for it. */
interface Task {
  /** Made with the resource, and again when the call changes. */
  readonly call: AwsSdkCall;
  /** Made when the resource goes, or when its replacement is in place. */
  readonly onDelete?: AwsSdkCall;
  /** What these calls need. */
  readonly grants: readonly PolicyStatement[];
}

/** In what the function differs from those of the service. */
const UNUSUAL = {
  'Serverless-LambdaDLQ': 'CloudFormation waits for its answer, and tells the operator what failed.',
  'Serverless-LambdaTracing': 'It runs when something is deployed, and its log says what it did.',
};

/**
 * The calls of AWS that are a part of the deployment. CloudFormation makes them through one function, which the CDK
 * brings and which never runs between deployments. Its role allows these calls and nothing else.
 */
export class DeploymentTasks extends Construct {
  readonly #allowed: PolicyDocument;
  readonly #role: Role;
  readonly #logGroup: LogGroup;

  constructor(scope: Construct, id: string, logGroup: LogGroup) {
    super(scope, id);
    this.#logGroup = logGroup;
    const logs = writingLogs('Logs', logGroup);
    this.#allowed = new PolicyDocument({ statements: [logs] });
    this.#role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { tasks: this.#allowed },
    });
  }

  /** @param wildcards why grants end in a wildcard, by the finding of cdk-nag. */
  add(
    id: string,
    { call, onDelete, grants }: Task,
    wildcards: Readonly<Record<string, string>>,
  ): AwsCustomResource {
    this.#allowed.addStatements(...grants);
    accept(this.#role, wildcards);
    const task = new AwsCustomResource(this, id, {
      functionName: `${Stack.of(this).stackName}-deployment-tasks`,
      role: this.#role,
      logGroup: this.#logGroup,
      timeout: Duration.minutes(1),
      memorySize: 256,
      installLatestAwsSdk: false,
      onUpdate: call,
      ...(onDelete && { onDelete }),
    });
    // The CDK puts the function into the stack itself, where no other is.
    for (const it of Stack.of(this).node.children) if (it instanceof Lambda) accept(it, UNUSUAL);
    return task;
  }
}
