import { describe, expect, it } from 'vitest';
import type { QueueWorker, ScheduledWorker } from '../../shared/endpoints/workers.ts';
import { servesQueue, servesSchedule, type WorkRecord } from '../../shared/serve/worker.ts';
import { newRealm } from '../support/realm.ts';
import { queued, runQueue, runSchedule } from '../support/worker-run.ts';

const base = { description: 'For tests.', needs: { table: [] }, timeout: 60, memory: 128 };
const queueWorker: QueueWorker = {
  ...base,
  id: 'probe-queue',
  queue: { name: 'probe', batchSize: 10, maxReceives: 3 },
};
const scheduled: ScheduledWorker = { ...base, id: 'probe-schedule', schedule: { everyMinutes: 5 } };

describe('servesQueue', () => {
  it('handles each message separately, and only those that failed come again', async () => {
    const realm = await newRealm();
    const seen: WorkRecord[] = [];
    const handler = servesQueue(queueWorker, async (_, record) => {
      seen.push(record);
      if (record.body === 'bad') throw new Error('no use');
    });
    const records = [queued('"good"'), queued('"bad"', 3), queued('not JSON'), queued('{"n":1}')];
    const [good, bad, broken, object] = records;
    const reply = await runQueue(realm, handler, records, 20);
    expect(reply).toEqual({
      batchItemFailures: [{ itemIdentifier: bad?.messageId }, { itemIdentifier: broken?.messageId }],
    });
    expect(seen).toMatchObject([
      { id: good?.messageId, body: 'good', receives: 1 },
      { id: bad?.messageId, body: 'bad', receives: 3 },
      { id: object?.messageId, body: { n: 1 }, receives: 1 },
    ]);
    const left = (seen[0]?.deadline ?? 0) - realm.outside.now();
    expect(left).toBeGreaterThan(10_000);
    expect(left).toBeLessThanOrEqual(20_000);
  });

  it('reports to the operator which message failed and why, but not its content', async () => {
    const realm = await newRealm();
    const handler = servesQueue(queueWorker, async () => {
      throw new Error('no use');
    });
    const record = queued('{"secret":"of somebody"}', 2);
    await runQueue(realm, handler, [record]);
    expect(realm.reports).toEqual([
      {
        level: 'ERROR',
        message: 'queue message failed',
        worker: 'probe-queue',
        messageId: record.messageId,
        receives: 2,
        error: expect.stringContaining('no use'),
      },
    ]);
    expect(JSON.stringify(realm.reports)).not.toContain('of somebody');
  });

  it('passes clients that are made once from the environment', async () => {
    const realm = await newRealm();
    let made = 0;
    const tools = {
      region: (environment: { readonly AWS_REGION?: string }) => {
        made++;
        return environment.AWS_REGION;
      },
    };
    const regions: unknown[] = [];
    const handler = servesQueue(
      queueWorker,
      async (_, __, { region }) => {
        regions.push(region);
      },
      tools,
    );
    await runQueue(realm, handler, [queued('1'), queued('2')]);
    expect(regions).toEqual(['us-east-1', 'us-east-1']);
    expect(made).toBe(1);
  });
});

describe('servesSchedule', () => {
  it('passes the time at which the run will be ended, by its own clock', async () => {
    const realm = await newRealm();
    realm.pass(5_000_000);
    const deadlines: number[] = [];
    const handler = servesSchedule(scheduled, async (_, deadline) => {
      deadlines.push(deadline);
    });
    const now = realm.outside.now();
    await runSchedule(realm, handler, 30);
    expect(deadlines).toHaveLength(1);
    expect((deadlines[0] as number) - now).toBeGreaterThanOrEqual(30_000);
    expect((deadlines[0] as number) - now).toBeLessThan(40_000);
  });

  it('reports a failed run, and fails, so that Lambda tries it again', async () => {
    const realm = await newRealm();
    const handler = servesSchedule(scheduled, async () => {
      throw new Error('no use');
    });
    await expect(runSchedule(realm, handler)).rejects.toThrow('no use');
    expect(realm.reports).toEqual([
      {
        level: 'ERROR',
        message: 'scheduled run failed',
        worker: 'probe-schedule',
        error: expect.stringContaining('no use'),
      },
    ]);
  });

  it('enforces its grants in tests', async () => {
    const realm = await newRealm();
    const handler = servesSchedule(scheduled, async ({ table }) => {
      await table.get('realm', { realm: realm.realm });
    });
    await expect(runSchedule(realm, handler)).rejects.toThrow(
      'probe-schedule uses BatchGetItem, which is not among its needs',
    );
  });
});
