import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnWebFunction, CfnWebFunctionEndpoint, CfnWebFunctionRevision } from 'aws-cdk-lib/aws-lambda';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { type Listener, proof as proofOf } from '../shared/endpoints/listener.ts';
import { CODE, NAMESPACE } from '../shared/kernel/outside.ts';
import { accept } from './accepted.ts';
import { writingLogs } from './area-logs.ts';
import type { Bundle } from './build.ts';
import { DeploymentTasks } from './deployment-tasks.ts';
import { ListenerCode } from './listener-code.ts';
import { originProof } from './origin-proof.ts';
import { environment, grants, type Resources, wideGrants } from './resources.ts';

export interface ListenerFunctionProps {
  readonly listener: Listener;
  readonly bundle: Bundle;
  readonly resources: Resources;
  /** How many requests a second its address takes, from all clients together. */
  readonly requestsPerSecond: number;
}

/** What checks the template before a deployment does not have their schemas yet. */
const UNKNOWN = {
  'CloudFormation-Validate::F3006':
    'CloudFormation has had this type since November 2026; its properties are those that the CDK generates from it.',
};

/** The rates (requests a second) that an endpoint of a Web Function can have. */
const RATES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  .flatMap((step) => [step * 100, step * 1_000])
  .sort((a, b) => a - b);

/** The least rate that lets this many requests through; without a limit of its own, the account's holds. */
const rateLimit = (requestsPerSecond: number): number | undefined =>
  RATES.find((rate) => rate >= requestsPerSecond);

/**
 * The Lambda Web Function of a listener: a Node.js HTTP server with a public address, behind CloudFront. Lambda itself lets every request in: if it checked signatures (`IamAuth`), CloudFront could sign no request
 * with a body, and clients send one with `DELETE`. So the server refuses what lacks the proof that CloudFront adds.
 *
 * Like any function it has a role of its own for its declared needs, its area's log group, and environment variables
 * for what it needs. X-Ray does not trace Web Functions.
 */
export class ListenerFunction extends Construct {
  readonly listener: Listener;
  readonly name: string;
  /** The host of its address. */
  readonly host: string;
  /** The headers that CloudFront has to add to its requests. */
  readonly proof: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: ListenerFunctionProps) {
    super(scope, id);
    const { listener, bundle, resources, requestsPerSecond } = props;
    this.listener = listener;
    this.name = `${Stack.of(this).stackName}-${listener.id.replace('.', '-')}`;
    const logGroup = resources.logs.groupOf(listener.id);
    const tasks = new DeploymentTasks(this, 'Deployment', logGroup);
    const proof = originProof(tasks);
    this.proof = { [proofOf.header]: proof };
    const areaLogs = writingLogs('AreaLogs', logGroup);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        needs: new PolicyDocument({ statements: [...grants(listener.needs, resources), areaLogs] }),
      },
    });
    accept(role, wideGrants(listener.needs, resources));

    const webFunction = new CfnWebFunction(this, 'Function', { functionName: this.name });
    const code = new ListenerCode(this, 'Code', this.name, bundle, tasks);
    const revision = new CfnWebFunctionRevision(this, 'Revision', {
      functionName: webFunction.ref,
      description: listener.description,
      buildConfig: {
        codeConfig: { s3Object: code.location },
        runtimeConfig: { runtime: 'nodejs24.x' },
      },
      serviceConfig: {
        executionRoleArn: role.roleArn,
        timeoutSeconds: listener.timeout,
        maxConcurrencyPerEnvironment: listener.concurrency,
        environmentVariables: {
          ...environment(listener.needs, resources),
          [NAMESPACE]: Stack.of(this).stackName,
          [CODE]: bundle.code,
          [proofOf.variable]: proof,
          // The file that Lambda starts, from the root of the package.
          AWS_LAMBDA_NODEJS_ENTRYPOINT: 'index.mjs',
        },
        telemetryConfig: {
          // Lambda would write a line for each request.
          loggingConfig: { logGroup: logGroup.logGroupName, systemLogLevel: 'WARN' },
        },
      },
    });
    revision.addMetadata('aws:asset:path', code.assetPath);
    revision.node.addDependency(code.readable);
    const rate = rateLimit(requestsPerSecond);
    const endpoint = new CfnWebFunctionEndpoint(this, 'Endpoint', {
      functionName: webFunction.ref,
      endpointName: 'prod',
      endpointType: 'HomeRegion',
      authType: 'ApplicationManaged',
      revisionWeights: [{ revisionId: revision.attrRevisionId, weight: 100 }],
      ...(rate !== undefined && { throttleConfig: { rateLimit: rate } }),
    });
    this.host = endpoint.attrDomainName;
    for (const it of [webFunction, revision, endpoint]) accept(it, UNKNOWN);
  }
}
