import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { QueueWorker } from '../shared/endpoints/workers.ts';
import { accept } from './accepted.ts';

/**
 * Where messages of every queue wait that failed too often. One is enough: SQS knows of each message where it came from, and
 * sends it back there; and so one alarm is.
 */
export class DeadLetters extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // The longest that SQS keeps a message: the time there is to find the fault and send the messages back.
      retentionPeriod: Duration.days(14),
    });
    accept(this, {
      'Serverless-SQSRedrivePolicy': 'It is where messages end that nothing could be done with.',
    });
  }
}

/** A queue of work, below a name of its own: another one would be another queue, without the messages of this one. */
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
