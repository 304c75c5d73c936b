import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { QueueWorker } from '../shared/endpoints/worker.ts';
import { accept } from './accepted.ts';

/** A queue of work, and the dead-letter queue where messages wait that failed too often. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, worker: QueueWorker) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // The longest that SQS keeps a message: the time there is to find the fault and send the messages back.
      retentionPeriod: Duration.days(14),
    });
    accept(this.deadLetters, {
      'Serverless-SQSRedrivePolicy': 'It is where messages end that nothing could be done with.',
    });
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // Lambda asks for six times the function's own limit, so that a throttled run is not delivered twice.
      visibilityTimeout: Duration.seconds(6 * worker.timeout),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: worker.queue.maxReceives },
    });
  }
}
