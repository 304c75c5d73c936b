import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultMemory, defaultTimeout } from '../../infra/endpoint-function.ts';
import { throttles } from '../../infra/throttles.ts';
import { tracedShare } from '../../infra/tracing.ts';
import { everyEndpoint } from '../../shared/endpoints/all.ts';
import { getEvents } from '../../shared/endpoints/events.ts';
import { type Template, textOf, type Value } from '../support/template.ts';
import * as fixtures from './fixtures/declarations.ts';
import { buildFixtures, synthesized, temporaryFolder } from './fixtures/synthesized.ts';

const folder = await temporaryFolder();
const built = await buildFixtures(join(folder, 'dist'));

/** The fixtures, and an endpoint at which clients wait for events. */
const polling = {
  ...fixtures,
  endpoints: [...fixtures.endpoints, { ...getEvents, needs: { table: [] } }],
};
const bundles = { ...built, [getEvents.id]: built['messages.list'] ?? expect.fail('not built') };
const stackWith = (context: Readonly<Record<string, string>>): Template =>
  synthesized(bundles, join(folder, Object.keys(context).join('-') || 'none'), polling, { context });

const plain = stackWith({});

interface MethodSetting {
  readonly HttpMethod: string;
  readonly ResourcePath: string;
  readonly ThrottlingRateLimit: number;
  readonly ThrottlingBurstLimit: number;
}
const settingsOf = (of: Template) =>
  of.the<{ MethodSettings: readonly MethodSetting[] }>('AWS::ApiGateway::Stage').Properties.MethodSettings;

describe('the rates at the gateway', () => {
  test('are limited for each method and all callers together', () => {
    const settings = settingsOf(stackWith({ requestsPerSecond: '120' }));
    expect(settings.find(({ ResourcePath }) => ResourcePath === '/*')).toMatchObject({
      HttpMethod: '*',
      ThrottlingRateLimit: 120,
      ThrottlingBurstLimit: 240,
    });
  });

  test('are a tenth of that for methods that take more time or memory than most', () => {
    const { methodOptions } = throttles(everyEndpoint, 500);
    for (const { id, method, path, timeout = 0, memory = 0 } of everyEndpoint) {
      const special = methodOptions[`${path}/${method}`];
      const isHeavy = timeout > defaultTimeout || memory > defaultMemory;
      if (isHeavy && id !== getEvents.id) {
        expect(special, id).toEqual({ throttlingRateLimit: 50, throttlingBurstLimit: 100 });
      } else expect(special, id).toBeUndefined();
    }
    expect(Object.keys(methodOptions)).toContain('/api/v1/realm/emoji/{emoji_name}/POST');
  });

  test('are written in the form of the gateway, with ~1 for a slash in the path', () => {
    const [slow = expect.fail('no endpoint')] = fixtures.endpoints;
    const template = synthesized(
      bundles,
      join(folder, 'slow'),
      { ...fixtures, endpoints: [{ ...slow, timeout: 20 }] },
      {},
    );
    expect(settingsOf(template)).toContainEqual(
      expect.objectContaining({
        HttpMethod: 'POST',
        ResourcePath: '/~1api~1v1~1messages',
        ThrottlingRateLimit: 50,
      }),
    );
  });
});

describe('functions that wait for events', () => {
  const concurrencyOf = (of: Template, id: string) =>
    of.functionOf(id)[1].Properties.ReservedConcurrentExecutions;

  test('are reserved only if the operator sets a number, and only for polls', () => {
    expect(concurrencyOf(stackWith({ pollConcurrency: '80' }), getEvents.id)).toBe(80);
    expect(concurrencyOf(stackWith({ pollConcurrency: '80' }), 'messages.send')).toBeUndefined();
  });

  test('are not reserved in a template without settings, since a new account may run ten and reserve none', () => {
    for (const [name, { Properties }] of plain.all<Record<string, Value>>('AWS::Lambda::Function'))
      expect(Properties, name).not.toHaveProperty('ReservedConcurrentExecutions');
  });

  test('alone have the memory that the operator sets', () => {
    const memoryOf = (of: Template) =>
      Object.fromEntries(
        polling.endpoints.map(({ id }) => [id, of.functionOf(id)[1].Properties.MemorySize] as const),
      );
    expect(memoryOf(plain)[getEvents.id]).toBe(128);
    expect(memoryOf(stackWith({ pollMemory: '192' }))).toEqual({ ...memoryOf(plain), [getEvents.id]: 192 });
    expect(() => stackWith({ pollMemory: '64' })).toThrow('The context value pollMemory cannot be "64".');
  });
});

interface Rule {
  readonly Name: string;
  readonly Priority: number;
  readonly Statement: { readonly RateBasedStatement: Readonly<Record<string, Value>> };
  readonly Action: { readonly Block: { readonly CustomResponse: Readonly<Record<string, Value>> } };
  readonly VisibilityConfig: Value;
}
interface Acl {
  readonly Scope: string;
  readonly DefaultAction: Value;
  readonly Rules: readonly Rule[];
  readonly CustomResponseBodies: Readonly<Record<string, { ContentType: string; Content: string }>>;
  readonly VisibilityConfig: Value;
}

describe('the web ACL', () => {
  const template = stackWith({ addressLimit: '3000' });
  const acl = template.the<Acl>('AWS::WAFv2::WebACL').Properties;
  const statements = (of: Acl) =>
    Object.fromEntries(of.Rules.map(({ Name, Statement }) => [Name, Statement.RateBasedStatement]));

  test('exists only if the operator sets a limit, in front of the API', () => {
    expect(plain.all('AWS::WAFv2::WebACL').size).toBe(0);
    const { ResourceArn, WebACLArn } = template.the('AWS::WAFv2::WebACLAssociation').Properties;
    expect(textOf(ResourceArn ?? '')).toMatch(
      /:apigateway:.*::\/restapis\/\$\{ApiGateway\}\/stages\/\$\{ApiGateway.*\}$/,
    );
    expect(textOf(WebACLArn ?? '')).toBe(`\${WebAcl.Arn}`);
    expect([acl.Scope, acl.DefaultAction]).toEqual(['REGIONAL', { Allow: {} }]);
  });

  test('answers 429 in the envelope over the limit (wire facts 1.3)', () => {
    for (const { Action } of acl.Rules) {
      const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = Action.Block.CustomResponse;
      expect(ResponseCode).toBe(429);
      expect(ResponseHeaders).toEqual([
        { Name: 'Retry-After', Value: '60' },
        { Name: 'X-Content-Type-Options', Value: 'nosniff' },
        { Name: 'Access-Control-Allow-Origin', Value: '*' },
      ]);
      const body = acl.CustomResponseBodies[String(CustomResponseBodyKey)];
      expect(body?.ContentType).toBe('APPLICATION_JSON');
      expect(JSON.parse(body?.Content ?? '')).toEqual({
        result: 'error',
        msg: expect.stringMatching(/^[A-Z].*\.$/),
        code: 'RATE_LIMIT_HIT',
        'retry-after': 60,
      });
    }
  });

  test('does not count by a header that one caller can write in several ways', () => {
    expect(acl.Rules.map(({ Name }) => Name)).toEqual(['AddressThroughCloudFront', 'Address']);
  });

  test('counts by address, and by the one that CloudFront reports for requests through CloudFront', () => {
    const { AddressThroughCloudFront: through, Address: direct } = statements(acl);
    expect(through).toMatchObject({
      Limit: 3000,
      AggregateKeyType: 'FORWARDED_IP',
      ForwardedIPConfig: { HeaderName: 'x-viewer-address', FallbackBehavior: 'NO_MATCH' },
    });
    expect(direct).toMatchObject({ Limit: 3000, AggregateKeyType: 'IP' });
    // Every request is counted by exactly one of them.
    expect(direct?.ScopeDownStatement).toEqual({ NotStatement: { Statement: through?.ScopeDownStatement } });
  });

  test('recognizes CloudFront by a secret that is in no template', () => {
    const secret = `{{resolve:secretsmanager:\${WebAclProof}:SecretString}}`;
    const { ScopeDownStatement } = statements(acl).AddressThroughCloudFront ?? {};
    const { ByteMatchStatement } = ScopeDownStatement as { ByteMatchStatement: Record<string, Value> };
    expect(ByteMatchStatement.FieldToMatch).toEqual({ SingleHeader: { Name: 'x-parlance-proof' } });
    expect(ByteMatchStatement.PositionalConstraint).toBe('EXACTLY');
    expect(textOf(ByteMatchStatement.SearchString ?? '')).toBe(secret);
    const { Origins } = template.the<{ DistributionConfig: { Origins: Record<string, Value>[] } }>(
      'AWS::CloudFront::Distribution',
    ).Properties.DistributionConfig;
    const [added] = Origins.flatMap(
      ({ OriginCustomHeaders = [] }) => OriginCustomHeaders as Record<string, Value>[],
    );
    expect(added?.HeaderName).toBe('x-parlance-proof');
    expect(textOf(added?.HeaderValue ?? '')).toBe(secret);
    const { Properties } = template.the('AWS::SecretsManager::Secret', 'WebAclProof');
    expect(Properties).toMatchObject({ GenerateSecretString: { PasswordLength: 32 } });
    expect(Properties).not.toHaveProperty('SecretString');
  });

  test('keeps no samples of requests, since these contain keys', () => {
    for (const { VisibilityConfig } of [acl, ...acl.Rules]) {
      expect(VisibilityConfig).toMatchObject({
        SampledRequestsEnabled: false,
        CloudWatchMetricsEnabled: true,
      });
    }
  });
});

test('logs expire after the time that the operator sets, access logs of buckets too', () => {
  const template = stackWith({ logRetentionDays: '90' });
  const groups = [...template.all<{ RetentionInDays: number }>('AWS::Logs::LogGroup').values()];
  expect(new Set(groups.map(({ Properties }) => Properties.RetentionInDays))).toEqual(new Set([90]));
  const logs = template.the<{ LifecycleConfiguration: Value }>('AWS::S3::Bucket', 'AccessLogs');
  expect(logs.Properties.LifecycleConfiguration).toEqual({
    Rules: [{ ExpirationInDays: 90, Status: 'Enabled' }],
  });
});

test('traces are sampled, and those of polls much less', () => {
  const rules = [
    ...plain
      .all<{
        SamplingRule: {
          URLPath: string;
          FixedRate: number;
          ReservoirSize: number;
          Priority: number;
          ServiceName: string;
        };
      }>('AWS::XRay::SamplingRule')
      .values(),
  ].map(({ Properties }) => Properties.SamplingRule);
  const [first, last] = rules.sort((one, other) => one.Priority - other.Priority);
  expect(first).toMatchObject({ URLPath: '*/api/v1/events', ReservoirSize: 0, ServiceName: 'Parlance/prod' });
  expect(last).toMatchObject({ URLPath: '*', ReservoirSize: 0, ServiceName: 'Parlance/prod' });
  // What the cost page counts with.
  expect([first?.FixedRate, last?.FixedRate]).toEqual([tracedShare.polls, tracedShare.requests]);
  expect(tracedShare.polls).toBeLessThan(tracedShare.requests / 10);
  expect(plain.the('AWS::ApiGateway::Stage').Properties.TracingEnabled).toBe(true);
  for (const { Properties } of plain.all<Record<string, Value>>('AWS::Lambda::Function').values()) {
    expect(Properties.TracingConfig).toEqual({ Mode: 'Active' });
  }
});
