import { writes } from './endpoint.ts';
import type { QueueWorker } from './worker.ts';

/** The bucket in which mail waits, and the queue that tells of it. */
export const MAIL = 'incoming-mail';

export const incomingMail: QueueWorker = {
  id: 'incoming-mail',
  description:
    'Posts mail in the channels that it was sent to; while it fails, mail waits, for two weeks at most.',
  queue: { name: MAIL, batchSize: 1, maxReceives: 5 },
  needs: { table: writes, buckets: { [MAIL]: ['GetObject'] }, settings: ['MAIL_DOMAIN'] },
  onlyWith: 'MAIL_DOMAIN',
  timeout: 60,
  // Half of that was seen to go into mail of very many lines; one at a time, so that it can only hurt itself.
  memory: 1024,
};
