import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { eventListener, proof } from '../../shared/endpoints/listener.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { type Template, textOf, type Value } from '../support/template.ts';
import { everySetting, standIns, wholeStack } from '../support/whole-stack.ts';
import { synthesized, temporaryFolder } from './fixtures/synthesized.ts';

const web = wholeStack({});
const full = wholeStack(everySetting);
const functions = wholeStack({ wait: 'function' });

const folder = await temporaryFolder();
const polling = { endpoints: endpoints.filter(({ id }) => id.startsWith('events.')), workers };
/** The stack with few endpoints, which takes much less time than the whole. */
const smallStack = (context: Readonly<Record<string, string>>): Template =>
  synthesized(standIns, folder, polling, { context });

interface Revision {
  readonly BuildConfig: {
    readonly CodeConfig: { readonly S3Object: Readonly<Record<'Bucket' | 'Key' | 'VersionId', Value>> };
    readonly RuntimeConfig: Value;
  };
  readonly ServiceConfig: {
    readonly EnvironmentVariables: Readonly<Record<string, Value>>;
    readonly ExecutionRoleArn: Value;
    readonly MaxConcurrencyPerEnvironment: number;
    readonly TimeoutSeconds: number;
    readonly TelemetryConfig: {
      readonly LoggingConfig: { readonly LogGroup: Value; readonly SystemLogLevel: string };
    };
  };
}
const revisionOf = (of: Template) => of.the<Revision>('AWS::Lambda::WebFunctionRevision').Properties;
const endpointOf = (of: Template) => of.the('AWS::Lambda::WebFunctionEndpoint').Properties;

interface Origin {
  readonly Id: string;
  readonly DomainName: Value;
  readonly OriginCustomHeaders?: readonly { readonly HeaderName: string; readonly HeaderValue: Value }[];
  readonly CustomOriginConfig?: Readonly<Record<string, Value>>;
}
interface Behavior {
  readonly TargetOriginId: string;
  readonly PathPattern?: string;
}
const edgeOf = (of: Template) => {
  const { Origins, CacheBehaviors, DefaultCacheBehavior } = of.the<{
    DistributionConfig: {
      readonly Origins: readonly Origin[];
      readonly CacheBehaviors: readonly Behavior[];
      readonly DefaultCacheBehavior: Behavior;
    };
  }>('AWS::CloudFront::Distribution').Properties.DistributionConfig;
  const polls = CacheBehaviors.filter(({ PathPattern }) => PathPattern === '/api/v1/events');
  const originOf = ({ TargetOriginId }: Behavior) => Origins.find(({ Id }) => Id === TargetOriginId);
  return { polls, originOf, rest: DefaultCacheBehavior };
};

/** The secret that the deployment makes up. */
const secret = `\${EventsListenDeploymentProof.RandomPassword}`;

describe('the Web Function that holds polls', () => {
  test('is named after its declaration, and runs the package of its build', () => {
    expect(web.the('AWS::Lambda::WebFunction').Properties).toEqual({
      FunctionName: 'Parlance-events-listen',
    });
    const { BuildConfig, ServiceConfig } = revisionOf(web);
    expect(BuildConfig.RuntimeConfig).toEqual({ Runtime: 'nodejs24.x' });
    expect(ServiceConfig.EnvironmentVariables.AWS_LAMBDA_NODEJS_ENTRYPOINT).toBe('index.mjs');
    expect(ServiceConfig).toMatchObject({
      MaxConcurrencyPerEnvironment: eventListener.concurrency,
      TimeoutSeconds: eventListener.timeout,
    });
    expect(eventListener.timeout).toBeGreaterThan(eventListener.holdSeconds);
  });

  test.each([
    ['nothing', web],
    ['everything', full],
  ])('has exactly the permissions of the functions of its endpoints, with %s set', (_, template) => {
    // Web Functions are not traced.
    const expected = new Set(
      eventListener.endpoints
        .flatMap(({ id }) => template.grantsOf(id))
        .filter((grant) => !grant.startsWith('xray:'))
        // A role that may change all items may change the counters of requests.
        .filter((grant) => !grant.startsWith(`dynamodb:UpdateItem on \${Table.Arn} if `)),
    );
    expect(expected).toContain(`dynamodb:UpdateItem on \${Table.Arn}`);
    const role = textOf(revisionOf(template).ServiceConfig.ExecutionRoleArn);
    expect(role).toBe(`\${EventsListenRole.Arn}`);
    expect(template.grantsOfRole('EventsListenRole')).toEqual([...expected].sort());
  });

  test.each([
    ['nothing', web],
    ['everything', full],
  ])(
    'has the environment of the functions of its endpoints, and the secret of CloudFront, with %s set',
    (_, template) => {
      const known = eventListener.endpoints.map(
        ({ id }) => template.functionOf(id)[1].Properties.Environment?.Variables ?? {},
      );
      const { EnvironmentVariables } = revisionOf(template).ServiceConfig;
      const {
        AWS_LAMBDA_NODEJS_ENTRYPOINT: _entry,
        [proof.variable]: told,
        ...others
      } = EnvironmentVariables;
      expect(others).toEqual(Object.assign({}, ...known));
      expect(textOf(told ?? '')).toBe(secret);
    },
  );

  test('logs to the group of its area, without the lines of Lambda for each request', () => {
    const { LogGroup, SystemLogLevel } = revisionOf(web).ServiceConfig.TelemetryConfig.LoggingConfig;
    expect(textOf(LogGroup)).toBe(`\${LogsEvents}`);
    expect(SystemLogLevel).toBe('WARN');
  });

  test('has one URL, whose requests all go to the newest code', () => {
    expect(endpointOf(web)).toMatchObject({
      AuthType: 'ApplicationManaged',
      EndpointType: 'HomeRegion',
      RevisionWeights: [{ Weight: 100 }],
    });
  });

  test.each([
    ['10', 100],
    ['100', 100],
    ['500', 500],
    ['1200', 2_000],
    ['10000', 10_000],
  ])(
    'accepts %s requests a second, rounded up to a rate that Lambda supports',
    (requestsPerSecond, RateLimit) => {
      expect(endpointOf(smallStack({ requestsPerSecond })).ThrottleConfig).toEqual({ RateLimit });
    },
  );

  test('has no rate limit if it would be above those that Lambda supports', () => {
    expect(endpointOf(smallStack({ requestsPerSecond: '10001' }))).not.toHaveProperty('ThrottleConfig');
  });
});

describe('CloudFront', () => {
  test('routes exactly the path of polls to it, with the same settings as for the API', () => {
    const { polls, originOf, rest } = edgeOf(web);
    expect(polls).toHaveLength(1);
    for (const behavior of polls) {
      const { PathPattern, TargetOriginId, ...passed } = behavior;
      const { TargetOriginId: _api, ...ofApi } = rest;
      expect(passed).toEqual(ofApi);
      expect(textOf(originOf(behavior)?.DomainName ?? '')).toBe(`\${EventsListenEndpoint.DomainName}`);
    }
    expect(new Set(eventListener.endpoints.map(({ path }) => path))).toEqual(
      new Set(polls.map(({ PathPattern }) => PathPattern)),
    );
  });

  test('waits longer than a poll takes, and no longer than the default quota allows', () => {
    const { polls, originOf } = edgeOf(web);
    const config = polls.map((it) => originOf(it)?.CustomOriginConfig)[0];
    expect(config).toMatchObject({ OriginProtocolPolicy: 'https-only', OriginKeepaliveTimeout: 60 });
    expect(config?.OriginReadTimeout).toBe(60);
    expect(eventListener.holdSeconds).toBeLessThan(60);
  });

  test('sends the server a secret that is in no template and no log', () => {
    const { polls, originOf } = edgeOf(web);
    const [added, ...others] = polls.flatMap((it) => originOf(it)?.OriginCustomHeaders ?? []);
    expect(others).toEqual([]);
    expect(added?.HeaderName).toBe(proof.header);
    expect(textOf(added?.HeaderValue ?? '')).toBe(secret);
    const { Create, Update } = web.the('Custom::AWS', 'EventsListenDeploymentProof').Properties;
    expect(Update).toBe(Create);
    expect(JSON.parse(String(Create))).toMatchObject({
      action: 'GetRandomPassword',
      parameters: { PasswordLength: 32 },
      logApiResponseData: false,
    });
    expect(web.all('AWS::SecretsManager::Secret').size).toBe(0);
  });
});

describe('the code of the Web Function', () => {
  test('is in a private bucket with versions, which only its own revisions may read', () => {
    const { S3Object } = revisionOf(web).BuildConfig.CodeConfig;
    expect(textOf(S3Object.Bucket)).toBe(`\${EventsListenCodeBucket}`);
    expect(textOf(S3Object.VersionId)).toBe(`\${EventsListenDeploymentCopyCode.VersionId}`);
    const { Properties } = web.the('AWS::S3::Bucket', 'EventsListenCodeBucket');
    expect(Properties).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      PublicAccessBlockConfiguration: { BlockPublicPolicy: true, RestrictPublicBuckets: true },
    });
    const { Statement } = web.the<{
      PolicyDocument: { Statement: readonly Readonly<Record<string, Value>>[] };
    }>('AWS::S3::BucketPolicy', 'EventsListenCodeBucketPolicy').Properties.PolicyDocument;
    const [allowed, ...others] = Statement.filter(({ Effect }) => Effect === 'Allow');
    expect(others).toEqual([]);
    expect(allowed).toMatchObject({
      Principal: { Service: 'lambda.amazonaws.com' },
      Action: ['s3:GetObject', 's3:GetObjectVersion'],
    });
    const condition = allowed?.Condition as { ArnLike: Record<string, Value> };
    expect(textOf(condition.ArnLike['aws:SourceArn'] ?? '')).toMatch(
      /:web-function\/Parlance-events-listen\/revision\/\*$/,
    );
  });

  test('is uploaded by the deployment, whose role allows nothing else', () => {
    const [packaged, ...others] = web
      .grantsOfRole('EventsListenDeploymentRole')
      .filter((grant) => grant.startsWith('s3:GetObject '));
    expect(others).toEqual([]);
    expect(packaged).toMatch(/cdk-[^*]*\.zip$/);
    expect(web.grantsOfRole('EventsListenDeploymentRole').filter((grant) => grant !== packaged)).toEqual([
      `logs:CreateLogStream on \${LogsEvents.Arn}`,
      `logs:PutLogEvents on \${LogsEvents.Arn}`,
      `s3:DeleteObject on \${EventsListenCodeBucket.Arn}/*`,
      `s3:PutObject on \${EventsListenCodeBucket.Arn}/*`,
      'secretsmanager:GetRandomPassword on *',
    ]);
  });
});

describe('if each client waits in a function', () => {
  test('there is no Web Function, and the API gets all requests', () => {
    const types = new Set(Object.values(functions.resources).map(({ Type }) => Type));
    expect([...types].filter((type) => /WebFunction|Custom::/.test(type))).toEqual([]);
    expect(edgeOf(functions).polls).toEqual([]);
  });

  test('the functions and routes are the same as beside a Web Function, for clients that bypass CloudFront', () => {
    const ofApi = ({ resources }: Template) =>
      Object.fromEntries(
        Object.entries(resources).filter(
          ([id, { Type }]) => /^AWS::(Lambda::Function|ApiGateway::)/.test(Type) && !id.startsWith('AWS679'),
        ),
      );
    expect(ofApi(functions)).toEqual(ofApi(web));
  });
});

test('infra/UPGRADES.md says how to go back, and how many resources are added', () => {
  const page = readFileSync(join(import.meta.dirname, '../../infra/UPGRADES.md'), 'utf8');
  expect(page).toContain('"wait": "function"');
  const more = Object.keys(web.resources).length - Object.keys(functions.resources).length;
  expect([more, page.includes('eleven resources')]).toEqual([11, true]);
});
