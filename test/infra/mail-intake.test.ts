import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Bundles, buildFunctions } from '../../infra/build.ts';
import { getChannelEmailAddress } from '../../shared/endpoints/channels.ts';
import { incomingMail } from '../../shared/endpoints/workers.ts';
import { type Template, textOf, type Value } from '../support/template.ts';
import { synthesized, temporaryFolder } from './fixtures/synthesized.ts';

const declarations = { endpoints: [getChannelEmailAddress], workers: [incomingMail] };
const folder = await temporaryFolder();

let bundles: Bundles;
const templateWith = (context: Readonly<Record<string, string>>): Template =>
  synthesized(bundles, join(folder, JSON.stringify(context)), declarations, { context });

beforeAll(async () => {
  // All of them, which a run of all tests has built already.
  ({ bundles } = await buildFunctions());
});

test('without a domain nothing receives mail, and nothing costs', () => {
  const off = templateWith({});
  expect(off.all('AWS::Lambda::Function').size).toBe(1);
  for (const type of [
    'AWS::S3::Bucket',
    'AWS::Lambda::EventSourceMapping',
    'AWS::SES::ReceiptRule',
    'AWS::SES::ReceiptRuleSet',
  ])
    expect(off.all(type).size, type).toBe(0);
  const [, { Properties }] = off.functionOf(getChannelEmailAddress.id);
  expect(Properties.Environment?.Variables).not.toHaveProperty('MAIL_DOMAIN');
});

test('the worker that parses mail is small enough to start fast', () => {
  expect(bundles['incoming-mail']?.bytes).toBeLessThan(430 * 1024);
});

describe('with a domain', () => {
  let on: Template;
  beforeAll(() => {
    on = templateWith({ mailDomain: 'mail.example.com' });
  });

  test('the endpoint and the worker have it in their environment', () => {
    for (const { id } of [getChannelEmailAddress, incomingMail])
      expect(on.functionOf(id)[1].Properties.Environment?.Variables).toMatchObject({
        MAIL_DOMAIN: 'mail.example.com',
      });
  });

  test('SES receives mail for it over TLS only, scans it and stores it in the bucket', () => {
    expect(on.the('AWS::SES::ReceiptRule').Properties).toEqual({
      RuleSetName: 'Parlance-mail',
      Rule: {
        Name: 'channels',
        Enabled: true,
        Recipients: ['mail.example.com'],
        ScanEnabled: true,
        TlsPolicy: 'Require',
        Actions: [
          {
            S3Action: {
              BucketName: { Ref: expect.stringMatching(/^IncomingMailBucket/) },
              ObjectKeyPrefix: 'mail/',
            },
          },
        ],
      },
    });
    expect(on.the('AWS::SES::ReceiptRuleSet').Properties).toEqual({ RuleSetName: 'Parlance-mail' });
  });

  test('the bucket is private, accepts mail only from SES, and expires it', () => {
    expect(on.the('AWS::S3::Bucket', 'IncomingMailBucket').Properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      LifecycleConfiguration: {
        Rules: expect.arrayContaining([{ ExpirationInDays: 14, Status: 'Enabled' }]),
      },
    });
    const { Statement } = on.the<{ PolicyDocument: { Statement: readonly Grant[] } }>(
      'AWS::S3::BucketPolicy',
      'IncomingMailBucketPolicy',
    ).Properties.PolicyDocument;
    const [overTls, fromSes, ...others] = Statement;
    expect(others).toEqual([]);
    expect(overTls).toMatchObject({
      Effect: 'Deny',
      Action: 's3:*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
    expect(fromSes).toMatchObject({
      Effect: 'Allow',
      Principal: { Service: 'ses.amazonaws.com' },
      Action: 's3:PutObject',
    });
    expect(textOf(fromSes?.Resource ?? '')).toBe(`\${IncomingMailBucket.Arn}/mail/*`);
    expect(
      Object.entries(fromSes?.Condition.StringEquals ?? {}).map(
        ([name, value]) => `${name}=${textOf(value)}`,
      ),
    ).toEqual([
      `aws:SourceAccount=\${AWS::AccountId}`,
      `aws:SourceArn=arn:\${AWS::Partition}:ses:\${AWS::Region}:\${AWS::AccountId}:receipt-rule-set/Parlance-mail:receipt-rule/channels`,
    ]);
  });

  test('S3 sends the queue a message for each mail, and has the permission', () => {
    const { NotificationConfiguration } = on.the<{ NotificationConfiguration: object }>(
      'AWS::S3::Bucket',
      'IncomingMailBucket',
    ).Properties;
    expect(NotificationConfiguration).toEqual({
      QueueConfigurations: [
        {
          Event: 's3:ObjectCreated:*',
          Queue: { 'Fn::GetAtt': [expect.stringMatching(/^IncomingMailWorkQueue/), 'Arn'] },
          Filter: { S3Key: { Rules: [{ Name: 'prefix', Value: 'mail/' }] } },
        },
      ],
    });
    const { Statement } = on.the<{ PolicyDocument: { Statement: readonly Grant[] } }>(
      'AWS::SQS::QueuePolicy',
      'IncomingMailWorkQueuePolicy',
    ).Properties.PolicyDocument;
    expect(Statement).toMatchObject([
      { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      {
        Effect: 'Allow',
        Principal: { Service: 's3.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
  });

  test('each resource depends on those that it needs, since AWS checks them at once', () => {
    const dependsOn = (type: string, name?: string): string =>
      JSON.stringify((on.the(type, name) as unknown as { DependsOn: unknown }).DependsOn);
    expect(dependsOn('AWS::S3::Bucket', 'IncomingMailBucket')).toContain('IncomingMailWorkQueuePolicy');
    for (const part of ['IncomingMailBucketPolicy', 'MailIntakeRules'])
      expect(dependsOn('AWS::SES::ReceiptRule')).toContain(part);
  });
});

interface Grant {
  readonly Effect: string;
  readonly Principal: Value;
  readonly Action: Value;
  readonly Resource: Value;
  readonly Condition: Readonly<Record<string, Readonly<Record<string, Value>>>>;
}
