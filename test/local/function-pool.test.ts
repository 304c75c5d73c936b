import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { FunctionPool, type FunctionPoolOptions } from '../../infra/local/function-pool.ts';
import type { FunctionError, InvocationResult } from '../../infra/local/invocation.ts';
import type { LambdaFunction } from '../../infra/local/template.ts';
import { discard, type SampleCloud, startSampleCloud } from './sample-cloud.ts';
import { fixtures } from './sample-template.ts';

interface Rested {
  readonly threadId: number;
  readonly count: number;
  readonly busy: number;
}

const lambdaOf = (code: string, more: Partial<LambdaFunction> = {}): LambdaFunction => ({
  name: code,
  arn: `arn:aws:lambda:us-east-1:000000000000:function:${code}`,
  logGroup: `/sample/${code}`,
  roleName: `${code}Role`,
  statements: [],
  handler: 'index.handler',
  directory: `${fixtures}/${code}`,
  environment: {},
  timeoutSeconds: 5,
  memoryMb: 128,
  reservedConcurrency: undefined,
  ...more,
});

const pools: FunctionPool[] = [];
const failures: FunctionError[] = [];

function poolOf(functions: LambdaFunction[], more: Partial<FunctionPoolOptions> = {}): FunctionPool {
  const pool = new FunctionPool(functions, {
    environmentOf: () => ({}),
    onOutput: () => {},
    onFailure: (_, error) => failures.push(error),
    concurrency: 50,
    startsAtOnce: 2,
    busyMs: 100,
    idleMs: 60_000,
    idleAtMost: 50,
    ...more,
  });
  pools.push(pool);
  return pool;
}

afterAll(() => Promise.all(pools.map((pool) => pool.close(0))));

const rest = (pool: FunctionPool, ms: number, name = 'unruly') => pool.invoke(name, JSON.stringify({ ms }));

function rested(result: InvocationResult): Rested {
  if (result.outcome !== 'success') throw new Error(JSON.stringify(result));
  return JSON.parse(JSON.parse(result.payload).body);
}

describe('a function', () => {
  test('stays warm: the next event finds the same copy', async () => {
    const pool = poolOf([lambdaOf('unruly')]);
    const first = rested(await rest(pool, 0));
    const second = rested(await rest(pool, 0));
    expect([second.threadId, second.count]).toEqual([first.threadId, 2]);
    expect(pool.copies('unruly')).toBe(1);
  });

  test('handles one event at a time, so that long ones get copies of their own', async () => {
    const pool = poolOf([lambdaOf('unruly')]);
    const all = (await Promise.all([1, 2, 3, 4].map(() => rest(pool, 1000)))).map(rested);
    expect(new Set(all.map(({ threadId }) => threadId)).size).toBe(4);
    expect(all.map(({ busy }) => busy)).toEqual([1, 1, 1, 1]);
  });

  test('handles many short events with few copies', async () => {
    const pool = poolOf([lambdaOf('unruly')]);
    const all = (await Promise.all(Array.from({ length: 100 }, () => rest(pool, 1)))).map(rested);
    expect(all.every(({ busy }) => busy === 1)).toBe(true);
    expect(pool.copies('unruly')).toBeLessThan(10);
  });

  test('has as many copies as processors while events wait only shortly', async () => {
    const pool = poolOf([lambdaOf('unruly')], { busyMs: 60_000 });
    const all = (await Promise.all(Array.from({ length: 8 }, () => rest(pool, 20)))).map(rested);
    expect(all.every(({ busy }) => busy === 1)).toBe(true);
    expect(pool.copies('unruly')).toBe(2);
  });

  test('gets no further copies while its copies make progress, however many events wait', async () => {
    const pool = poolOf([lambdaOf('unruly')], { busyMs: 400 });
    const all = await Promise.all(Array.from({ length: 60 }, () => rest(pool, 30)));
    expect(all.map(rested)).toHaveLength(60);
    expect(pool.copies('unruly')).toBe(2);
  });

  test('reuses the copy that was used last', async () => {
    const pool = poolOf([lambdaOf('unruly')]);
    const [long, longer] = await Promise.all([rest(pool, 700), rest(pool, 1000)]);
    expect(rested(long).threadId).not.toBe(rested(longer).threadId);
    expect(rested(await rest(pool, 0)).threadId).toBe(rested(longer).threadId);
  });

  test('is stopped if it is not used for a while', async () => {
    const pool = poolOf([lambdaOf('unruly')], { idleMs: 40 });
    await rest(pool, 0);
    await vi.waitFor(() => expect(pool.copies('unruly')).toBe(0));
    expect(rested(await rest(pool, 0)).count).toBe(1);
  });

  test('is stopped at its time limit, and a new copy takes the next event', async () => {
    const pool = poolOf([lambdaOf('unruly', { timeoutSeconds: 0.2 })]);
    const first = rested(await rest(pool, 0));
    const result = await pool.invoke('unruly', '{"do":"spin"}');
    expect(result).toEqual({
      outcome: 'failure',
      error: { errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out after 0.20 seconds', trace: [] },
    });
    const next = rested(await rest(pool, 0));
    expect(next.count).toBe(1);
    expect(next.threadId).not.toBe(first.threadId);
  });

  test('keeps its copy after an error in an event, but not if the process ends', async () => {
    const pool = poolOf([lambdaOf('unruly')]);
    const first = rested(await rest(pool, 0));
    failures.length = 0;
    expect(await pool.invoke('unruly', '{"do":"throw"}')).toMatchObject({
      error: { errorType: 'TypeError' },
    });
    expect(rested(await rest(pool, 0)).threadId).toBe(first.threadId);
    expect(await pool.invoke('unruly', '{"do":"exit"}')).toMatchObject({
      error: { errorType: 'Runtime.ExitError' },
    });
    expect(rested(await rest(pool, 0)).threadId).not.toBe(first.threadId);
    expect(failures.map(({ errorMessage }) => errorMessage)).toEqual([
      'thrown on purpose',
      'The function exited with code 3.',
    ]);
  });
});

describe('the limits', () => {
  test('of all functions together make events wait for a free copy', async () => {
    const pool = poolOf([lambdaOf('unruly')], { concurrency: 2 });
    const all = await Promise.all(Array.from({ length: 6 }, () => rest(pool, 50)));
    expect(new Set(all.map(rested).map(({ threadId }) => threadId)).size).toBe(2);
  });

  test('of all functions together take an idle copy from one function for another', async () => {
    const pool = poolOf([lambdaOf('unruly'), lambdaOf('echo')], { concurrency: 1 });
    await rest(pool, 0);
    expect(await pool.invoke('echo', '{}')).toMatchObject({ outcome: 'success' });
    expect([pool.copies('unruly'), pool.copies('echo')]).toEqual([0, 1]);
  });

  test('of idle functions stop the one that was idle longest', async () => {
    const pool = poolOf([lambdaOf('unruly'), lambdaOf('echo')], { idleAtMost: 1 });
    await rest(pool, 0);
    expect(await pool.invoke('echo', '{}')).toMatchObject({ outcome: 'success' });
    await vi.waitFor(() => expect([pool.copies('unruly'), pool.copies('echo')]).toEqual([0, 1]));
  });

  test('that the template reserves for one function refuse events above them', async () => {
    const pool = poolOf([lambdaOf('unruly', { reservedConcurrency: 1 })]);
    const first = rest(pool, 100);
    expect(await rest(pool, 0)).toEqual({ outcome: 'throttled' });
    expect((await first).outcome).toBe('success');
    expect((await rest(pool, 0)).outcome).toBe('success');
  });

  test('drop an event whose caller no longer waits', async () => {
    const pool = poolOf([lambdaOf('unruly')], { concurrency: 1 });
    const first = rest(pool, 200);
    const waiting = new AbortController();
    const second = pool.invoke('unruly', '{}', waiting.signal);
    waiting.abort();
    expect(await second).toEqual({ outcome: 'throttled' });
    await first;
    expect(rested(await rest(pool, 0)).count).toBe(2);
  });

  test('let running events end when the pool is closed, for a moment', async () => {
    const pool = poolOf([lambdaOf('unruly')]);
    await Promise.all([rest(pool, 700), rest(pool, 700)]);
    expect(pool.copies('unruly')).toBe(2);
    const [short, long] = [rest(pool, 30), rest(pool, 5000)];
    await sleep(5);
    await pool.close(200);
    expect((await short).outcome).toBe('success');
    expect((await long).outcome).toBe('failure');
    expect(await rest(pool, 0)).toEqual({ outcome: 'throttled' });
  });
});

describe('in a function', () => {
  let cloud: SampleCloud;
  beforeAll(async () => {
    process.env.SECRET_OF_THE_HOST = 'not for functions';
    cloud = await startSampleCloud({
      functions: {
        echo: {
          code: 'echo',
          environment: { TABLE_NAME: 'chat', AWS_REGION_OF: { Ref: 'AWS::Region' } },
          timeout: 7,
        },
        unruly: { code: 'unruly', routes: ['GET /'] },
      },
    });
  });
  afterAll(() => discard(cloud));

  async function seen() {
    const result = await cloud.invoke('echo', '{"a":1}');
    if (result.outcome !== 'success') throw new Error(result.outcome);
    return JSON.parse(JSON.parse(result.payload).body);
  }

  test('the environment is that of Lambda and its template, without that of this process', async () => {
    const { env } = await seen();
    expect(env).toMatchObject({
      TABLE_NAME: 'chat',
      AWS_REGION_OF: 'us-east-1',
      AWS_REGION: 'us-east-1',
      AWS_LAMBDA_FUNCTION_NAME: 'echo',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
      AWS_ACCESS_KEY_ID: expect.stringMatching(/^ASIA[0-9A-F]{24}$/),
      AWS_ENDPOINT_URL_DYNAMODB: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      _X_AMZN_TRACE_ID: expect.stringMatching(/^Root=1-/),
    });
    const foreign = Object.keys(env).filter(
      (name) =>
        !/^(AWS_|_|LANG$|TZ$|LAMBDA_|TABLE_NAME$|DEVELOPMENT_SIGN_IN$|SERVICE_TIMEOUT_MS$)/.test(name),
    );
    expect(foreign).toEqual([]);
  });

  test('the arguments are the event and the context of Lambda', async () => {
    const { event, context, remaining } = await seen();
    expect(event).toEqual({ a: 1 });
    expect(context).toEqual({
      callbackWaitsForEmptyEventLoop: true,
      functionName: 'echo',
      functionVersion: '$LATEST',
      invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:echo',
      memoryLimitInMB: '128',
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      logGroupName: '/sample/echo',
      logStreamName: 'local',
    });
    expect(remaining).toBeGreaterThan(6500);
    expect(remaining).toBeLessThanOrEqual(7000);
  });

  test('output and uncaught errors go to a log of its own', async () => {
    await cloud.invoke('unruly', '{"do":"print"}');
    await cloud.invoke('unruly', '{"do":"throw"}');
    await vi.waitFor(async () => {
      const log = await readFile(`${cloud.dataDirectory}/logs/unruly.log`, 'utf8');
      expect(log).toContain('a line from the function\n');
      expect(log).toContain('a complaint from the function\n');
      expect(log).toMatch(
        /ERROR Invoke Error \{"errorType":"TypeError","errorMessage":"thrown on purpose","stack":\[/,
      );
    });
    expect(
      cloud.lines.filter((line) => line.startsWith('unruly failed: TypeError: thrown on purpose')),
    ).toHaveLength(1);
  });
});
