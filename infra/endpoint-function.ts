import type { Construct } from 'constructs';
import type { Endpoint } from '../shared/endpoints/endpoint.ts';
import { accept } from './accepted.ts';
import type { Bundle } from './build.ts';
import { DeclaredFunction } from './declared-function.ts';
import type { Resources } from './resources.ts';

/** Several times the duration of the slowest ordinary request, including a cold start. */
export const defaultTimeout = 10;

/**
 * With less, Lambda's share of a processor makes large replies and cold starts slower; with more, only cold starts get
 * faster (`docs/PERFORMANCE.md`).
 */
export const defaultMemory = 512;

export interface EndpointFunctionProps {
  readonly endpoint: Endpoint;
  readonly bundle: Bundle;
  readonly resources: Resources;
  /** How many may run at once; if absent, as many as the account has left. */
  readonly concurrency: number | undefined;
}

/** The Lambda behind one endpoint. `RestApi` makes its route and the role that calls it. */
export class EndpointFunction extends DeclaredFunction {
  readonly endpoint: Endpoint;

  constructor(
    scope: Construct,
    id: string,
    { endpoint, bundle, resources, concurrency }: EndpointFunctionProps,
  ) {
    const { timeout = defaultTimeout, memory = defaultMemory } = endpoint;
    super(scope, id, { declaration: { ...endpoint, timeout, memory }, bundle, resources, concurrency });
    this.endpoint = endpoint;
    accept(this.lambda, {
      'Serverless-LambdaDLQ':
        'The gateway waits for its answer: what fails is told to the client, who tries again.',
    });
  }
}
