import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { workers } from '../../shared/endpoints/workers.ts';
import { metrics } from '../../shared/kernel/outside.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { type Template, textOf, type Value } from '../support/template.ts';
import { everySetting, wholeStack } from '../support/whole-stack.ts';

const root = resolve(import.meta.dirname, '../..');

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: Value }[];
  readonly Threshold: number;
  readonly TreatMissingData: string;
  readonly AlarmActions?: readonly Value[];
  readonly OKActions?: readonly Value[];
  readonly Metrics?: readonly {
    readonly Expression?: string;
    readonly MetricStat?: { readonly Metric: { readonly MetricName: string } };
  }[];
}
const alarmsOf = (of: Template) =>
  [...of.all<Alarm>('AWS::CloudWatch::Alarm').values()].map((it) => it.Properties);

const full = wholeStack({ ...everySetting, pollConcurrency: '200' });
const alarms = alarmsOf(full);
const named = (name: string) =>
  alarms.find(({ AlarmName }) => AlarmName === `Parlance-${name}`) ?? expect.fail(`no alarm ${name}`);
const metricsOf = (name: string) =>
  named(name).Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric.MetricName ?? []);
const dimensionsOf = ({ Dimensions = [] }: Alarm) =>
  Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, textOf(Value)]));

const runbook = readFileSync(join(root, 'infra/RUNBOOK.md'), 'utf8');
const sections = [...runbook.matchAll(/^## (.*)$/gm)].map(([, title]) => title);

describe('alarms', () => {
  test('describe the impact and link to the runbook, which has a section for each alarm and no other', () => {
    const meant = alarms.map(({ AlarmDescription }) => {
      const [, hurt, section] =
        /^([A-Z].{20,}\.) What to do: infra\/RUNBOOK\.md, "(.*)"\.$/s.exec(AlarmDescription) ??
        expect.fail(AlarmDescription);
      expect(hurt).toMatch(/^[A-Z]/);
      return section;
    });
    expect([...new Set(meant)].sort()).toEqual([...sections].sort());
    for (const { AlarmDescription } of alarms) expect(AlarmDescription.length).toBeLessThanOrEqual(1024);
  });

  test('do not go off on an idle service', () => {
    for (const { AlarmName, TreatMissingData } of alarms)
      expect(TreatMissingData, AlarmName).toBe('notBreaching');
  });

  test('watch dead letters and waiting messages of all queues', () => {
    expect(named('DeadLetters')).toMatchObject({
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Threshold: 1,
    });
    expect(dimensionsOf(named('DeadLetters'))).toEqual({ QueueName: `\${DeadLetters.QueueName}` });
    expect(named('WorkLate').Threshold).toBe(1800);
    const queues = workers.flatMap((it) => ('queue' in it ? [it.queue.name] : []));
    expect(metricsOf('WorkLate')).toEqual(queues.map(() => 'ApproximateAgeOfOldestMessage'));
    expect(named('WorkLate').Metrics?.[0]?.Expression).toBe(
      `MAX([${queues.map((_, i) => `FILL(m${i}, 0)`).join(', ')}])`,
    );
  });

  test('watch internal errors at the API of this stack', () => {
    expect(named('Faults')).toMatchObject({
      Namespace: 'AWS/ApiGateway',
      MetricName: '5XXError',
      Threshold: 5,
    });
    const { Name } = full.the('AWS::ApiGateway::RestApi').Properties;
    expect(dimensionsOf(named('Faults'))).toEqual({ ApiName: Name, Stage: 'prod' });
  });

  test('watch throttling of all functions, and how many clients wait', () => {
    expect(named('FunctionsThrottled')).toMatchObject({ Namespace: 'AWS/Lambda', MetricName: 'Throttles' });
    expect(dimensionsOf(named('FunctionsThrottled'))).toEqual({});
    expect(named('PollsCrowded')).toMatchObject({ MetricName: 'ConcurrentExecutions', Threshold: 160 });
    expect(dimensionsOf(named('PollsCrowded'))).toEqual({ FunctionName: `\${EventsGetFunction}` });
    const open = alarmsOf(wholeStack({}));
    expect(open.map(({ AlarmName }) => AlarmName)).not.toContain('Parlance-PollsCrowded');
  });

  test('watch scheduled functions', () => {
    const scheduled = workers.filter((it) => 'schedule' in it);
    expect(metricsOf('ScheduledWorkFailed')).toEqual(scheduled.map(() => 'Errors'));
  });

  test('use no more metrics than AWS offers for free, if nothing is set', () => {
    const watched = alarmsOf(wholeStack({})).map(({ Metrics }) =>
      Metrics === undefined ? 1 : Metrics.filter(({ MetricStat }) => MetricStat).length,
    );
    expect(watched.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10);
  });

  test('watch the metrics that functions count, by the same names', () => {
    for (const [alarm, metric, kind] of [
      ['HolesFilled', 'HolesFilled', undefined],
      ['TableThrottled', 'StoreThrottled', undefined],
      ['ExportsFailed', 'WorkFailures', 'export'],
    ] as const) {
      const it = named(alarm);
      const dimension = metrics[metric];
      expect(it).toMatchObject({ Namespace: 'Parlance', MetricName: metric });
      expect(dimensionsOf(it)).toEqual(dimension === undefined ? {} : { [dimension]: kind });
    }
  });

  test('send mail to the address that the operator set, when they go off and when they end', () => {
    expect(full.the('AWS::SNS::Subscription').Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'operator@example.com',
    });
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions?.map(textOf)).toEqual([`\${AlarmsTopic}`]);
      expect(OKActions?.map(textOf)).toEqual([`\${AlarmsTopic}`]);
    }
    const { Statement } = full.the<{ PolicyDocument: { Statement: readonly Value[] } }>(
      'AWS::SNS::TopicPolicy',
    ).Properties.PolicyDocument;
    expect(Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
  });

  test('exist without an address too, but notify nobody', () => {
    const silent = wholeStack({});
    expect(silent.all('AWS::SNS::Topic').size).toBe(0);
    expect(alarmsOf(silent).length).toBeGreaterThan(7);
    for (const { AlarmActions } of alarmsOf(silent)) expect(AlarmActions).toBeUndefined();
  });
});

test('the dashboard shows each alarm, and a line for each code of error', () => {
  const { DashboardBody, DashboardName } = full.the('AWS::CloudWatch::Dashboard').Properties;
  expect(DashboardName).toBe('Parlance');
  const { widgets } = JSON.parse(textOf(DashboardBody ?? ''));
  const [status] = widgets;
  expect(status.properties.alarms).toEqual(
    [...full.all('AWS::CloudWatch::Alarm').keys()].map((name) => `\${${name}.Arn}`),
  );
  const shown = widgets.flatMap((it: { properties: { metrics?: Value[] } }) => it.properties.metrics ?? []);
  expect(shown).toContainEqual([
    expect.objectContaining({ expression: `SEARCH('{"Parlance",Code} MetricName="Errors"', 'Sum')` }),
  ]);
  for (const index of ['by-channel', 'by-conversation']) {
    for (const name of ['ReadThrottleEvents', 'WriteThrottleEvents'])
      expect(shown).toContainEqual(expect.arrayContaining([name, 'GlobalSecondaryIndexName', index]));
  }
  expect(shown).toContainEqual(expect.arrayContaining(['BlockedRequests', 'WebACL', 'Parlance-WebAcl']));
});

test('every graph of the dashboard has a metric for any settings, since CloudWatch refuses empty ones', () => {
  for (const template of [full, wholeStack({})]) {
    const { DashboardBody } = template.the('AWS::CloudWatch::Dashboard').Properties;
    const graphs = JSON.parse(textOf(DashboardBody ?? '')).widgets.filter(
      ({ type }: { type: string }) => type === 'metric',
    );
    expect(graphs.length).toBeGreaterThan(6);
    for (const { properties } of graphs)
      expect(properties.metrics?.length, properties.title).toBeGreaterThan(0);
  }
});

test('the stack has room to grow even with all settings', () => {
  expect(Object.keys(full.resources).length).toBeLessThanOrEqual(designBudgets.resources);
});
