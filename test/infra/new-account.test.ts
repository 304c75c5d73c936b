import { describe, expect, test } from 'vitest';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import type { FunctionProperties, Template, Value } from '../support/template.ts';
import { everySetting, standIns, wholeStack } from '../support/whole-stack.ts';
import { synthesized, temporaryFolder } from './fixtures/synthesized.ts';

/** The quotas of AWS that bound a template, as a new account has them (documented by AWS, November 2026). */
const quotas = {
  /** MB of a function: new accounts get no more until AWS raises it. */
  functionMemory: 3_008,
  /** Resources (parts of paths) of a REST API. */
  apiResources: 300,
  /** Rules of X-Ray, response headers policies of CloudFront, receipt rule sets of SES, in the account. */
  samplingRules: 25,
  headersPolicies: 20,
  receiptRuleSets: 40,
  /** Indexes of a table, and those that one deployment may create with it. */
  tableIndexes: 20,
  /** Requests a second, and at once, of all REST APIs together, in the regions where they are lowest. */
  gatewayRate: 2_500,
  gatewayBurst: 1_250,
} as const;

const folder = await temporaryFolder();

describe.each([
  ['nothing set', {}],
  ['everything set', everySetting],
])('a new account with %s', (_, context) => {
  const template: Template = wholeStack(context);
  const functions = [...template.all<FunctionProperties>('AWS::Lambda::Function')];

  test('can run every function, with no reserved or provisioned concurrency, and no more memory than allowed', () => {
    expect(functions.length).toBeGreaterThan(80);
    for (const [id, { Properties }] of functions) {
      expect(Properties.ReservedConcurrentExecutions, id).toBeUndefined();
      expect(Properties.MemorySize, id).toBeLessThanOrEqual(quotas.functionMemory);
    }
    expect(template.all('AWS::Lambda::Version').size + template.all('AWS::Lambda::Alias').size).toBe(0);
    for (const { Properties } of template.all('AWS::Lambda::EventSourceMapping').values())
      expect(Properties).not.toHaveProperty('ProvisionedPollerConfig');
  });

  test('has room for the paths of the API, and for the rate of each method', () => {
    const { Body } = template.the<{ Body: { paths: Record<string, Value> } }>(
      'AWS::ApiGateway::RestApi',
    ).Properties;
    const parts = new Set(
      Object.keys(Body.paths).flatMap((path) => {
        const segments = path.split('/');
        return segments.map((_, i) => segments.slice(0, i + 1).join('/'));
      }),
    );
    expect(parts.size).toBeLessThanOrEqual(quotas.apiResources);
    const { MethodSettings } = template.the<{
      MethodSettings: readonly { ThrottlingRateLimit: number; ThrottlingBurstLimit: number }[];
    }>('AWS::ApiGateway::Stage').Properties;
    for (const { ThrottlingRateLimit, ThrottlingBurstLimit } of MethodSettings) {
      expect(ThrottlingRateLimit).toBeLessThanOrEqual(quotas.gatewayRate);
      expect(ThrottlingBurstLimit).toBeLessThanOrEqual(quotas.gatewayBurst);
    }
  });

  test('has room for more than one stack in all limits of the account', () => {
    const count = (type: string) => template.all(type).size;
    expect(2 * count('AWS::XRay::SamplingRule')).toBeLessThanOrEqual(quotas.samplingRules);
    expect(2 * count('AWS::CloudFront::ResponseHeadersPolicy')).toBeLessThanOrEqual(quotas.headersPolicies);
    expect(2 * count('AWS::SES::ReceiptRuleSet')).toBeLessThanOrEqual(quotas.receiptRuleSets);
    const { GlobalSecondaryIndexes } = template.the<{ GlobalSecondaryIndexes: readonly Value[] }>(
      'AWS::DynamoDB::Table',
    ).Properties;
    expect(GlobalSecondaryIndexes.length).toBeLessThanOrEqual(quotas.tableIndexes);
  });

  test('keeps after a failed first deployment only the empty table, which costs nothing and has no fixed name', () => {
    const kept = Object.values(template.resources).filter(
      ({ DeletionPolicy }) => DeletionPolicy === 'Retain',
    );
    expect(kept.map(({ Type }) => Type)).toEqual(['AWS::DynamoDB::Table']);
    for (const type of ['AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::KMS::Key']) {
      for (const { Properties, DeletionPolicy } of template.all(type).values()) {
        expect(DeletionPolicy).toMatch(/^Retain/);
        for (const name of ['TableName', 'BucketName', 'KeyName'])
          expect(Properties).not.toHaveProperty(name);
      }
    }
  });
});

describe('resources with a price per hour', () => {
  /** Endpoints that need any of this. A stack of all takes much longer. */
  const dear = endpoints.filter(({ needs }) => needs.secrets || needs.key);
  const hourly = ['AWS::SecretsManager::Secret', 'AWS::KMS::Key', 'AWS::WAFv2::WebACL'];
  const countOf = (context: Readonly<Record<string, string>>) => {
    const template = synthesized(standIns, folder, { endpoints: dear, workers }, { context });
    const [secrets, keys, acls] = hourly.map((type) => template.all(type).size);
    const polled = [...template.all('AWS::Lambda::EventSourceMapping').keys()];
    return { secrets, keys, acls, polled };
  };
  const polled = ['ExportTrigger', 'OutboxTrigger'];

  test.each([
    [{}, { secrets: 0, keys: 0, acls: 0, polled }],
    [{ zoomClientId: 'us' }, { secrets: 1, keys: 1, acls: 0, polled }],
    [{ webexClientId: 'us' }, { secrets: 1, keys: 1, acls: 0, polled }],
    [
      { oidcIssuer: 'https://id.example.com', oidcClientId: 'us' },
      { secrets: 1, keys: 0, acls: 0, polled },
    ],
    [
      { pushRelayUrl: 'https://push.example.com' },
      { secrets: 1, keys: 1, acls: 0, polled: [...polled, 'PushTrigger'] },
    ],
    [
      { mailDomain: 'mail.example.com' },
      { secrets: 0, keys: 0, acls: 0, polled: [...polled, 'IncomingMailTrigger', 'MailOutTrigger'] },
    ],
  ])('exist only if a setting needs them: %o', (context, expected) => {
    const { polled: found, ...counts } = countOf(context as Readonly<Record<string, string>>);
    expect({ ...counts, polled: found.sort() }).toEqual({ ...expected, polled: expected.polled.sort() });
  });
});

/** The properties by which a resource has a name that CloudFormation does not make up. */
const naming = [
  'FunctionName',
  'LogGroupName',
  'AlarmName',
  'DashboardName',
  'RuleSetName',
  'RuleName',
  'Name',
];

/** Parts of a resource in which its name stands. */
const inner = ['SamplingRule', 'ResponseHeadersPolicyConfig', 'OriginAccessControlConfig'];

/** Names that may be taken twice, or are of another resource. */
const shared = [
  'AWS::ApiGateway::RestApi',
  'AWS::SES::ReceiptRule',
  'AWS::Lambda::Permission',
  'AWS::Lambda::WebFunctionEndpoint',
  'AWS::Lambda::WebFunctionRevision',
  'AWS::Lambda::EventSourceMapping',
];

/** Every name that the template fixes, with its kind. */
function fixedNames({ resources }: Template): string[] {
  return Object.values(resources)
    .filter(({ Type }) => !shared.includes(Type))
    .flatMap(({ Type, Properties = {} }) => {
      const parts = [Properties, ...inner.map((part) => Properties[part] ?? {})] as Record<string, Value>[];
      return parts.flatMap((part) =>
        naming.flatMap((name) => (part[name] === undefined ? [] : [`${Type} ${JSON.stringify(part[name])}`])),
      );
    });
}

test('two stacks with all settings fit into one region of an account, without common names or metrics', () => {
  const [first, second] = [{}, { stackName: 'Second' }].map((other) =>
    wholeStack({ ...everySetting, ...other }),
  ) as [Template, Template];
  const names = fixedNames(first);
  expect(names.length).toBeGreaterThan(130);
  for (const type of ['Lambda::Function', 'Logs::LogGroup', 'CloudWatch::Alarm', 'CloudWatch::Dashboard'])
    expect(names.some((name) => name.startsWith(`AWS::${type} `))).toBe(true);
  expect(names.filter((name) => fixedNames(second).includes(name))).toEqual([]);
  // Functions, alarms and the page of a stack agree on the name under which it counts.
  const told = JSON.stringify(second.resources);
  const counting = [...second.all<FunctionProperties>('AWS::Lambda::Function').values()].filter(
    ({ Properties }) => Properties.FunctionName !== 'Second-deployment-tasks',
  );
  for (const { Properties } of counting)
    expect(Properties.Environment?.Variables.METRICS_NAMESPACE).toBe('Second');
  expect(told).toMatch(/SEARCH\('\{\\+"Second\\+",Code\}/);
  expect(told).not.toMatch(/"Namespace":"Parlance"|\{\\+"Parlance\\+"/);
});
