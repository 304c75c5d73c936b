import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { QueueWorker } from '../shared/endpoints/workers.ts';
import { accept } from './accepted.ts';

/**
 * The dead-letter queue of all queues. One queue and one alarm are enough: SQS knows the source of each message, and can
 * send it back there.
 */
export class DeadLetters extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // The maximum of SQS: time to find the fault and send the messages back.
      retentionPeriod: Duration.days(14),
    });
    accept(this, {
      'Serverless-SQSRedrivePolicy': 'It is where messages end that nothing could be done with.',
    });
  }
}

/** A queue of work. Do not change its name: that would make a new queue, without the messages of this one. */
export class WorkQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, worker: QueueWorker, deadLetters: IQueue) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // Lambda asks for six times the function's own limit, so that a throttled run is not delivered twice.
      visibilityTimeout: Duration.seconds(6 * worker.timeout),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: worker.queue.maxReceives },
    });
  }
}
