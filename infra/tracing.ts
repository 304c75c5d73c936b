import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { getEvents } from '../shared/endpoints/events.ts';
import type { RestApi } from './rest-api.ts';

/** The share of requests that is traced. The cost page and the sampling rules use it. */
export const tracedShare = { requests: 0.02, polls: 0.0005 } as const;

/**
 * How many requests are traced by X-Ray. Its own rule takes one each second, which for clients that wait day and night
 * would cost more than all the rest.
 */
export class Tracing extends Construct {
  constructor(scope: Construct, id: string, api: RestApi) {
    super(scope, id);
    const rule = (name: string, priority: number, urlPath: string, fixedRate: number) =>
      new CfnSamplingRule(this, name, {
        samplingRule: {
          version: 1,
          // Rule names are short, and unique in the account and region.
          ruleName: `${Stack.of(this).stackName}-${name}`.slice(0, 32),
          priority,
          fixedRate,
          reservoirSize: 0,
          serviceName: `${api.name}/${api.stageName}`,
          serviceType: 'AWS::ApiGateway::Stage',
          host: '*',
          httpMethod: '*',
          urlPath,
          resourceArn: '*',
        },
      });
    rule('Polls', 100, `*${getEvents.path}`, tracedShare.polls);
    rule('Requests', 200, '*', tracedShare.requests);
  }
}
