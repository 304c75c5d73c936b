import { describe, expect, test } from 'vitest';
import { readTemplate, type Service } from '../../infra/local/template.ts';
import { type CloudFormationTemplate, TemplateValues } from '../../infra/local/template-values.ts';
import { mockOperation, type Sample, sampleTable, sampleTemplate, trust } from './sample-template.ts';

const place = { region: 'us-east-1', accountId: '000000000000', queueEndpoint: 'http://127.0.0.1:1' };

const read = (template: CloudFormationTemplate): Service => readTemplate(template, '/assembly', place);

const sample: Sample = {
  functions: {
    echo: { code: 'asset.1', routes: ['GET /', 'POST /things/{thing}'], timeout: 12, reserved: 4 },
  },
  resources: {
    Table: sampleTable('chat'),
    Dead: { Type: 'AWS::SQS::Queue', Properties: { MessageRetentionPeriod: 60 } },
    Work: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: 'work',
        VisibilityTimeout: 30,
        RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 3 },
      },
    },
    PhotoFiles: { Type: 'AWS::S3::Bucket' },
  },
};

/** A place in a text where CloudFormation puts a value. */
const hole = (name: string) => `\${${name}}`;
const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/chat';

describe('the values of a template', () => {
  const values = new TemplateValues(sampleTemplate(sample), place);
  test.each([
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ Ref: 'Table' }, 'chat'],
    [{ Ref: 'Work' }, 'http://127.0.0.1:1/000000000000/work'],
    [{ Ref: 'Dead' }, 'http://127.0.0.1:1/000000000000/Dead'],
    [{ Ref: 'PhotoFiles' }, 'photofiles'],
    [{ 'Fn::GetAtt': ['Table', 'Arn'] }, tableArn],
    [{ 'Fn::GetAtt': 'Work.QueueName' }, 'work'],
    [{ 'Fn::Join': ['/', ['a', { Ref: 'Table' }]] }, 'a/chat'],
    [{ 'Fn::Select': ['5', { 'Fn::Split': [':', { 'Fn::GetAtt': ['Work', 'Arn'] }] }] }, 'work'],
    [
      { 'Fn::Sub': `${hole('AWS::Partition')}-${hole('Table.Arn')}-${hole('!Not')}` },
      `aws-${tableArn}-${hole('Not')}`,
    ],
    [{ 'Fn::Sub': [hole('One'), { One: { Ref: 'Table' } }] }, 'chat'],
    [{ list: [1, { Ref: 'AWS::NoValue' }, 'x'], gone: { Ref: 'AWS::NoValue' } }, { list: [1, 'x'] }],
  ])('%j', (value, expected) => {
    expect(values.resolve(value)).toEqual(expected);
  });

  test.each([
    [{ 'Fn::ImportValue': 'x' }, 'cannot work out Fn::ImportValue'],
    [{ Ref: 'Nothing' }, 'no resource Nothing'],
    [{ 'Fn::GetAtt': ['Table', 'StreamArn'] }, 'does not know the StreamArn of Table'],
  ])('%j is refused', (value, complaint) => {
    expect(() => values.resolve(value)).toThrow(complaint);
  });
});

describe('a template', () => {
  test('lists the resources to run', () => {
    const service = read(sampleTemplate(sample));
    expect(service.functions).toEqual([
      expect.objectContaining({
        name: 'echo',
        directory: '/assembly/asset.1',
        handler: 'index.handler',
        timeoutSeconds: 12,
        memoryMb: 128,
        reservedConcurrency: 4,
        roleName: 'echoRole',
      }),
    ]);
    expect(service.queues).toEqual([
      expect.objectContaining({ name: 'Dead', attributes: { MessageRetentionPeriod: '60' } }),
      expect.objectContaining({
        name: 'work',
        attributes: {
          VisibilityTimeout: '30',
          RedrivePolicy:
            '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:Dead","maxReceiveCount":3}',
        },
      }),
    ]);
    expect(service.tables[0]).toMatchObject({ name: 'chat', ttlAttribute: 'expires' });
    expect(service.buckets).toEqual(['photofiles']);
    expect(service.api.routes.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /',
      'POST /things/{thing}',
    ]);
    expect(service.unknownTypes).toEqual([]);
  });

  test('may attach policies to roles, and use the managed policy of Lambda for logs', () => {
    const template = sampleTemplate(sample);
    const Resources = {
      ...template.Resources,
      echoRole: {
        Type: 'AWS::IAM::Role',
        Properties: {
          ...trust('lambda'),
          ManagedPolicyArns: ['arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole'],
        },
      },
      Attached: {
        Type: 'AWS::IAM::Policy',
        Properties: {
          Roles: [{ Ref: 'echoRole' }],
          PolicyDocument: {
            Statement: {
              Effect: 'Allow',
              Action: 'dynamodb:Query',
              Resource: { 'Fn::GetAtt': ['Table', 'Arn'] },
            },
          },
        },
      },
    };
    const [lambda] = read({ Resources }).functions;
    const access = {
      action: 'dynamodb:Query',
      resource: 'arn:aws:dynamodb:us-east-1:000000000000:table/chat',
    };
    expect(lambda?.statements.map((statement) => statement.covers(access))).toEqual([true]);
  });

  test.each([
    ['does not trust Lambda', { ...trust('apigateway') }, 'The role of echo does not trust Lambda.'],
    [
      'has a policy that is not here',
      { ...trust('lambda'), ManagedPolicyArns: ['arn:aws:iam::aws:policy/ReadOnlyAccess'] },
      'does not know what arn:aws:iam::aws:policy/ReadOnlyAccess allows',
    ],
    [
      'trusts under a condition',
      {
        AssumeRolePolicyDocument: {
          Statement: [{ ...trust('lambda').AssumeRolePolicyDocument.Statement[0], Condition: {} }],
        },
      },
      'Condition',
    ],
  ])('must not have a function whose role %s', (_, Properties, complaint) => {
    const { Resources } = sampleTemplate(sample);
    const echoRole = { Type: 'AWS::IAM::Role', Properties };
    expect(() => read({ Resources: { ...Resources, echoRole } })).toThrow(complaint);
  });

  test('lists the types of resources without a local counterpart', () => {
    const resources = { ...sample.resources, Machine: { Type: 'AWS::StepFunctions::StateMachine' } };
    expect(read(sampleTemplate({ ...sample, resources })).unknownTypes).toEqual([
      'AWS::StepFunctions::StateMachine',
    ]);
  });

  const integration = (value: object) => ({ 'x-amazon-apigateway-integration': value });
  test.each([
    ['other integrations', integration({ type: 'http_proxy', uri: 'http://x' }), 'cannot do get /else'],
    ['authorizers', { ...mockOperation(200), security: [{ key: [] }] }, 'cannot do get /else'],
    ['templates with variables', mockOperation(200, '$input.body'), 'cannot evaluate the template'],
    [
      'a function that is not named',
      integration({ type: 'aws_proxy', uri: 'x', credentials: 'y' }),
      'names no function',
    ],
    [
      'functions that it calls without a role',
      integration({ type: 'aws_proxy', uri: 'x' }),
      'cannot do get /else',
    ],
  ])('must not have %s in its API', (_, operation, complaint) => {
    expect(() => read(sampleTemplate({ ...sample, paths: { '/else': { get: operation } } }))).toThrow(
      complaint,
    );
  });

  test('must have one API, and the location of the code of functions', () => {
    const { Resources } = sampleTemplate(sample);
    const rest = Object.entries(Resources).filter(([, { Type }]) => !/ApiGateway|Permission/.test(Type));
    expect(() => read({ Resources: Object.fromEntries(rest) })).toThrow('exactly one REST API');
    const { echo } = Resources;
    if (!echo) throw new Error('The sample has the function.');
    expect(() => read({ Resources: { ...Resources, echo: { ...echo, Metadata: {} } } })).toThrow(
      'where the code of echo is',
    );
  });
});
