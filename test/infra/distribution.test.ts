import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../infra/org/arguments.ts';
import { imageKey, imagePath } from '../../shared/model/realm/picture.ts';
import { type Template, textOf, type Value } from '../support/template.ts';
import * as fixtures from './fixtures/declarations.ts';
import { buildFixtures, synthesized, temporaryFolder } from './fixtures/synthesized.ts';

const folder = await temporaryFolder();
const bundles = await buildFixtures(join(folder, 'dist'));
const stackWith = (context: Readonly<Record<string, string>>, wanted = fixtures): Template =>
  synthesized(bundles, join(folder, JSON.stringify(context).length.toString()), wanted, { context });

const template = stackWith({});

interface Behavior {
  readonly [key: string]: Value | undefined;
  readonly TargetOriginId: string;
  readonly FunctionAssociations?: readonly { readonly EventType: string; readonly FunctionARN: Value }[];
}
interface Config {
  readonly DefaultCacheBehavior: Behavior;
  readonly CacheBehaviors: readonly (Behavior & { readonly PathPattern: string })[];
  readonly Origins: readonly {
    readonly Id: string;
    readonly DomainName: Value;
    readonly [key: string]: Value;
  }[];
  readonly OriginGroups: {
    readonly Items: readonly { readonly Id: string; readonly [key: string]: Value }[];
  };
  readonly CustomErrorResponses: readonly {
    readonly ErrorCode: number;
    readonly ErrorCachingMinTTL: number;
  }[];
  readonly Aliases?: readonly string[];
  readonly ViewerCertificate?: Value;
}
const configOf = (of: Template): Config =>
  of.the<{ DistributionConfig: Config }>('AWS::CloudFront::Distribution').Properties.DistributionConfig;

const config = configOf(template);
const originOf = ({ TargetOriginId }: Behavior) => config.Origins.find(({ Id }) => Id === TargetOriginId);
const headersPolicy = (of: Template, name: string) =>
  of.the<{ ResponseHeadersPolicyConfig: Record<string, Value> }>(
    'AWS::CloudFront::ResponseHeadersPolicy',
    `Distribution${name}`,
  ).Properties.ResponseHeadersPolicyConfig;

/** Policies of CloudFront's own, by what its documentation calls them. */
const managed = {
  CachingDisabled: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
  CachingOptimized: '658327ea-f89d-4fab-a63d-7e88639e58f6',
  AllViewerExceptHostHeader: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
};

describe('CloudFront before the API', () => {
  test('forwards requests unchanged, with credentials and query, and caches no replies', () => {
    expect(config.DefaultCacheBehavior).toMatchObject({
      AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
      CachePolicyId: managed.CachingDisabled,
      OriginRequestPolicyId: managed.AllViewerExceptHostHeader,
      ViewerProtocolPolicy: 'https-only',
    });
    const origin = originOf(config.DefaultCacheBehavior);
    expect(textOf(origin?.DomainName ?? '')).toBe(
      `\${ApiGateway}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}`,
    );
    expect(textOf(origin?.OriginPath ?? '')).toMatch(/^\/\$\{ApiGatewayDeploymentStageprod\}$/);
    expect(origin?.CustomOriginConfig).toMatchObject({ OriginProtocolPolicy: 'https-only' });
  });

  test('waits longer than the gateway, which ends a poll itself', () => {
    const custom = originOf(config.DefaultCacheBehavior)?.CustomOriginConfig;
    expect(custom).toMatchObject({ OriginReadTimeout: expect.any(Number) });
    expect((custom as { OriginReadTimeout: number }).OriginReadTimeout).toBeGreaterThan(29);
  });

  test('caches no error on any path, since another caller would get it', () => {
    // Those that CloudFront keeps although nothing else may be kept.
    const kept = [400, 403, 404, 405, 414, 500, 501, 502, 503, 504];
    const ages = new Map(config.CustomErrorResponses.map((it) => [it.ErrorCode, it.ErrorCachingMinTTL]));
    for (const status of kept) expect(ages.get(status), String(status)).toBe(0);
    for (const it of config.CustomErrorResponses) expect(it).not.toHaveProperty('ResponsePagePath');
  });

  test('forwards the real host and address of the client, whatever headers the client sends', () => {
    const [association, ...others] = config.DefaultCacheBehavior.FunctionAssociations ?? [];
    expect(others).toEqual([]);
    expect(association?.EventType).toBe('viewer-request');
    expect(textOf(association?.FunctionARN ?? '')).toBe(`\${DistributionIntroduction.FunctionARN}`);
    const { FunctionCode } = template.the<{ FunctionCode: string }>('AWS::CloudFront::Function').Properties;
    const handler = runInNewContext(`${FunctionCode}; handler`);
    const request = {
      method: 'GET',
      uri: '/api/v1/messages',
      headers: {
        host: { value: 'chat.example.com' },
        authorization: { value: 'Basic eA==' },
        'x-forwarded-host': { value: 'other.example.com' },
        'x-viewer-address': { value: '10.0.0.1' },
      },
    };
    expect(handler({ request, viewer: { ip: '203.0.113.7' } })).toEqual({
      ...request,
      headers: {
        ...request.headers,
        'x-forwarded-host': { value: 'chat.example.com' },
        'x-viewer-address': { value: '203.0.113.7' },
        accept: { value: '*/*' },
      },
    });
  });

  test('adds `Accept: */*` for clients that send none, and leaves other values alone', () => {
    const { FunctionCode } = template.the<{ FunctionCode: string }>('AWS::CloudFront::Function').Properties;
    const handler = runInNewContext(`${FunctionCode}; handler`);
    const accepted = (headers: Readonly<Record<string, { readonly value: string }>>) =>
      handler({
        request: { headers: { host: { value: 'chat.example.com' }, ...headers } },
        viewer: { ip: '203.0.113.7' },
      }).headers.accept;
    expect(accepted({})).toEqual({ value: '*/*' });
    expect(accepted({ accept: { value: '' } })).toEqual({ value: '*/*' });
    expect(accepted({ accept: { value: 'image/webp,*/*;q=0.8' } })).toEqual({
      value: 'image/webp,*/*;q=0.8',
    });
  });

  test('adds nosniff to every reply', () => {
    expect(headersPolicy(template, 'ApiHeaders')).toMatchObject({
      SecurityHeadersConfig: {
        ContentTypeOptions: { Override: true },
        StrictTransportSecurity: { Override: true },
      },
    });
  });

  test('restores the WWW-Authenticate header that the gateway renames (wire facts 1.3)', () => {
    expect(headersPolicy(template, 'ApiHeaders')).toMatchObject({
      CustomHeadersConfig: {
        Items: [{ Header: 'WWW-Authenticate', Value: 'Basic realm="zulip"', Override: false }],
      },
    });
  });

  test('allows pages of the origins that the operator set, and no others', () => {
    expect(headersPolicy(template, 'ApiHeaders')).not.toHaveProperty('CorsConfig');
    const corsOrigins = 'https://app.example.com,http://localhost:8080';
    expect(headersPolicy(stackWith({ corsOrigins }), 'ApiHeaders')).toMatchObject({
      CorsConfig: {
        AccessControlAllowOrigins: { Items: corsOrigins.split(',') },
        AccessControlAllowHeaders: { Items: expect.arrayContaining(['Authorization']) },
        AccessControlAllowCredentials: false,
        OriginOverride: true,
      },
    });
  });
});

describe('CloudFront before the images', () => {
  const [images] = config.CacheBehaviors;
  const members = () => {
    const group = config.OriginGroups.Items.find(({ Id }) => Id === images?.TargetOriginId);
    const { Items = [] } = (group?.Members ?? {}) as { Items?: { OriginId: string }[] };
    return { group, origins: Items.map((it) => config.Origins.find(({ Id }) => Id === it.OriginId)) };
  };

  test('finds them in the bucket under the path of their URL (2.8/source_url)', () => {
    expect(images?.PathPattern).toBe('/user_avatars/*');
    for (const realm of ['main', 'chat.example.com', 'a b']) {
      const path = imagePath(realm, 'f.png');
      expect(path).toMatch(/^\/user_avatars\//);
      expect(decodeURIComponent(path.slice(1))).toBe(imageKey(realm, 'f.png'));
    }
    const [bucket] = members().origins;
    expect(textOf(bucket?.DomainName ?? '')).toBe(`\${ImagesBucket.RegionalDomainName}`);
    expect(images).toMatchObject({ CachePolicyId: managed.CachingOptimized });
    expect(images).not.toHaveProperty('OriginRequestPolicyId');
  });

  test('forwards missing ones to the API, which answers in its envelope', () => {
    const { group, origins } = members();
    expect(group?.FailoverCriteria).toEqual({ StatusCodes: { Items: [403, 404], Quantity: 2 } });
    expect(origins[1]).toBe(originOf(config.DefaultCacheBehavior));
  });

  test('is the only reader beside the functions, and can read nothing else', () => {
    expect(
      template.the<{ OriginAccessControlConfig: Value }>('AWS::CloudFront::OriginAccessControl').Properties
        .OriginAccessControlConfig,
    ).toMatchObject({ SigningBehavior: 'always', OriginAccessControlOriginType: 's3' });
    interface Policy {
      readonly PolicyDocument: { readonly Statement: readonly Record<string, Value>[] };
    }
    const allowed = [...template.all<Policy>('AWS::S3::BucketPolicy')].flatMap(([name, { Properties }]) =>
      Properties.PolicyDocument.Statement.filter(
        ({ Effect, Principal }) => Effect === 'Allow' && !JSON.stringify(Principal).includes('logging.s3'),
      ).map((it) => ({
        name,
        ...it,
      })),
    );
    expect(allowed).toEqual([
      {
        name: 'ImagesBucketPolicy',
        Action: 's3:GetObject',
        Effect: 'Allow',
        Principal: { Service: 'cloudfront.amazonaws.com' },
        Resource: expect.anything(),
        Condition: { StringEquals: { 'AWS:SourceArn': expect.anything() } },
      },
    ]);
  });

  test('serves them only as images', () => {
    expect(headersPolicy(template, 'ImageHeaders')).toMatchObject({
      SecurityHeadersConfig: {
        ContentTypeOptions: { Override: true },
        ContentSecurityPolicy: { ContentSecurityPolicy: "default-src 'none'; sandbox", Override: true },
      },
    });
  });

  test('does not exist if no declaration has images', () => {
    const endpoints = fixtures.endpoints.filter(({ needs }) => !needs.buckets);
    const without = stackWith({ corsOrigins: 'https://no-images' }, { ...fixtures, endpoints });
    expect(configOf(without)).not.toHaveProperty('CacheBehaviors');
  });
});

describe('the address of the service', () => {
  const outputs = (of: Template) =>
    Object.fromEntries(Object.entries(of.outputs).map(([name, { Value }]) => [name, textOf(Value)]));

  test('is that of CloudFront, and the outputs also have the bare API, the table and the next command', () => {
    expect(outputs(template)).toEqual({
      BaseUrl: `https://\${DistributionCloudFront.DomainName}`,
      ApiUrl: expect.stringMatching(
        /^https:\/\/\$\{ApiGateway\}\.execute-api\..*\/\$\{ApiGateway.*Stageprod\}$/,
      ),
      DistributionHost: `\${DistributionCloudFront.DomainName}`,
      TableName: `\${Table}`,
      NextCommand: `npm run -s org -- create --name NAME --owner-email EMAIL --out owner.zuliprc --table \${Table} --region \${AWS::Region} --site https://\${DistributionCloudFront.DomainName}`,
    });
    expect(config).not.toHaveProperty('Aliases');
  });

  test('is documented in infra/DEPLOY.md with all outputs', () => {
    const page = readFileSync(join(import.meta.dirname, '../../infra/DEPLOY.md'), 'utf8');
    for (const name of Object.keys(outputs(template))) expect(page).toContain(`\`${name}\``);
  });

  test('is understood by npm run org, and so is the next command', () => {
    const command = outputs(template).NextCommand ?? '';
    const filled = command.replaceAll(/https:..\$\{.*?\}/g, 'https://d.cloudfront.net').split(' -- ')[1];
    expect(command.startsWith('npm run -s org -- ')).toBe(true);
    expect(readArguments((filled ?? '').split(' '))).toEqual({
      verb: 'create',
      given: {
        name: 'NAME',
        'owner-email': 'EMAIL',
        out: 'owner.zuliprc',
        table: `\${Table}`,
        region: `\${AWS::Region}`,
        site: 'https://d.cloudfront.net',
      },
    });
  });

  test("is the operator's own, with its certificate", () => {
    const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0a-1b';
    const own = stackWith({ domain: 'chat.example.com,*.chat.example.com', certificateArn });
    expect(outputs(own).BaseUrl).toBe('https://chat.example.com');
    expect(configOf(own)).toMatchObject({
      Aliases: ['chat.example.com', '*.chat.example.com'],
      ViewerCertificate: { AcmCertificateArn: certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
  });
});

test('names that are unique in an account contain the region, so that each region can have a stack', () => {
  const { resources } = template;
  const names = Object.values(resources)
    .filter(({ Type }) => Type.startsWith('AWS::CloudFront::'))
    .flatMap(
      ({ Properties }) => JSON.stringify(Properties).match(/"Name":(\{"Fn::Join".*?\]\]\}|"[^"]*")/g) ?? [],
    );
  expect(names.length).toBeGreaterThanOrEqual(4);
  for (const name of names) expect(name).toContain('"AWS::Region"');
});
