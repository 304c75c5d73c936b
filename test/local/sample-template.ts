import { join } from 'node:path';
import type { CloudFormationTemplate, TemplateResource } from '../../infra/local/template-values.ts';

/** The folder that stands for the cloud assembly: each function's code is a folder in it. */
export const fixtures = join(import.meta.dirname, 'fixtures');

interface SampleFunction {
  /** Folder of its code among the fixtures. */
  readonly code: string;
  /** Routes that it answers, as `GET /things/{id}`. */
  readonly routes?: readonly string[];
  readonly statements?: readonly object[];
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly timeout?: number;
  readonly memory?: number;
  readonly reserved?: number;
}

export interface Sample {
  readonly functions: Readonly<Record<string, SampleFunction>>;
  /** Resources besides the functions, their roles, and the API with its role. */
  readonly resources?: Readonly<Record<string, TemplateResource>>;
  /** Members of the API's document besides the functions' routes. */
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly gatewayResponses?: Readonly<Record<string, object>>;
  readonly binaryMediaTypes?: readonly string[];
  /** Functions that the gateway's role does not allow it to call. */
  readonly barred?: readonly string[];
}

/** A template in the form in which the CDK writes it, with functions of the fixtures. */
export function sampleTemplate(sample: Sample): CloudFormationTemplate {
  const functions = Object.entries(sample.functions);
  const routes = functions.flatMap(([name, { routes = [] }]) => routes.map((route) => ({ name, route })));
  const paths: Record<string, Record<string, unknown>> = structuredClone({ ...sample.paths });
  for (const { name, route } of routes) {
    const [method = '', path = ''] = route.split(' ');
    const key = method === 'ANY' ? 'x-amazon-apigateway-any-method' : method.toLowerCase();
    paths[path] = { ...paths[path], [key]: functionOperation(name) };
  }
  const called = functions.filter(
    ([name, { routes = [] }]) => routes.length > 0 && !sample.barred?.includes(name),
  );
  return {
    Resources: {
      ...Object.fromEntries(functions.flatMap(([name, it]) => functionResources(name, it))),
      GatewayPolicy: {
        Type: 'AWS::IAM::ManagedPolicy',
        Properties: {
          PolicyDocument: { Statement: called.map(([name]) => invocationOf(name)) },
        },
      },
      GatewayRole: {
        Type: 'AWS::IAM::Role',
        Properties: { ...trust('apigateway'), ManagedPolicyArns: [{ Ref: 'GatewayPolicy' }] },
      },
      ...sample.resources,
      Api: {
        Type: 'AWS::ApiGateway::RestApi',
        Properties: {
          Body: {
            openapi: '3.0.1',
            paths,
            'x-amazon-apigateway-binary-media-types': sample.binaryMediaTypes ?? [],
            'x-amazon-apigateway-gateway-responses': sample.gatewayResponses ?? {},
          },
        },
      },
      Stage: {
        Type: 'AWS::ApiGateway::Stage',
        Properties: { StageName: 'prod', RestApiId: { Ref: 'Api' } },
      },
    },
  };
}

/** The part of a role that lets a service take it. */
export const trust = (service: string) => ({
  AssumeRolePolicyDocument: {
    Statement: [
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: `${service}.amazonaws.com` } },
    ],
  },
});

function functionResources(name: string, it: SampleFunction): [string, TemplateResource][] {
  const role = {
    Type: 'AWS::IAM::Role',
    Properties: {
      ...trust('lambda'),
      Policies: [{ PolicyName: 'needs', PolicyDocument: { Statement: it.statements ?? [] } }],
    },
  };
  const lambda = {
    Type: 'AWS::Lambda::Function',
    Properties: {
      FunctionName: name,
      Handler: 'index.handler',
      Role: { 'Fn::GetAtt': [`${name}Role`, 'Arn'] },
      Environment: { Variables: it.environment ?? {} },
      LoggingConfig: { LogGroup: `/sample/${name}` },
      Timeout: it.timeout ?? 5,
      MemorySize: it.memory ?? 128,
      ...(it.reserved === undefined ? {} : { ReservedConcurrentExecutions: it.reserved }),
    },
    Metadata: { 'aws:asset:path': it.code },
  };
  return [
    [`${name}Role`, role],
    [name, lambda],
  ];
}

const arnOf = (name: string) => ({ 'Fn::GetAtt': [name, 'Arn'] });

const functionOperation = (name: string) => ({
  'x-amazon-apigateway-integration': {
    type: 'aws_proxy',
    httpMethod: 'POST',
    credentials: arnOf('GatewayRole'),
    uri: {
      'Fn::Join': [
        '',
        [
          'arn:',
          { Ref: 'AWS::Partition' },
          ':apigateway:',
          { Ref: 'AWS::Region' },
          ':lambda:path/2015-03-31/functions/',
          arnOf(name),
          '/invocations',
        ],
      ],
    },
  },
});

const invocationOf = (name: string) => ({
  Effect: 'Allow',
  Action: 'lambda:InvokeFunction',
  Resource: arnOf(name),
});

/** An operation that the gateway answers by itself. */
export const mockOperation = (
  statusCode: number,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
): object => ({
  'x-amazon-apigateway-integration': {
    type: 'mock',
    passthroughBehavior: 'never',
    requestTemplates: { 'application/json': `{"statusCode":${statusCode}}` },
    responses: {
      default: {
        statusCode: String(statusCode),
        responseParameters: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, `'${value}'`]),
        ),
        ...(body === undefined ? {} : { responseTemplates: { 'application/json': body } }),
      },
    },
  },
});

/** A table with an index, in the words of CloudFormation. */
export const sampleTable = (name: string): TemplateResource => ({
  Type: 'AWS::DynamoDB::Table',
  Properties: {
    TableName: name,
    AttributeDefinitions: ['pk', 'sk', 'kind'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S',
    })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-kind',
        KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
  },
});
