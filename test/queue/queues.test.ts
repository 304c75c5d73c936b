import { describe, expect, inject, test } from 'vitest';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { variable } from '../../shared/environment.ts';
import { workOf } from '../support/work-queue.ts';

describe('a work queue', () => {
  test('delivers each message once it is due', async () => {
    const work = await workOf({ host: 'queues.test' }, 'sample');
    const queues = sqsQueues({
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_ENDPOINT_URL_SQS: inject('sqsS3'),
      [variable('QUEUE', 'sample')]: work.url,
    });
    await queues.send('sample', { realm: 'a', id: 1 });
    await queues.send('sample', { realm: 'a', id: 2 }, 900);
    const [message, ...others] = await work.receive();
    expect(JSON.parse(message?.Body ?? '')).toEqual({ realm: 'a', id: 1 });
    expect(others).toEqual([]);
    await expect(queues.send('others', {})).rejects.toThrow('QUEUE_OTHERS_URL is not set');
  });
});
