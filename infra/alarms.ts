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
import { METRICS } from '../shared/domain/metric.ts';
import { getEvents } from '../shared/endpoints/events.ts';
import { exportWorker } from '../shared/endpoints/export.ts';
import { sendMessage } from '../shared/endpoints/send-message.ts';
import { accept } from './accepted.ts';
import type { Watched } from './watched.ts';

/** A fault that somebody has to see to. */
interface Trouble {
  /** Who is hurt, in a sentence: the first thing that the mail says. */
  readonly hurt: string;
  /** The section of RUNBOOK.md that says what to do. */
  readonly section: string;
  readonly metric: IMetric;
  /** The alarm goes off at this value, in `of` periods of the last `of`. */
  readonly from: number;
  readonly of?: number;
}

/** Seconds that work may wait in its queue: longer than a message that fails once and comes again. */
const oldestWork = 30 * 60;

/** The part of the polls that may run at once at which the operator should ask for more. */
const crowded = 0.8;

/** An alarm for each trouble, which is told to an address if the operator gave one. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, watched: Watched, email: string | undefined) {
    super(scope, id);
    this.all = Object.entries(troubles(watched)).map(
      ([name, { hurt, section, metric, from, of = 1 }]) =>
        new Alarm(this, name, {
          alarmName: `${Stack.of(this).stackName}-${name}`,
          alarmDescription: `${hurt} What to do: infra/RUNBOOK.md, "${section}".`,
          metric,
          threshold: from,
          evaluationPeriods: of,
          comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
          // Nothing is counted while nobody talks.
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

/** The sum of several metrics. */
const sumOf = (metrics: readonly IMetric[], period: Duration): MathExpression =>
  new MathExpression({
    expression: metrics.map((_, i) => `FILL(m${i}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric])),
    period,
  });

/** All that can go wrong, by the name of its alarm. */
function troubles({
  table,
  api,
  lambdas,
  work,
  scheduled,
  pollConcurrency,
}: Watched): Record<string, Trouble> {
  const of = (id: string) => lambdas.get(id);
  const [poll, send, exports] = [of(getEvents.id), of(sendMessage.id), of(exportWorker.id)];
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
      metric: new Metric({ namespace: METRICS, metricName: 'HolesFilled', statistic: 'Sum', ...minutes(5) }),
      from: 20,
      of: 3,
    },
    TableThrottled: {
      hurt: 'Requests take longer or fail, as one organization asks more of the table than a partition gives.',
      section: 'Table throttled',
      metric: sumOf(
        ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
          table.metric(name, { statistic: 'Sum', ...minutes(5) }),
        ),
        Duration.minutes(5),
      ),
      from: 10,
      of: 2,
    },
    ...(send && {
      SendsThrottled: {
        hurt: 'Messages are not taken: Lambda runs as many functions as the account allows.',
        section: 'Sends throttled',
        metric: send.metricThrottles(minutes(5)),
        from: 1,
      },
    }),
    ...(poll && {
      PollsThrottled: {
        hurt: 'Clients that wait for news get errors, and hear of it late.',
        section: 'Polls',
        metric: poll.metricThrottles(minutes(5)),
        from: 1,
      },
    }),
    ...(poll &&
      pollConcurrency !== undefined && {
        PollsCrowded: {
          hurt: 'Nobody yet; soon there is no room for more clients that wait for news.',
          section: 'Polls',
          metric: poll.metric('ConcurrentExecutions', { statistic: 'Maximum', ...minutes(1) }),
          from: Math.ceil(crowded * pollConcurrency),
          of: 5,
        },
      }),
    ...(exports && {
      ExportsFailed: {
        hurt: 'An administrator who asked for an export waits for it, or does not get it.',
        section: 'Exports failed',
        metric: new Metric({
          namespace: METRICS,
          metricName: 'WorkFailures',
          dimensionsMap: { Worker: exportWorker.id },
          statistic: 'Sum',
          ...minutes(5),
        }),
        from: 1,
      },
    }),
    ...(scheduled.length > 0 && {
      ScheduledWorkFailed: {
        hurt: `What runs by the clock is late: ${scheduled.map(({ says }) => says).join(' ')}`,
        section: 'Scheduled work failed',
        metric: sumOf(
          scheduled.map(({ lambda }) => lambda.metricErrors(minutes(60))),
          Duration.hours(1),
        ),
        from: 3,
      },
    }),
    ...Object.fromEntries(
      work.flatMap(({ name, says, queue, deadLetters }): [string, Trouble][] => [
        [
          `${name}DeadLetters`,
          {
            hurt: `Some work was given up. ${says}`,
            section: 'Dead letters',
            metric: deadLetters.metricApproximateNumberOfMessagesVisible({
              statistic: 'Maximum',
              ...minutes(5),
            }),
            from: 1,
          },
        ],
        [
          `${name}Late`,
          {
            hurt: `Work has waited for half an hour. ${says}`,
            section: 'Late work',
            metric: queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', ...minutes(5) }),
            from: oldestWork,
          },
        ],
      ]),
    ),
  };
}
