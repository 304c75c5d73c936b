import type { FunctionProperties, Template, Value } from '../support/template.ts';
import { wholeStack } from '../support/whole-stack.ts';
import { running } from './activity.ts';
import { costOf } from './prices.ts';

/** Hours of a month, as AWS counts them. */
export const MONTH_HOURS = 730;

/** Requests that Lambda holds open at a quiet queue, and for how long each (AWS's documentation; it may go down to two). */
const POLLERS = 5;
const POLL_SECONDS = 20;

/** One thing that costs money while the service is idle. */
export interface IdleLine {
  readonly item: string;
  readonly arithmetic: string;
  /** A month, before what AWS gives every account for nothing. */
  readonly dollars: number;
  /** After that. */
  readonly charged: number;
}

/** What AWS gives every account for nothing each month, not only in its first year. */
const free = { alarms: 10, dashboards: 3, queueRequests: 1_000_000 } as const;

/** Settings of the operator under which the stack is looked at. */
export const idleSettings = {
  nothing: {},
  everything: {
    pushRelayUrl: 'https://push.example.com',
    zoomClientId: 'zoom',
    webexClientId: 'webex',
    mailDomain: 'mail.example.com',
  },
} as const;

/** The monthly cost of an idle stack, counted in its template. */
export const idleCost = (context: Readonly<Record<string, string>>): readonly IdleLine[] =>
  linesOf(wholeStack(context));

function linesOf(template: Template): IdleLine[] {
  const count = (type: string): number => template.all(type).size;
  const watched = watchedMetrics(template);
  const queues = count('AWS::Lambda::EventSourceMapping');
  const polls = queues * POLLERS * ((MONTH_HOURS * 3_600) / POLL_SECONDS);
  const [secrets, keys, dashboards] = ['SecretsManager::Secret', 'KMS::Key', 'CloudWatch::Dashboard'].map(
    (type) => count(`AWS::${type}`),
  ) as [number, number, number];
  const { runs, dollars: running } = clockwork(template);
  return [
    {
      item: 'alarms: each metric that one looks at',
      arithmetic: `${watched} × $${costOf('alarm', 1)}`,
      dollars: costOf('alarm', watched),
      charged: costOf('alarm', Math.max(0, watched - free.alarms)),
    },
    {
      item: 'queues: requests by which Lambda waits for work',
      arithmetic: `${queues} queues × ${POLLERS} × ${MONTH_HOURS} h × 3,600 s / ${POLL_SECONDS} s × $${costOf('queueRequest', 1e6)} a million`,
      dollars: costOf('queueRequest', polls),
      charged: costOf('queueRequest', Math.max(0, polls - free.queueRequests)),
    },
    {
      item: 'workers that run by the clock, with nothing to do',
      arithmetic: `${runs.toLocaleString('en-US')} runs`,
      dollars: running,
      charged: running,
    },
    {
      item: 'secrets, where something that is set has one',
      arithmetic: `${secrets} × $${costOf('secret', 1).toFixed(2)}`,
      dollars: costOf('secret', secrets),
      charged: costOf('secret', secrets),
    },
    {
      item: 'the key that seals tokens, where there are any',
      arithmetic: `${keys} × $${costOf('key', 1)}`,
      dollars: costOf('key', keys),
      charged: costOf('key', keys),
    },
    {
      item: 'the dashboard',
      arithmetic: `${dashboards} × $${costOf('dashboard', 1)}`,
      dollars: costOf('dashboard', dashboards),
      charged: costOf('dashboard', Math.max(0, dashboards - free.dashboards)),
    },
  ];
}

/** An alarm on an expression is paid for by the metrics in it. */
function watchedMetrics(template: Template): number {
  type Alarm = { readonly Metrics?: readonly { readonly MetricStat?: Value }[] };
  const alarms = [...template.all<Alarm>('AWS::CloudWatch::Alarm').values()];
  return alarms.reduce(
    (sum, { Properties: { Metrics } }) => sum + (Metrics?.filter((it) => it.MetricStat).length ?? 1),
    0,
  );
}

/** How often workers run by the clock in a month, and what that costs: the run, its time, its log and two queries. */
function clockwork(template: Template): { readonly runs: number; readonly dollars: number } {
  type Rule = { readonly ScheduleExpression: string; readonly Targets: readonly { readonly Arn: Value }[] };
  let runs = 0;
  let dollars = 0;
  for (const { Properties } of template.all<Rule>('AWS::Events::Rule').values()) {
    const times = (MONTH_HOURS * 60) / minutesOf(Properties.ScheduleExpression);
    const memory = memoryOf(template, Properties.Targets[0]?.Arn);
    const seconds = (running.base + 2 * running.roundTrip) / 1_000;
    const each =
      costOf('lambdaRequest', 1) +
      costOf('lambdaTime', seconds * (memory / 1_024)) +
      costOf('log', running.logged / 1e9) +
      costOf('readUnit', 2);
    runs += times;
    dollars += times * each;
  }
  return { runs, dollars };
}

function minutesOf(expression: string): number {
  const [, count = '', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const minutes = { minute: 1, hour: 60, day: 1_440 }[unit];
  if (minutes === undefined) throw new Error(`'${expression}' is no rate`);
  return Number(count) * minutes;
}

function memoryOf(template: Template, arn: Value | undefined): number {
  const [logicalId = ''] = (arn as { readonly 'Fn::GetAtt': readonly string[] })['Fn::GetAtt'];
  const { MemorySize } = (template.resources[logicalId]?.Properties ?? {}) as unknown as FunctionProperties;
  if (MemorySize === undefined) throw new Error(`'${logicalId}' is no function`);
  return MemorySize;
}
