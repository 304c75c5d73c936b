import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { QueueWorker, ScheduledWorker } from '../shared/endpoints/workers.ts';
import { accept } from './accepted.ts';
import type { Bundle } from './build.ts';
import { DeclaredFunction } from './declared-function.ts';
import type { Resources } from './resources.ts';

interface WorkerFunctionProps<W> {
  readonly worker: W;
  readonly bundle: Bundle;
  readonly resources: Resources;
}

/** The actions of Lambda's poller, which takes messages from the queue for the function. */
const receiveFrom = (queueArn: string) =>
  new PolicyStatement({
    sid: 'ReceiveOwnQueue',
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    resources: [queueArn],
  });

/** A worker that gets batches of messages and returns those that failed; only those are retried. */
export class QueueWorkerFunction extends DeclaredFunction {
  constructor(
    scope: Construct,
    id: string,
    props: WorkerFunctionProps<QueueWorker> & { readonly queue: IQueue },
  ) {
    const { worker, bundle, resources, queue } = props;
    super(scope, id, {
      declaration: worker,
      bundle,
      resources,
      // An export takes as many runs as it needs, and each of them requests the next one.
      triggersItself: worker.needs.queues?.includes(worker.queue.name),
      triggerGrants: [receiveFrom(queue.queueArn)],
    });
    const trigger = new EventSourceMapping(this, 'Trigger', {
      target: this.lambda,
      eventSourceArn: queue.queueArn,
      batchSize: worker.queue.batchSize,
      reportBatchItemFailures: true,
    });
    const redriven =
      'What fails goes back to its queue, and after some tries from there to the dead letters.';
    accept(this.lambda, { 'Serverless-LambdaDLQ': redriven });
    accept(trigger, { 'Serverless-LambdaEventSourceMappingDestination': redriven });
  }
}

/** A worker that runs on a schedule. After a failed run, the next one does its work too. */
export class ScheduledWorkerFunction extends DeclaredFunction {
  constructor(scope: Construct, id: string, props: WorkerFunctionProps<ScheduledWorker>) {
    const { worker, bundle, resources } = props;
    super(scope, id, { declaration: worker, bundle, resources });
    const rule = new Rule(this, 'Schedule', {
      description: worker.description,
      schedule: Schedule.rate(Duration.minutes(worker.schedule.everyMinutes)),
      targets: [new LambdaFunction(this.lambda)],
    });
    const repeated = 'A run that is lost has nothing of its own: the next one does what it would have done.';
    accept(this.lambda, { 'Serverless-LambdaDLQ': repeated });
    accept(rule, { 'Serverless-EventBusDLQ': repeated });
  }
}
