import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { getEvents } from '../shared/endpoints/events.ts';
import { exportWorker } from '../shared/endpoints/workers.ts';
import { type MetricName, metrics } from '../shared/kernel/outside.ts';
import { accept } from './accepted.ts';
import type { Watched } from './watched.ts';

/** A fault that the operator has to fix. */
interface Trouble {
  /** Who is affected, in one sentence. The mail begins with it. */
  readonly hurt: string;
  /** The section of RUNBOOK.md that says what to do. */
  readonly section: string;
  readonly metric: IMetric;
  /** The alarm goes off at this value, in `of` periods of the last `of`. */
  readonly from: number;
  readonly of?: number;
}

/** Seconds that work may wait in its queue. A message that fails once and is retried stays below. */
const oldestWork = 30 * 60;

/** Above this share of the concurrent polls, the operator should ask for more. */
const crowded = 0.8;

/** An alarm for each fault. If the operator gave an address, it gets a mail. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, watched: Watched, email: string | undefined) {
    super(scope, id);
    this.all = Object.entries(troubles(Stack.of(this).stackName, watched)).map(
      ([name, { hurt, section, metric, from, of = 1 }]) =>
        new Alarm(this, name, {
          alarmName: `${Stack.of(this).stackName}-${name}`,
          alarmDescription: `${hurt} What to do: infra/RUNBOOK.md, "${section}".`,
          metric,
          threshold: from,
          evaluationPeriods: of,
          comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
          // Without traffic there is no data.
          treatMissingData: TreatMissingData.NOT_BREACHING,
        }),
    );
    if (email === undefined) return;
    const action = new SnsAction(this.topicTo(email));
    for (const alarm of this.all) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }

  private topicTo(email: string): Topic {
    const topic = new Topic(this, 'Topic', { displayName: Stack.of(this).stackName, enforceSSL: true });
    topic.addSubscription(new EmailSubscription(email));
    // The policy that demands TLS takes the place of the one that lets the account's own alarms in.
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'NewsFromAlarms',
        effect: Effect.ALLOW,
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    accept(topic, {
      'Serverless-SNSRedrivePolicy': 'An alarm that no mail could tell of stays red where alarms are shown.',
    });
    return topic;
  }
}

const minutes = (count: number) => ({ period: Duration.minutes(count) });

/** A metric that functions count under the name of their stack; with a kind, only that one. */
const countedIn =
  (namespace: string) =>
  (name: MetricName, kind?: string): Metric => {
    const dimension = metrics[name];
    return new Metric({
      namespace,
      metricName: name,
      ...(dimension !== undefined && kind !== undefined && { dimensionsMap: { [dimension]: kind } }),
      statistic: 'Sum',
      ...minutes(5),
    });
  };

/** The sum of several metrics. It costs as much as an alarm for each, but sends fewer mails. */
const oneOf =
  (combined: (names: readonly string[]) => string) =>
  (of: readonly IMetric[], period: Duration): MathExpression => {
    const names = of.map((_, i) => `m${i}`);
    return new MathExpression({
      expression: combined(names),
      usingMetrics: Object.fromEntries(of.map((metric, i) => [`m${i}`, metric])),
      period,
    });
  };

const sumOf = oneOf((names) => names.map((name) => `FILL(${name}, 0)`).join(' + '));

const largestOf = oneOf((names) => `MAX([${names.map((name) => `FILL(${name}, 0)`).join(', ')}])`);

/** All that can go wrong, by the name of its alarm. */
function troubles(
  namespace: string,
  { api, lambdas, listeners, work, deadLetters, scheduled, pollConcurrency }: Watched,
): Record<string, Trouble> {
  const counted = countedIn(namespace);
  const of = (id: string) => lambdas.get(id);
  const [poll, exports] = [of(getEvents.id), of(exportWorker.id)];
  return {
    Faults: {
      hurt: "People get errors that are nobody's fault but ours.",
      section: 'Faults',
      metric: api.metric('5XXError', minutes(5)),
      from: 5,
    },
    HolesFilled: {
      hurt: 'Clients hear of news late, by a second for each writer that died.',
      section: 'Holes filled',
      metric: counted('HolesFilled'),
      from: 20,
      of: 3,
    },
    TableThrottled: {
      hurt: 'Requests fail, as one organization asks more of the table, or of an index of it, than a partition gives.',
      section: 'Table throttled',
      // Counted by the functions. DynamoDB has six metrics, one for the table and one for each index: an alarm on each
      // costs money, and they also count requests that succeeded when they were retried.
      metric: counted('StoreThrottled'),
      from: 10,
      of: 2,
    },
    ...(listeners.length > 0 && {
      ListeningFailed: {
        hurt: 'Clients that wait for events get errors, and hear of news late.',
        section: 'Listening failed',
        metric: new MathExpression({
          // The dimensions of these metrics may grow, so it is asked for whatever has the function's name.
          expression: `SELECT SUM(HTTPResponseStatusClass5XX) FROM "AWS/Lambda/Web" WHERE FunctionName = '${listeners.map(({ name }) => name).join("' OR FunctionName = '")}'`,
          usingMetrics: {},
          ...minutes(5),
        }),
        from: 5,
      },
    }),
    FunctionsThrottled: {
      hurt: 'Messages may not be taken, and clients hear of news late: Lambda runs as many functions as it may.',
      section: 'Functions throttled',
      // All functions of the account and region: they share one limit.
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'Throttles',
        statistic: 'Sum',
        ...minutes(5),
      }),
      from: 5,
    },
    ...(poll &&
      pollConcurrency !== undefined && {
        PollsCrowded: {
          hurt: 'Nobody yet; soon there is no room for more clients that wait for news.',
          section: 'Polls crowded',
          metric: poll.metric('ConcurrentExecutions', { statistic: 'Maximum', ...minutes(1) }),
          from: Math.ceil(crowded * pollConcurrency),
          of: 5,
        },
      }),
    ...(exports && {
      ExportsFailed: {
        hurt: 'An administrator who asked for an export waits for it or does not get it, or searches become slow.',
        section: 'Exports failed',
        metric: counted('WorkFailures', exportWorker.id),
        from: 1,
      },
    }),
    ...(scheduled.length > 0 && {
      ScheduledWorkFailed: {
        hurt: `What runs by the clock is late: ${scheduled.map(({ description }) => description).join(' ')}`,
        section: 'Scheduled work failed',
        metric: sumOf(
          scheduled.map(({ lambda }) => lambda.metricErrors(minutes(60))),
          Duration.hours(1),
        ),
        from: 3,
      },
    }),
    DeadLetters: {
      hurt: 'Some work was given up: a notification, a notice, a mail or an export.',
      section: 'Dead letters',
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', ...minutes(5) }),
      from: 1,
    },
    ...(work.length > 0 && {
      WorkLate: {
        hurt: `Work has waited for half an hour. ${work.map(({ description }) => description).join(' ')}`,
        section: 'Late work',
        metric: largestOf(
          work.map(({ queue }) =>
            queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', ...minutes(5) }),
          ),
          Duration.minutes(5),
        ),
        from: oldestWork,
      },
    }),
  };
}
