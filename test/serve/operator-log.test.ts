import { afterEach, describe, expect, test, vi } from 'vitest';
import { handler as getEvents } from '../../functions/events/get.ts';
import { handler as register } from '../../functions/events/register.ts';
import { allocate, GIVEN_UP } from '../../shared/log/log.ts';
import { operatorLog } from '../../shared/serve/container.ts';
import { servesQueue, servesSchedule } from '../../shared/serve/worker.ts';
import { fault } from '../support/faults.ts';
import { sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';
import { queued, runQueue, runSchedule } from '../support/worker-run.ts';
import { ask, expectRefused, form } from './probe.ts';

afterEach(() => vi.restoreAllMocks());

/** What a function's log gets. */
function written(act: () => void): string[] {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  act();
  vi.restoreAllMocks();
  return lines;
}

describe('the log of a function', () => {
  const log = operatorLog(() => 1_700_000_000_123);

  test('is one JSON object per line, without a prefix', () => {
    const lines = written(() => {
      log.report({ level: 'WARN', message: 'two\nlines' });
      log.count('HolesFilled', undefined);
    });
    expect(lines.map((line) => line.split('\n').length)).toEqual([2, 2]);
    expect(JSON.parse(lines[0] ?? '')).toEqual({ level: 'WARN', message: 'two\nlines' });
  });

  test('includes the digest of the code in each report, if the stack sets it', () => {
    const deployed = operatorLog(() => 1, { CODE: '0123456789ab' });
    const [line = ''] = written(() => deployed.report({ level: 'ERROR', message: 'x' }));
    expect(JSON.parse(line)).toEqual({ level: 'ERROR', message: 'x', code: '0123456789ab' });
  });

  test('counts under the name of its stack, so that each stack in an account has its own alarms', () => {
    const other = operatorLog(() => 1, { METRICS_NAMESPACE: 'Second' });
    const [line = ''] = written(() => other.count('HolesFilled', undefined));
    expect(JSON.parse(line)._aws.CloudWatchMetrics[0].Namespace).toBe('Second');
  });

  test("counts in CloudWatch's embedded metric format, separately for each code", () => {
    const [line = ''] = written(() => log.count('Errors', 'BAD_REQUEST', { endpoint: 'messages.send' }));
    expect(JSON.parse(line)).toEqual({
      _aws: {
        Timestamp: 1_700_000_000_123,
        CloudWatchMetrics: [
          { Namespace: 'Parlance', Dimensions: [['Code']], Metrics: [{ Name: 'Errors', Unit: 'Count' }] },
        ],
      },
      endpoint: 'messages.send',
      Code: 'BAD_REQUEST',
      Errors: 1,
    });
  });

  test('counts metrics without kinds under one name', () => {
    const [line = ''] = written(() => log.count('HolesFilled', undefined, { slots: 2 }));
    const { _aws, ...fields } = JSON.parse(line);
    expect(_aws.CloudWatchMetrics[0].Dimensions).toEqual([[]]);
    expect(fields).toEqual({ slots: 2, HolesFilled: 1 });
  });
});

describe('the metrics of a function', () => {
  test('count each error of a caller, without data of the request', async () => {
    const realm = await newRealm();
    const where = { endpoint: 'tests.probe', requestId: expect.any(String) };
    expectRefused(await ask({ body: form({ name: 'secret words', flag: 'perhaps' }) }, realm));
    await ask({ body: form({ kind: 'a' }) }, realm);
    await ask({ headers: { authorization: 'Basic eDp5' } }, realm);
    expect(realm.counts).toEqual([
      { metric: 'Errors', kind: 'BAD_REQUEST', ...where },
      { metric: 'Errors', kind: 'REQUEST_VARIABLE_MISSING', ...where },
      { metric: 'Errors', kind: 'UNAUTHORIZED', ...where },
    ]);
    const { member } = realm.people;
    for (const secret of [member.apiKey, member.email, 'secret words'])
      expect(JSON.stringify(realm.counts)).not.toContain(secret);
  });

  test('count nothing for a success', async () => {
    const realm = await newRealm();
    expect((await ask({ path: { place: 'here' }, body: form({ name: 'me' }) }, realm)).status).toBe(200);
    expect(realm.counts).toEqual([]);
  });

  test('count an internal error', async () => {
    const realm = await newRealm();
    const broken = realm.container(() => async () => {
      throw new Error('the store is on fire');
    });
    expect((await ask({ body: form({ name: 'me' }) }, broken)).status).toBe(500);
    expect(broken.counts).toMatchObject([{ metric: 'Errors', kind: 'INTERNAL_SERVER_ERROR' }]);
  });

  test('count work that the store throttled', async () => {
    const realm = await newRealm();
    const worker = {
      id: 'probe-clock',
      description: 'Tries.',
      schedule: { everyMinutes: 5 },
      needs: { table: [] },
      timeout: 1,
      memory: 128,
    };
    const handler = servesSchedule(worker, async () => {
      throw fault('ProvisionedThroughputExceededException');
    });
    await expect(runSchedule(realm, handler)).rejects.toThrow();
    expect(realm.counts).toEqual([
      { metric: 'StoreThrottled', kind: undefined, worker: 'probe-clock' },
      { metric: 'WorkFailures', kind: 'probe-clock' },
    ]);
  });

  test('count a queue message that failed', async () => {
    const realm = await newRealm();
    const worker = {
      id: 'probe-queue',
      description: 'Tries.',
      queue: { name: 'probe', batchSize: 1, maxReceives: 1 },
      needs: { table: [] },
      timeout: 1,
      memory: 128,
    };
    const handler = servesQueue(worker, async () => {
      throw new Error('no use');
    });
    const record = queued('{}');
    await runQueue(realm, handler, [record]);
    expect(realm.counts).toEqual([
      { metric: 'WorkFailures', kind: 'probe-queue', messageId: record.messageId },
    ]);
  });

  test('count a hole of the log that a poll filled, since its writer died', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { body } = await realm.call(register, member, { event_types: ['message'] });
    await allocate(realm.log, 3);
    await sent(realm, member, { to: realm.channels.general });
    realm.pass(GIVEN_UP);
    const poll = { queue_id: body.queue_id, last_event_id: body.last_event_id, dont_block: true };
    const { body: events } = await realm.call(getEvents, member, poll);
    expect(events.events).toMatchObject([{ type: 'message' }]);
    expect(realm.counts).toEqual([{ metric: 'HolesFilled', kind: undefined, realm: realm.realm, slots: 3 }]);
  });
});
