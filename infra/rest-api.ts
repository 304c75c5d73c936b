import { ApiDefinition, EndpointType, SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type CfnOutput, Fn } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Endpoint } from '../shared/endpoints/endpoint.ts';
import type { EndpointFunction } from './endpoint-function.ts';
import { gatewayBody } from './gateway-body.ts';

/** The address by which the gateway calls a function. */
const invocationUri = ({ lambda }: EndpointFunction): string =>
  Fn.join('', [
    'arn:',
    Fn.ref('AWS::Partition'),
    ':apigateway:',
    Fn.ref('AWS::Region'),
    ':lambda:path/2015-03-31/functions/',
    lambda.functionArn,
    '/invocations',
  ]);

/** IAM writes a variable of a path as `*`. */
const asPattern = (path: string): string => path.replaceAll(/\{[^}]+\}/g, '*');

/**
 * One REST API for all endpoints, made from one document: a route costs one resource, the permission to call
 * its function from that very method and path.
 */
export class RestApi extends Construct {
  constructor(scope: Construct, id: string, functions: readonly EndpointFunction[]) {
    super(scope, id);
    const functionOf = new Map<Endpoint, EndpointFunction>(functions.map((it) => [it.endpoint, it]));
    const uriOf = (endpoint: Endpoint): string => {
      const target = functionOf.get(endpoint);
      if (!target) throw new Error(`${endpoint.id} has no function.`);
      return invocationUri(target);
    };

    const api = new SpecRestApi(this, 'Gateway', {
      apiDefinition: ApiDefinition.fromInline(gatewayBody('Parlance', [...functionOf.keys()], uriOf)),
      endpointTypes: [EndpointType.REGIONAL],
      // A role for the whole account, which a stack must not set for its neighbours.
      cloudWatchRole: false,
      deployOptions: { stageName: 'prod' },
    });
    for (const { endpoint, lambda } of functions) {
      lambda.addPermission('Route', {
        principal: new ServicePrincipal('apigateway.amazonaws.com'),
        sourceArn: api.arnForExecuteApi(
          endpoint.method,
          asPattern(endpoint.path),
          api.deploymentStage.stageName,
        ),
      });
    }
    (api.node.findChild('Endpoint') as CfnOutput).overrideLogicalId('BaseUrl');
  }
}
