import type { MethodDeploymentOptions } from 'aws-cdk-lib/aws-apigateway';
import type { Endpoint } from '../shared/endpoints/endpoint.ts';
import { getEvents } from '../shared/endpoints/events.ts';
import { defaultMemory, defaultTimeout } from './endpoint-function.ts';
import { methodsOf } from './gateway-body.ts';

/** The share of the usual rate for endpoints that need much time or memory. */
const heavyPart = 10;

/** Requests that may come at once, in seconds of the rate. */
const burstSeconds = 2;

type Throttle = Required<Pick<MethodDeploymentOptions, 'throttlingRateLimit' | 'throttlingBurstLimit'>>;

const throttle = (requestsPerSecond: number): Throttle => ({
  throttlingRateLimit: requestsPerSecond,
  throttlingBurstLimit: burstSeconds * requestsPerSecond,
});

/** An endpoint whose declaration asks for more time or memory than most; a poll only waits. */
const isHeavy = ({ id, timeout = 0, memory = 0 }: Endpoint): boolean =>
  id !== getEvents.id && (timeout > defaultTimeout || memory > defaultMemory);

/**
 * How many requests the gateway passes to each method, for all clients together; others get a 429 in the envelope. It
 * keeps one client from using up the limits of the AWS account, which all functions share.
 */
export const throttles = (
  endpoints: readonly Endpoint[],
  requestsPerSecond: number,
): Throttle & { readonly methodOptions: Record<string, MethodDeploymentOptions> } => ({
  ...throttle(requestsPerSecond),
  methodOptions: Object.fromEntries(
    endpoints
      .filter(isHeavy)
      .flatMap((endpoint) => methodsOf(endpoint).map((method) => `${endpoint.gatewayPath}/${method}`))
      .map((place) => [place, throttle(Math.max(1, Math.floor(requestsPerSecond / heavyPart)))]),
  ),
});
