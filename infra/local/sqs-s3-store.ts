import { buildApp } from 'fauxqs';
// The library's own start function listens on every network interface, with no option to change that. So its parts are
// put together here; the package exports only the first of them.
import { PersistenceManager } from '../../node_modules/fauxqs/dist/persistence.js';
import { S3Store } from '../../node_modules/fauxqs/dist/s3/s3Store.js';
import { SnsStore } from '../../node_modules/fauxqs/dist/sns/snsStore.js';
import { type SqsQueue, SqsStore } from '../../node_modules/fauxqs/dist/sqs/sqsStore.js';
import type { Queue } from './template.ts';
import type { Place } from './template-values.ts';

export interface SqsS3Store {
  /** Where SQS and S3 answer. */
  readonly endpoint: URL;
  /** Makes a queue, or gives an existing one the attributes that it has now; its messages stay. */
  ensureQueue(queue: Queue): void;
  /** Makes a bucket unless it is there. */
  ensureBucket(name: string): void;
  stop(): Promise<void>;
}

/** Starts SQS and S3 on a free loopback port. What they acknowledge is in a SQLite file in the folder. */
export async function startSqsS3Store(folder: string, place: Pick<Place, 'region'>): Promise<SqsS3Store> {
  const persistence = new PersistenceManager(folder);
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  const { sqsStore, s3Store } = stores;
  // Loaded before the stores know where to write, or they would write all of it once more.
  persistence.load(sqsStore, stores.snsStore, s3Store);
  sqsStore.persistence = persistence;
  s3Store.persistence = persistence;
  const adopt = (queue: SqsQueue): void => {
    queue.persistence = persistence;
    makeReceiveAtomic(queue, persistence);
  };
  for (const queue of sqsStore.allQueues()) adopt(queue);

  const app = buildApp({ logger: false, defaultRegion: place.region, stores });
  const endpoint = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  return {
    endpoint,
    ensureQueue({ name, url, arn, attributes }) {
      const existing = sqsStore.getQueueByName(name);
      // An empty policy takes away the one that an earlier template gave.
      if (existing) existing.setAttributes({ RedrivePolicy: '', ...attributes });
      else adopt(sqsStore.createQueue(name, url, arn, { ...attributes }));
    },
    ensureBucket(name) {
      if (!s3Store.hasBucket(name)) s3Store.createBucket(name);
    },
    async stop() {
      await app.close();
      persistence.close();
    },
  };
}

/**
 * Receiving moves messages that failed too often to their dead-letter queue: deleted there, written here, in two
 * statements. In one transaction, nothing that happens between them loses the message.
 */
function makeReceiveAtomic(queue: SqsQueue, persistence: PersistenceManager): void {
  const receive = queue.dequeue.bind(queue);
  queue.dequeue = (...call) => {
    let received: ReturnType<typeof receive> = [];
    // biome-ignore lint/complexity/useLiteralKeys: a method that the library's types keep to itself.
    persistence['transaction'](() => {
      received = receive(...call);
    });
    return received;
  };
}
