import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  Metric,
  Row,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { getEvents } from '../shared/endpoints/events.ts';
import { sendMessage } from '../shared/endpoints/messages.ts';
import { type MetricName, metrics } from '../shared/kernel/outside.ts';
import { tableSchema } from './table-schema.ts';
import type { Watched } from './watched.ts';

const period = Duration.minutes(5);
const third = 8;

/** A dashboard of the service: alarms, requests, durations, and work that waits. */
export class Overview extends Construct {
  constructor(scope: Construct, id: string, watched: Watched, alarms: readonly Alarm[]) {
    super(scope, id);
    const { stackName, region } = Stack.of(this);
    new Dashboard(this, 'Dashboard', {
      dashboardName: stackName,
      widgets: [
        [new AlarmStatusWidget({ title: 'Alarms', width: 24, alarms: [...alarms] })],
        ...widgets(watched, region, countedIn(stackName)).map((row) => [new Row(...row.flat())]),
      ],
    });
  }
}

/** A graph, or none without metrics: CloudWatch refuses a dashboard with an empty graph. */
const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget[] =>
  left.length + right.length === 0
    ? []
    : [new GraphWidget({ title, width: third, left: [...left], right: [...right], period })];

/** One line for each kind of a metric that functions count. */
const countedIn =
  (namespace: string) =>
  (name: MetricName): MathExpression =>
    new MathExpression({
      expression: `SEARCH('{${[`"${namespace}"`, metrics[name]].filter(Boolean).join(',')}} MetricName="${name}"', 'Sum')`,
      usingMetrics: {},
      label: '',
      period,
    });

function widgets(
  { table, api, lambdas, listeners, work, deadLetters, webAcl }: Watched,
  region: string,
  counted: ReturnType<typeof countedIn>,
): IWidget[][][] {
  const [poll, send] = [lambdas.get(getEvents.id), lambdas.get(sendMessage.id)];
  const label = (text: string) => ({ label: text, period });
  return [
    [
      graph('Requests', [api.metric('Count', { statistic: 'Sum', ...label('all') })]),
      graph('Errors by code', [counted('Errors')]),
      graph('Gateway errors', [
        api.metric('4XXError', { statistic: 'Sum', ...label('4xx, throttled ones too') }),
        api.metric('5XXError', { statistic: 'Sum', ...label('5xx') }),
      ]),
    ],
    [
      graph(
        'Sending a message (ms)',
        send
          ? ['p50', 'p99'].map((statistic) => send.metricDuration({ statistic, ...label(statistic) }))
          : [],
      ),
      graph(
        'Clients that wait',
        poll ? [poll.metric('ConcurrentExecutions', { statistic: 'Maximum', ...label('at once') })] : [],
      ),
      graph(
        'The server that holds polls',
        listeners.map(
          ({ name }) =>
            new MathExpression({
              expression: `SEARCH('Namespace="AWS/Lambda/Web" FunctionName="${name}"', 'Maximum')`,
              usingMetrics: {},
              label: '',
              period,
            }),
        ),
      ),
      graph('Holes filled, work failed, requests that the store refused', [
        counted('HolesFilled'),
        counted('WorkFailures'),
        counted('StoreThrottled'),
      ]),
    ],
    [
      graph(
        'Units of the table',
        ['ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits'].map((name) =>
          table.metric(name, { statistic: 'Sum', ...label(name) }),
        ),
        ['ReadThrottleEvents', 'WriteThrottleEvents'].flatMap((name) => [
          table.metric(name, { statistic: 'Sum', ...label(name) }),
          ...tableSchema.indexes.map((index) =>
            table.metric(name, {
              statistic: 'Sum',
              dimensionsMap: { TableName: table.tableName, GlobalSecondaryIndexName: index.name },
              ...label(`${name}, ${index.name}`),
            }),
          ),
        ]),
      ),
      graph(
        'Work that waits (s), dead letters',
        work.map(({ name, queue }) => queue.metricApproximateAgeOfOldestMessage(label(name))),
        [deadLetters.metricApproximateNumberOfMessagesVisible(label('given up'))],
      ),
      graph(
        'Stopped by the web ACL',
        webAcl === undefined
          ? []
          : [
              new Metric({
                namespace: 'AWS/WAFV2',
                metricName: 'BlockedRequests',
                dimensionsMap: { WebACL: webAcl, Region: region, Rule: 'ALL' },
                statistic: 'Sum',
              }),
            ],
      ),
    ],
  ];
}
