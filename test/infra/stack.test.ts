import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Bundles, buildFunctions } from '../../infra/build.ts';
import { everyEndpoint } from '../../shared/endpoints/all.ts';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { listenersFor } from '../../shared/endpoints/listener.ts';
import { type OperatorSetting, operatorSettings } from '../../shared/endpoints/operator-setting.ts';
import { workers as everyWorker, type Worker } from '../../shared/endpoints/workers.ts';
import { bundleBudget, designBudgets } from '../support/design-budgets.ts';
import { type Template, textOf, type Value } from '../support/template.ts';
import { everySetting } from '../support/whole-stack.ts';
import * as fixtures from './fixtures/declarations.ts';
import { sources as fixtureSources, synthesized, temporaryFolder } from './fixtures/synthesized.ts';

const root = resolve(import.meta.dirname, '../..');

/** Seconds after which the gateway gives up on a function. */
const gatewayLimit = 29;

/** Bytes that CloudFormation takes of a template. */
const templateLimit = 1_000_000;

interface Metafile {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
  >;
}

const upperCamel = (name: string) =>
  name.replace(/(?:^|[.-])(.)/g, (_, first: string) => first.toUpperCase());
const upperSnake = (name: string) => name.replaceAll('-', '_').toUpperCase();

/** Traces belong to no resource that could be named. */
const traces = ['xray:PutTelemetryRecords on *', 'xray:PutTraceSegments on *'];

/** What a declaration's function must be allowed, line by line, said here once more and in other words. */
const expectedGrants = (it: Endpoint | Worker): string[] => {
  const { table, queues = [], buckets = {}, secrets = [], key = [] } = it.needs;
  return [
    ...table.map((action) => `dynamodb:${action} on \${Table.Arn}`),
    ...(table.includes('Query')
      ? ['by-channel', 'by-conversation'].map((index) => `dynamodb:Query on \${Table.Arn}/index/${index}`)
      : []),
    ...queues.map((name) => `sqs:SendMessage on \${${upperCamel(name)}WorkQueue.Arn}`),
    ...Object.entries(buckets).flatMap(([name, actions]) =>
      actions.map((action) => `s3:${action} on \${${upperCamel(name)}Bucket.Arn}/*`),
    ),
    ...(it.needs.countsRequests && !it.needs.table.includes('UpdateItem') ? [countsRequests] : []),
    ...secrets.map((name) => `secretsmanager:GetSecretValue on \${${upperCamel(name)}Secret}`),
    ...key.map((action) => `kms:${action} on \${TokenKey.Arn}`),
    ...(it.needs.mail
      ? [
          `ses:SendEmail on arn:\${AWS::Partition}:ses:\${AWS::Region}:\${AWS::AccountId}:identity/${everySetting.mailDomain}`,
        ]
      : []),
    ...('queue' in it
      ? ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map(
          (action) => `sqs:${action} on \${${upperCamel(it.queue.name)}WorkQueue.Arn}`,
        )
      : []),
    ...['CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action} on \${${logsOf(it.id)}.Arn}`),
    ...traces,
  ].sort();
};

/** The log group of a function: the one of its folder. */
const logsOf = (id: string): string =>
  `Logs${upperCamel(id.includes('.') ? (id.split('.')[0] ?? '') : 'workers')}`;

/** Functions that only read may write the counters of their callers' requests, and nothing else. */
const countsRequests = `dynamodb:UpdateItem on \${Table.Arn} if {"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["*/requests/*"]}}`;

/** The environment that a declaration's function must have, and no more. */
const expectedEnvironment = (it: Endpoint | Worker): Record<string, string> => {
  const { table, queues = [], buckets = {}, secrets = [], key, settings = [] } = it.needs;
  return Object.fromEntries([
    ['METRICS_NAMESPACE', 'Parlance'],
    ...(table.length > 0 ? [['TABLE_NAME', `\${Table}`]] : []),
    ...queues.map((name) => [`QUEUE_${upperSnake(name)}_URL`, `\${${upperCamel(name)}WorkQueue}`]),
    ...Object.keys(buckets).map((name) => [`BUCKET_${upperSnake(name)}`, `\${${upperCamel(name)}Bucket}`]),
    ...secrets.map((name) => [`SECRET_${upperSnake(name)}_ARN`, `\${${upperCamel(name)}Secret}`]),
    ...(key ? [['KEY_ARN', `\${TokenKey.Arn}`]] : []),
    ...(it.needs.site ? [['SITE', 'https://chat.example.com']] : []),
    ...settings.flatMap((name) => {
      const { context, fallback }: OperatorSetting = operatorSettings[name];
      const value = Object.entries(everySetting).find(([set]) => set === context)?.[1] ?? fallback;
      return value === undefined ? [] : [[name, value]];
    }),
  ]);
};

/** Longest time (ms) for building everything and checking its template on a busy machine. */
const BUILDING = 120_000;

const folder = await temporaryFolder();

describe.each([
  { name: 'the fixtures', ...fixtures, sources: fixtureSources, dist: join(folder, 'dist') },
  {
    name: 'the service',
    endpoints: everyEndpoint,
    workers: everyWorker,
    sources: join(root, 'functions'),
    dist: join(root, 'dist'),
  },
])('the stack of $name', ({ name, endpoints, workers, sources, dist }) => {
  const declarations: readonly (Endpoint | Worker)[] = [...endpoints, ...workers];
  const outdir = join(folder, name);
  let bundles: Bundles;
  let template: Template;

  beforeAll(async () => {
    ({ bundles } = await buildFunctions({ endpoints, workers, sources, outdir: dist }));
    template = synthesized(bundles, outdir, { endpoints, workers }, { context: everySetting });
  }, BUILDING);

  test('has room to grow', () => {
    expect(Object.keys(template.resources).length).toBeLessThanOrEqual(designBudgets.resources);
    expect(statSync(join(outdir, 'Parlance.template.json')).size).toBeLessThanOrEqual(templateLimit);
  });

  test('has one function for each declaration, and its code in the assembly', () => {
    const deploying = template.all('Custom::AWS').size > 0 ? 1 : 0;
    expect(template.all('AWS::Lambda::Function').size).toBe(declarations.length + deploying);
    for (const { id } of declarations) {
      const [name, lambda] = template.functionOf(id);
      expect(name).toBe(`${upperCamel(id)}Function`);
      expect(lambda.Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
      });
      const code = readFileSync(join(outdir, String(lambda.Metadata?.['aws:asset:path']), 'index.mjs'));
      expect(code.length).toBe(bundles[id]?.bytes);
    }
  });

  test('gives each function exactly the permissions that its declaration needs', () => {
    for (const it of declarations) expect(template.grantsOf(it.id)).toEqual(expectedGrants(it));
  });

  test('allows nothing by wildcard, and no scan, no listing, no batch of writes', () => {
    for (const { id } of declarations) {
      for (const grant of template.grantsOf(id).filter((it) => !traces.includes(it))) {
        const [action, resource] = grant.split(/ on | if /);
        expect(action).not.toMatch(/\*|Scan|BatchWrite|List|Delete(Table|Bucket|Queue)/);
        // The objects of a bucket have no other name; of anything else a wildcard would be too much.
        expect(resource).toMatch(action?.startsWith('s3:') ? /^[^*]+\/\*$/ : /^[^*]+$/);
      }
    }
  });

  test('has in the environment of each function only what it needs', () => {
    for (const it of declarations) {
      const { Variables = {} } = template.functionOf(it.id)[1].Properties.Environment ?? {};
      const found = Object.entries(Variables).map(([key, value]) => [key, textOf(value)]);
      expect(Object.fromEntries(found)).toEqual({ ...expectedEnvironment(it), CODE: bundles[it.id]?.code });
    }
  });

  test('has one log group for the functions of each area, which expires', () => {
    for (const { id } of declarations) {
      const logs = template.the('AWS::Logs::LogGroup', logsOf(id));
      expect(logs.Properties).toMatchObject({
        LogGroupName: `/Parlance/${id.includes('.') ? id.split('.')[0] : 'workers'}`,
        RetentionInDays: 30,
      });
      expect(textOf(template.functionOf(id)[1].Properties.LoggingConfig?.LogGroup ?? '')).toBe(
        `\${${logsOf(id)}}`,
      );
    }
    const used = new Set(declarations.map(({ id }) => logsOf(id)));
    expect(new Set(template.all('AWS::Logs::LogGroup').keys())).toEqual(used);
  });

  test('routes every path to its function, which the gateway calls by its own role', () => {
    const { Body } = template.the<{ Body: { paths: Record<string, Record<string, Value>> } }>(
      'AWS::ApiGateway::RestApi',
    ).Properties;
    for (const { id, method, gatewayPath } of endpoints) {
      const target = `\${${upperCamel(id)}Function.Arn}`;
      for (const verb of method === 'GET' ? ['get', 'head'] : [method.toLowerCase()]) {
        const route = Body.paths[gatewayPath]?.[verb] as {
          'x-amazon-apigateway-integration': { uri: Value; credentials: Value };
        };
        const { uri, credentials } = route['x-amazon-apigateway-integration'];
        expect(textOf(credentials)).toBe(`\${ApiInvocationRole.Arn}`);
        expect(textOf(uri)).toBe(
          `arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path/2015-03-31/functions/${target}/invocations`,
        );
      }
    }
  });

  test('gives every function behind the gateway a shorter time than the gateway', () => {
    for (const { id } of endpoints) {
      expect(template.functionOf(id)[1].Properties.Timeout).toBeLessThan(gatewayLimit);
    }
  });

  test('gives every work queue time for six tries, and one dead-letter queue', () => {
    expect(template.the('AWS::SQS::Queue', 'DeadLetters').Properties).toMatchObject({
      MessageRetentionPeriod: 14 * 24 * 60 * 60,
    });
    for (const worker of workers.filter((it) => 'queue' in it)) {
      const name = `${upperCamel(worker.queue.name)}WorkQueue`;
      const queue = template.the<{ VisibilityTimeout: number; RedrivePolicy: Record<string, Value> }>(
        'AWS::SQS::Queue',
        name,
      ).Properties;
      expect(queue.VisibilityTimeout).toBeGreaterThanOrEqual(6 * worker.timeout);
      expect(textOf(queue.RedrivePolicy.deadLetterTargetArn ?? '')).toBe(`\${DeadLetters.Arn}`);
      expect(queue.RedrivePolicy.maxReceiveCount).toBe(worker.queue.maxReceives);
      const trigger = template.the('AWS::Lambda::EventSourceMapping', `${upperCamel(worker.id)}Trigger`);
      expect(trigger.Properties).toMatchObject({
        BatchSize: worker.queue.batchSize,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      });
      expect(textOf(trigger.Properties.EventSourceArn ?? '')).toBe(`\${${name}.Arn}`);
      // With a limit Lambda could not go down to two polls at once in quiet hours, and each poll costs.
      expect(trigger.Properties).not.toHaveProperty('ScalingConfig');
    }
  });

  test('lets no function trigger itself endlessly, except those that are meant to', () => {
    for (const it of declarations) {
      const isMeant = 'queue' in it && (it.needs.queues ?? []).includes(it.queue.name);
      const { RecursiveLoop } = template.functionOf(it.id)[1].Properties;
      expect(RecursiveLoop, it.id).toBe(isMeant ? 'Allow' : undefined);
    }
  });

  test('keeps every function of an endpoint, and every listener, within its size budget', () => {
    const { outputs }: Metafile = JSON.parse(readFileSync(join(dist, 'metafile.json'), 'utf8'));
    for (const { id } of [...endpoints, ...listenersFor(endpoints)]) {
      const output = Object.entries(outputs).find(([file]) => file.endsWith(`/${id}/index.mjs`))?.[1];
      const inputs = Object.entries(output?.inputs ?? expect.fail(`${id} is not in the metafile`));
      const held = inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
      expect(bundles[id]?.bytes, id).toBeLessThanOrEqual(bundleBudget(held));
    }
  });

  test('has a declaration for every function that is written', async () => {
    const files = (await readdir(sources, { recursive: true })).filter((file) => file.endsWith('.ts'));
    const declared = [...declarations, ...listenersFor(endpoints)].map(({ id }) =>
      id.includes('.') ? `${id.replace('.', '/')}.ts` : `workers/${id}.ts`,
    );
    expect(files.sort()).toEqual(declared.sort());
  });
});

describe('the command in cdk.json', () => {
  const outdir = join(folder, 'from the command');

  beforeAll(async () => {
    const { app } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8'));
    const [command, ...args] = app.split(' ');
    await promisify(execFile)(command, args, {
      cwd: root,
      env: {
        ...process.env,
        CDK_OUTDIR: outdir,
        MACHINE: 'this',
        CDK_CONTEXT_JSON: JSON.stringify({
          'aws:cdk:enable-path-metadata': true,
          'aws:cdk:enable-asset-metadata': false,
          ...everySetting,
        }),
      },
    });
  }, BUILDING);

  test('writes the same template as the local cloud uses, whatever the CDK requests', () => {
    const [mine, theirs] = [outdir, join(folder, 'the service')].map((it) =>
      readFileSync(join(it, 'Parlance.template.json'), 'utf8'),
    );
    expect(mine).toBe(theirs);
  });

  test('writes a template that satisfies the schemas of CloudFormation', () => {
    const report = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8'));
    const reports: readonly { readonly conclusion: string; readonly violations: readonly unknown[] }[] =
      report.pluginReports;
    // What is explained where it stands is left out of the reports.
    for (const { conclusion, violations } of reports)
      expect([conclusion, violations]).toEqual(['success', []]);
  });
});
