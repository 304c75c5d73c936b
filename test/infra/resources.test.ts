import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { tableDefinition } from '../../infra/table-schema.ts';
import { type Template, textOf, type Value } from '../support/template.ts';
import * as fixtures from './fixtures/declarations.ts';
import { buildFixtures, synthesized, temporaryFolder } from './fixtures/synthesized.ts';

const folder = await temporaryFolder();
const bundles = await buildFixtures(join(folder, 'dist'));
const context = { pushRelayUrl: 'https://push.example.com' };
const template = synthesized(bundles, join(folder, 'all'), fixtures, { context });

/** What keeps everybody out who comes without TLS. */
const plainDenial = {
  Effect: 'Deny',
  Principal: { AWS: '*' },
  Condition: { Bool: { 'aws:SecureTransport': 'false' } },
};

describe('resources that no declaration names', () => {
  test('the table has the keys of the schema, and is protected from deletion', () => {
    const table = template.the('AWS::DynamoDB::Table');
    expect(table.Properties).toMatchObject({ ...tableDefinition() });
    expect(table.Properties).toMatchObject({
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
      DeletionProtectionEnabled: true,
    });
    expect(table.DeletionPolicy).toBe('Retain');
  });

  test('buckets are private and outlive the stack', () => {
    const buckets = template.all('AWS::S3::Bucket');
    expect([...buckets.keys()]).toEqual(['AccessLogs', 'ExportsBucket', 'ImagesBucket']);
    const rulesOf = (name: string) =>
      template.the<{ LifecycleConfiguration: { Rules: object[] } }>('AWS::S3::Bucket', name).Properties
        .LifecycleConfiguration.Rules;
    // A day longer than the archive is listed as available.
    expect(rulesOf('ExportsBucket')).toContainEqual({ ExpirationInDays: 31, Status: 'Enabled' });
    expect(JSON.stringify(rulesOf('ImagesBucket'))).not.toContain('Expiration');
    for (const bucket of buckets.values()) {
      expect(bucket.Properties).toMatchObject({
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      });
      expect(bucket.DeletionPolicy).toBe('RetainExceptOnCreate');
    }
  });

  test('buckets and queues are encrypted, and reached over TLS only', () => {
    interface Denial {
      readonly PolicyDocument: { readonly Statement: readonly { readonly Resource: Value }[] };
    }
    const deniedBy = (type: string, action: string) =>
      [...template.all<Denial>(type).values()].flatMap(({ Properties }) =>
        Properties.PolicyDocument.Statement.filter((it) =>
          isDeepStrictEqual({ ...it, Resource: '' }, { ...plainDenial, Action: action, Resource: '' }),
        ).flatMap(({ Resource }) => (Array.isArray(Resource) ? Resource : [Resource]).map(textOf)),
      );
    for (const [name, { Properties }] of template.all<Record<string, Value>>('AWS::S3::Bucket')) {
      expect(deniedBy('AWS::S3::BucketPolicy', 's3:*')).toEqual(
        expect.arrayContaining([`\${${name}.Arn}`, `\${${name}.Arn}/*`]),
      );
      expect(Properties.BucketEncryption, name).toBeDefined();
    }
    const queues = template.all<Record<string, Value>>('AWS::SQS::Queue');
    expect(queues.size).toBeGreaterThan(1);
    for (const [name, { Properties }] of queues) {
      expect(deniedBy('AWS::SQS::QueuePolicy', 'sqs:*')).toContain(`\${${name}.Arn}`);
      expect(Properties.SqsManagedSseEnabled, name).toBe(true);
    }
  });

  test('a secret has no value until the operator gives it one', () => {
    expect(template.the('AWS::SecretsManager::Secret').Properties).toEqual({
      Name: 'Parlance/push-relay-org-key',
      Description: 'Parlance: push-relay-org-key',
    });
  });

  test('the key that seals tokens is rotated each year, and stays when the stack is deleted', () => {
    const key = template.the('AWS::KMS::Key');
    expect(key.Properties).toMatchObject({ EnableKeyRotation: true });
    expect(key.DeletionPolicy).toBe('RetainExceptOnCreate');
  });

  test('a schedule calls its worker, and has the permission', () => {
    const rule = template.the<{ ScheduleExpression: string; State: string; Targets: { Arn: Value }[] }>(
      'AWS::Events::Rule',
    );
    expect(rule.Properties).toMatchObject({ ScheduleExpression: 'rate(1 hour)', State: 'ENABLED' });
    expect(rule.Properties.Targets.map(({ Arn }) => textOf(Arn))).toEqual([`\${RetentionFunction.Arn}`]);
    const callers = [
      ...template.all<{ Principal: string; SourceArn: Value }>('AWS::Lambda::Permission').values(),
    ].filter(({ Properties }) => Properties.Principal === 'events.amazonaws.com');
    expect(callers.map(({ Properties }) => textOf(Properties.SourceArn))).toEqual([
      `\${RetentionSchedule.Arn}`,
    ]);
  });

  test('a changed document is deployed again', () => {
    const deploymentOf = ({ resources }: Template) =>
      Object.keys(resources).filter((id) => resources[id]?.Type === 'AWS::ApiGateway::Deployment');
    const { endpoints, workers } = fixtures;
    const [first = expect.fail('no endpoint'), ...rest] = endpoints;
    const renamed = [{ ...first, gatewayPath: '/api/v1/other' }, ...rest];
    const same = synthesized(bundles, join(folder, 'same'), fixtures, { context });
    const moved = synthesized(bundles, join(folder, 'moved'), { endpoints: renamed, workers }, { context });
    expect(deploymentOf(same)).toEqual(deploymentOf(template));
    expect(deploymentOf(moved)).not.toEqual(deploymentOf(template));
  });

  test.each([
    ["queue 'nowhere'", { queues: ['nowhere'] }],
    ["name of the secret 'nobodys'", { secrets: ['nobodys'] }],
  ])('a declaration that needs something unknown is a clear error: the %s', (what, needs) => {
    const [first = expect.fail('no endpoint')] = fixtures.endpoints;
    const lost = { ...first, needs: { table: [], ...needs } };
    expect(() => synthesized(bundles, join(folder, 'lost'), { endpoints: [lost], workers: [] })).toThrow(
      `A declaration needs the ${what}, which the stack does not have.`,
    );
  });
});
