import { ApiDefinition, EndpointType, SpecRestApi, type Stage } from 'aws-cdk-lib/aws-apigateway';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { Fn, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Endpoint } from '../shared/endpoints/endpoint.ts';
import { accept } from './accepted.ts';
import type { EndpointFunction } from './endpoint-function.ts';
import { gatewayBody, type Target } from './gateway-body.ts';
import { InvocationRole } from './invocation-role.ts';
import { throttles } from './throttles.ts';

/**
 * The address by which the gateway calls a function. As one text with the function's name in it, since `sam local`
 * looks for just this form to find out which function a route leads to.
 */
const invocationUri = ({ lambda }: EndpointFunction): string => {
  const functionId = Stack.of(lambda).getLogicalId(lambda.node.defaultChild as CfnFunction);
  return Fn.sub(
    `arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path/2015-03-31/functions/\${${functionId}.Arn}/invocations`,
  );
};

/** One REST API for all endpoints, made from one document, which calls their functions by one role. */
export class RestApi extends Construct {
  /** The host at which API Gateway answers. */
  readonly host: string;
  /** What API Gateway calls it, in metrics and traces too. */
  readonly name: string;
  /** The one stage, with whose name paths begin there. */
  readonly stage: Stage;
  readonly stageName = 'prod';

  constructor(
    scope: Construct,
    id: string,
    functions: readonly EndpointFunction[],
    requestsPerSecond: number,
  ) {
    super(scope, id);
    this.name = Stack.of(this).stackName;
    const functionOf = new Map<Endpoint, EndpointFunction>(functions.map((it) => [it.endpoint, it]));
    const { arn: credentials } = new InvocationRole(this, 'Invocation', functions);
    const targetOf = (endpoint: Endpoint): Target => {
      const target = functionOf.get(endpoint);
      if (!target) throw new Error(`${endpoint.id} has no function.`);
      return { uri: invocationUri(target), credentials };
    };

    const api = new SpecRestApi(this, 'Gateway', {
      restApiName: this.name,
      apiDefinition: ApiDefinition.fromInline(gatewayBody(this.name, [...functionOf.keys()], targetOf)),
      endpointTypes: [EndpointType.REGIONAL],
      // A role for the whole account, which a stack must not set for its neighbours.
      cloudWatchRole: false,
      deployOptions: {
        stageName: this.stageName,
        tracingEnabled: true,
        ...throttles([...functionOf.keys()], requestsPerSecond),
      },
    });
    // The stack tells the address in outputs of its own.
    api.node.tryRemoveChild('Endpoint');
    const { region, urlSuffix } = Stack.of(this);
    this.host = `${api.restApiId}.execute-api.${region}.${urlSuffix}`;
    this.stage = api.deploymentStage;

    const unlogged =
      'The gateway logs through a role of the whole account, which a stack must not set for its neighbours. What is refused or fails is logged by the functions.';
    accept(this, {
      'AwsSolutions-APIG1': unlogged,
      'AwsSolutions-APIG6': unlogged,
      'Serverless-APIGWAccessLogging': unlogged,
      'AwsSolutions-APIG2':
        'Functions check every parameter, and refuse in words that the gateway has not: with the name of the first that is wrong.',
    });
  }

  /** A metric of the stage. */
  metric(metricName: string, options: MetricOptions): Metric {
    const dimensionsMap = { ApiName: this.name, Stage: this.stageName };
    return new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap,
      statistic: 'Sum',
      ...options,
    });
  }
}
