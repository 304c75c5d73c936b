import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type CfnFunction,
  Code,
  Function as Lambda,
  RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { AssetHashType, Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { type Needs, summaryOf } from '../shared/endpoints/endpoint.ts';
import { CODE, NAMESPACE } from '../shared/kernel/outside.ts';
import type { Bundle } from './build.ts';
import { environment, type Resources } from './resources.ts';

/** The fields of a declaration that concern its function, for endpoints and workers. */
export interface Declaration {
  readonly id: string;
  readonly description: string;
  readonly needs: Needs;
  /** Seconds. */
  readonly timeout: number;
  /** MB. */
  readonly memory: number;
}

export interface DeclaredFunctionProps {
  readonly declaration: Declaration;
  readonly bundle: Bundle;
  readonly resources: Resources;
  /** Reserved concurrency: how many may run at once. All other functions share the rest of the account's limit. */
  readonly concurrency?: number | undefined;
  /** Whether it may trigger itself. Otherwise Lambda stops it after sixteen times in a row. */
  readonly triggersItself?: boolean | undefined;
  /** Grants for its trigger, in addition to those for its needs. */
  readonly triggerGrants?: readonly PolicyStatement[];
}

/**
 * A Lambda made from a declaration, with the usual defaults. Its role allows only the declared needs and writes to its
 * area's log group (`function-roles.ts`).
 */
export class DeclaredFunction extends Construct {
  readonly name: string;
  readonly lambda: Lambda;

  constructor(scope: Construct, id: string, props: DeclaredFunctionProps) {
    super(scope, id);
    const { declaration, bundle, resources, concurrency, triggersItself, triggerGrants = [] } = props;
    this.name = `${Stack.of(this).stackName}-${declaration.id.replace('.', '-')}`;

    const logGroup = resources.logs.groupOf(declaration.id);
    const role = resources.roles.roleOf({ ...declaration, triggerGrants }, resources);
    this.lambda = new Lambda(this, 'Function', {
      functionName: this.name,
      description: summaryOf(declaration),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      // The build knows the digest of the code, so the folder need not be read again to find it.
      code: Code.fromAsset(bundle.directory, { assetHash: bundle.hash, assetHashType: AssetHashType.CUSTOM }),
      role,
      logGroup,
      timeout: Duration.seconds(declaration.timeout),
      memorySize: declaration.memory,
      ...(concurrency !== undefined && { reservedConcurrentExecutions: concurrency }),
      ...(triggersItself && { recursiveLoop: RecursiveLoop.ALLOW }),
      environment: {
        ...environment(declaration.needs, resources),
        [NAMESPACE]: Stack.of(this).stackName,
        // Source maps are not deployed: they make cold starts a tenth longer. `npm run trace` reads traces by those of a build.
        [CODE]: bundle.code,
      },
    });
    const resource = this.lambda.node.defaultChild as CfnFunction;
    // The CDK's own way adds a separate policy to each role.
    resource.tracingConfig = { mode: 'Active' };
    // Bytes of the template, which may have a million: `Role` says the same, and nothing reads the other.
    for (const path of ['DependsOn', 'Metadata.aws:asset:is-bundled']) resource.addDeletionOverride(path);
  }
}
