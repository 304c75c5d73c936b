import { join } from 'node:path';
import * as z from 'zod/mini';
import { type Statement, wildcard } from './iam.ts';
import { type RestApi, readRestApi } from './template-api.ts';
import { type MailRoute, readMailRoutes } from './template-mail.ts';
import { type Role, readRoles } from './template-roles.ts';
import { type CloudFormationTemplate, type Place, TemplateValues } from './template-values.ts';

/** A Lambda function of the template, with everything that running it takes. */
export interface LambdaFunction {
  readonly name: string;
  readonly arn: string;
  readonly logGroup: string;
  readonly roleName: string;
  /** What its role allows. */
  readonly statements: readonly Statement[];
  /** The module and export that handle an event, as `index.handler`. */
  readonly handler: string;
  /** The folder of its code. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** How many of it may run at once, if the template says so. */
  readonly reservedConcurrency: number | undefined;
}

export interface Table {
  readonly name: string;
  /** The properties that `CreateTable` takes under the same names. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly ttlAttribute: string | undefined;
}

export interface Queue {
  readonly name: string;
  readonly arn: string;
  readonly url: string;
  /** Attributes as SQS takes them: all of them text. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** A queue that Lambda empties into a function. */
export interface EventSource {
  readonly queueArn: string;
  readonly functionName: string;
  readonly batchSize: number;
  /** Seconds that Lambda may wait to fill a batch. */
  readonly windowSeconds: number;
  /** The function says which messages of a batch failed; otherwise a batch fails or succeeds as one. */
  readonly reportsFailures: boolean;
}

export interface Schedule {
  readonly name: string;
  readonly arn: string;
  /** `rate(…)` or `cron(…)`. */
  readonly expression: string;
  readonly functionName: string;
  /** The event to send instead of EventBridge's own, as JSON. */
  readonly input: string | undefined;
}

/** Leave for a service to invoke a function, on behalf of the resources that `covers` accepts. */
export interface InvokePermission {
  readonly functionName: string;
  readonly principal: string;
  readonly covers: (sourceArn: string) => boolean;
}

/** Everything of a synthesized template that the local cloud runs. */
export interface Service {
  readonly functions: readonly LambdaFunction[];
  readonly tables: readonly Table[];
  readonly queues: readonly Queue[];
  readonly buckets: readonly string[];
  /** How mail comes in; none where the operator takes no mail. */
  readonly mailRoutes: readonly MailRoute[];
  readonly eventSources: readonly EventSource[];
  readonly schedules: readonly Schedule[];
  readonly permissions: readonly InvokePermission[];
  /** By their ARNs. */
  readonly roles: ReadonlyMap<string, Role>;
  readonly api: RestApi;
  /** What CloudFront runs for each request before the gateway sees it; absent where nothing stands before the gateway. */
  readonly edgeFunction: string | undefined;
  /** Types of resources that the template has and nothing here stands for. */
  readonly unknownTypes: readonly string[];
}

/** Resources that a laptop does without, or that are read along with another. */
const needless = [
  'AWS::ApiGateway::Deployment',
  'AWS::CDK::Metadata',
  'AWS::CloudFront::Distribution',
  'AWS::CloudFront::OriginAccessControl',
  'AWS::CloudFront::ResponseHeadersPolicy',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::IAM::Role',
  'AWS::KMS::Key',
  'AWS::Lambda::WebFunction',
  'AWS::Lambda::WebFunctionEndpoint',
  'AWS::Lambda::WebFunctionRevision',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::S3::BucketPolicy',
  'AWS::SES::ReceiptRuleSet',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::SecretsManager::Secret',
  'AWS::WAFv2::WebACL',
  'AWS::WAFv2::WebACLAssociation',
  'AWS::XRay::SamplingRule',
  'Custom::AWS',
];

/** A resource whose properties are worked out. */
interface Resource {
  readonly logicalId: string;
  readonly properties: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly attribute: (name: string) => string;
}

/**
 * Reads the synthesized template.
 *
 * @param assembly Path of the cloud assembly, in which the functions' code lies.
 * @throws Error when the template has something that would work on AWS and not, or otherwise, here.
 */
export function readTemplate(template: CloudFormationTemplate, assembly: string, place: Place): Service {
  const values = new TemplateValues(template, place);
  const known = new Set(needless);
  const each = <T>(type: string, read: (resource: Resource) => T): T[] => {
    known.add(type);
    const found = Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);
    return found.map(([logicalId, { Properties, Metadata = {} }]) =>
      read({
        logicalId,
        properties: values.resolve(Properties ?? {}),
        metadata: Metadata,
        attribute: (name) => values.attribute(logicalId, name),
      }),
    );
  };

  const stages = each('AWS::ApiGateway::Stage', ({ properties }) => stageShape.parse(properties));
  const apis = each('AWS::ApiGateway::RestApi', ({ properties, attribute }) => {
    const id = attribute('ref');
    const stage = stages.find((it) => it.RestApiId === id);
    if (!stage) throw new Error('The REST API of the template has no stage.');
    return readRestApi(id, { name: stage.StageName, variables: stage.Variables }, properties);
  });
  const [api, ...others] = apis;
  if (!api || others.length > 0) throw new Error('The template must have exactly one REST API.');

  const managed = each('AWS::IAM::ManagedPolicy', (it) => [it.attribute('ref'), it.properties] as const);
  const roles = readRoles(template, values, {
    attached: each('AWS::IAM::Policy', ({ properties }) => properties),
    managed: new Map(managed),
  });
  const buckets = each('AWS::S3::Bucket', ({ attribute, properties }) => ({
    name: attribute('ref'),
    properties,
  }));
  const deploying = deploymentFunctions(template);
  const service = {
    functions: each('AWS::Lambda::Function', (it) =>
      deploying.has(it.logicalId) ? [] : [readFunction(it, roles, assembly)],
    ).flat(),
    tables: each('AWS::DynamoDB::Table', readTable),
    queues: each('AWS::SQS::Queue', readQueue),
    buckets: buckets.map(({ name }) => name),
    mailRoutes: each('AWS::SES::ReceiptRule', ({ properties }) => readMailRoutes(properties, buckets)).flat(),
    eventSources: each('AWS::Lambda::EventSourceMapping', readEventSource).flat(),
    schedules: each('AWS::Events::Rule', readRule).flat(),
    permissions: each('AWS::Lambda::Permission', readPermission),
    roles,
    edgeFunction: each('AWS::CloudFront::Function', readEdgeFunction)[0],
    api,
  };
  const types = new Set(Object.values(template.Resources).map((resource) => resource.Type));
  return { ...service, unknownTypes: [...types].filter((type) => !known.has(type)) };
}

/** The functions that run only while something is deployed: those behind resources of the template's own kinds. */
const deploymentFunctions = ({ Resources }: CloudFormationTemplate): ReadonlySet<string> =>
  new Set(
    Object.values(Resources).flatMap(({ Type, Properties }) => {
      const token = customShape.safeParse(Type.startsWith('Custom::') ? Properties : undefined);
      return token.success ? [token.data.ServiceToken['Fn::GetAtt'][0]] : [];
    }),
  );

const customShape = z.object({
  ServiceToken: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) }),
});

const texts = z.optional(z.record(z.string(), z.string()));

const stageShape = z.object({ StageName: z.string(), RestApiId: z.string(), Variables: texts });

const functionShape = z.object({
  Role: z.string(),
  LoggingConfig: z.optional(z.object({ LogGroup: z.optional(z.string()) })),
  Handler: z.string(),
  Environment: z.optional(z.object({ Variables: texts })),
  Timeout: z._default(z.number(), 3),
  MemorySize: z._default(z.number(), 128),
  ReservedConcurrentExecutions: z.optional(z.number()),
});

const tableShape = z.object({
  KeySchema: z.unknown(),
  AttributeDefinitions: z.unknown(),
  GlobalSecondaryIndexes: z.optional(z.unknown()),
  LocalSecondaryIndexes: z.optional(z.unknown()),
  TimeToLiveSpecification: z.optional(z.object({ AttributeName: z.string(), Enabled: z.boolean() })),
});

const eventSourceShape = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  Enabled: z.optional(z.boolean()),
  BatchSize: z._default(z.number(), 10),
  MaximumBatchingWindowInSeconds: z._default(z.number(), 0),
  FunctionResponseTypes: z._default(z.array(z.string()), []),
});

const ruleShape = z.object({
  ScheduleExpression: z.optional(z.string()),
  State: z.optional(z.string()),
  Targets: z._default(z.array(z.object({ Arn: z.string(), Input: z.optional(z.string()) })), []),
});

const permissionShape = z.object({
  FunctionName: z.string(),
  Principal: z.string(),
  SourceArn: z._default(z.string(), '*'),
});

/** The name at the end of a function's ARN, which may also stand there by itself. */
const functionName = (arnOrName: string): string => arnOrName.split(':').at(-1) ?? arnOrName;

function readFunction(it: Resource, roles: ReadonlyMap<string, Role>, assembly: string): LambdaFunction {
  const properties = functionShape.parse(it.properties);
  const asset = it.metadata['aws:asset:path'];
  const role = roles.get(properties.Role);
  if (typeof asset !== 'string')
    throw new Error(`The template does not say where the code of ${it.logicalId} is.`);
  if (!role) throw new Error(`The role of ${it.logicalId} is not in the template.`);
  if (!role.trusted.includes('lambda.amazonaws.com'))
    throw new Error(`The role of ${it.logicalId} does not trust Lambda.`);
  const name = it.attribute('ref');
  return {
    name,
    arn: it.attribute('Arn'),
    logGroup: properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`,
    roleName: role.name,
    statements: role.statements,
    handler: properties.Handler,
    directory: join(assembly, asset),
    environment: properties.Environment?.Variables ?? {},
    timeoutSeconds: properties.Timeout,
    memoryMb: properties.MemorySize,
    reservedConcurrency: properties.ReservedConcurrentExecutions,
  };
}

function readTable({ properties, attribute }: Resource): Table {
  const { TimeToLiveSpecification: ttl, ...schema } = tableShape.parse(properties);
  return { name: attribute('ref'), schema, ttlAttribute: ttl?.Enabled ? ttl.AttributeName : undefined };
}

function readQueue({ properties, attribute }: Resource): Queue {
  const { QueueName, ...attributes } = properties as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  return {
    name: attribute('QueueName'),
    arn: attribute('Arn'),
    url: attribute('QueueUrl'),
    attributes: Object.fromEntries(
      Object.entries(attributes)
        .filter(([name]) => name !== 'Tags')
        .map(([name, value]) => [name, text(value)]),
    ),
  };
}

function readEventSource({ properties }: Resource): EventSource[] {
  const mapping = eventSourceShape.parse(properties);
  if (mapping.Enabled === false) return [];
  return [
    {
      queueArn: mapping.EventSourceArn,
      functionName: functionName(mapping.FunctionName),
      batchSize: mapping.BatchSize,
      windowSeconds: mapping.MaximumBatchingWindowInSeconds,
      reportsFailures: mapping.FunctionResponseTypes.includes('ReportBatchItemFailures'),
    },
  ];
}

function readRule({ properties, attribute }: Resource): Schedule[] {
  const { ScheduleExpression: expression, State, Targets } = ruleShape.parse(properties);
  if (expression === undefined || State === 'DISABLED') return [];
  return Targets.map(({ Arn, Input }) => ({
    name: attribute('ref'),
    arn: attribute('Arn'),
    expression,
    functionName: functionName(Arn),
    input: Input,
  }));
}

const readEdgeFunction = ({ properties }: Resource): string =>
  z.object({ FunctionCode: z.string() }).parse(properties).FunctionCode;

function readPermission({ properties }: Resource): InvokePermission {
  const permission = permissionShape.parse(properties);
  return {
    functionName: functionName(permission.FunctionName),
    principal: permission.Principal,
    covers: wildcard(permission.SourceArn),
  };
}
