import { randomBytes } from 'node:crypto';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { handler as worker } from '../../functions/workers/export.ts';
import { EXPORTS, type ExportJob } from '../../shared/domain/export/realm-export.ts';
import { runExport } from '../../shared/domain/export/run.ts';
import type { ExportTools } from '../../shared/domain/export/write.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import { upload } from '../support/emoji.ts';
import {
  archiveOf,
  type Contents,
  contentsOf,
  delivered,
  digestOf,
  exported,
  givenExport,
  listed,
  storedExport,
  workerOf,
} from '../support/export-request.ts';
import { fault } from '../support/faults.ts';
import { givenHistory } from '../support/long-history.ts';
import { update } from '../support/message-update.ts';
import { sent } from '../support/messages.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { bucketOf } from '../support/store.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';
import { type Work, workOf } from '../support/work-queue.ts';
import { queued, runQueue } from '../support/worker-run.ts';
import { startFaultyStore } from './faulty-store.ts';
import { type Mortal, mortal, type Trouble, toolsOfWorker } from './mortal.ts';

/** Longer than any run can have an export (ms). */
const LEASE = 400_000;

/** What a test may take (ms) that makes very many exports, on a busy machine. */
const LONG = 100_000;

/** The time that a run has, ms. */
const TIME = 300_000;

/** The tools of a worker that nothing is wrong with. */
const toolsFor = (realm: TestRealm): ExportTools => {
  const known = tools.get(realm.realm) ?? toolsOfWorker(realm);
  tools.set(realm.realm, known);
  return known;
};
const tools = new Map<string, ExportTools>();

const s3 = new S3Client({
  endpoint: inject('sqsS3'),
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

/** The objects of an export, and the uploads that were begun and not ended. */
async function leftOf({ realm, token }: ExportJob) {
  const at = { Bucket: bucketOf(EXPORTS), Prefix: `${realm}/exports/${token}/` };
  const [{ Contents = [] }, { Uploads = [] }] = await Promise.all([
    s3.send(new ListObjectsV2Command(at)),
    s3.send(new ListMultipartUploadsCommand(at)),
  ]);
  const own = Uploads.filter(({ Key }) => Key?.startsWith(at.Prefix));
  return { objects: Contents.map(({ Key = '' }) => Key.slice(at.Prefix.length)), uploads: own.length };
}

const onlyArchive = { objects: ['archive.tar.gz'], uploads: 0 };

/** An organization with a little of everything, and a queue for the worker. */
async function givenOrganization(): Promise<{ realm: TestRealm; work: Work }> {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const work = await workOf(realm, 'export');
  const id = await sent(realm, member, { to: realm.channels.general }, 'hello');
  await update(realm, member, id, { content: 'hello there' });
  await sent(realm, member, { people: [admin] }, 'psst');
  await upload(realm, member, 'dance');
  return { realm, work };
}

/** Delivers a message to a run in which something goes wrong, and returns how many calls it made. */
async function struck(realm: TestRealm, job: ExportJob, trouble?: Trouble): Promise<Mortal> {
  const run = mortal(realm, toolsFor(realm), trouble);
  const { outside } = run.realm;
  await runExport({ outside, tools: run.tools, job }, outside.now() + TIME).catch(() => {});
  return run;
}

describe('an export whose run dies', () => {
  let realm: TestRealm;
  let expected: string;
  let calls: number;

  beforeAll(async () => {
    ({ realm } = await givenOrganization());
    const job = await givenExport(realm, 'full_without_consent');
    const whole = await struck(realm, job);
    calls = whole.calls();
    expected = digestOf(await finished(realm, job));
  });

  /** The archive, which must be whole and the only thing that is left. */
  async function finished(of: TestRealm, job: ExportJob): Promise<Contents> {
    const stored = await storedExport(of, job);
    expect(stored).toMatchObject({ state: 'succeeded', claim: 0 });
    expect(stored.progress).toBeUndefined();
    return contentsOf((await archiveOf(of, job)) ?? expect.fail('there is no archive'));
  }

  test.each([
    { name: 'before', unheard: false },
    { name: 'just after', unheard: true },
  ])(
    '$name any call to DynamoDB, S3 or SQS is finished by the next run',
    async ({ unheard }) => {
      expect(calls).toBeGreaterThan(20);
      const healthy = workerOf(realm);
      // Every other call in turn: those between are struck by the other of the two tests.
      for (let at = unheard ? 2 : 1; at <= calls; at += 2) {
        const job = await givenExport(realm, 'full_without_consent');
        await struck(realm, job, { at, kind: 'death', unheard });
        realm.pass(LEASE);
        expect(await delivered(healthy, job)).toBe(true);
        expect([at, digestOf(await finished(realm, job))]).toEqual([at, expected]);
        const left = await leftOf(job);
        expect([at, left.objects]).toEqual([at, onlyArchive.objects]);
        // An upload whose start had no reply is removed only by the lifecycle of the bucket.
        expect(left.uploads).toBeLessThanOrEqual(unheard ? 1 : 0);
      }
    },
    LONG,
  );

  test(
    'is finished all the same when DynamoDB throttles any one call',
    async () => {
      const healthy = workerOf(realm);
      for (let at = 1; at <= calls; at++) {
        const job = await givenExport(realm, 'full_without_consent');
        const error = fault('ThrottlingException');
        const run = await struck(realm, job, { at, kind: 'once', table: true, error });
        if (at > run.calls()) return;
        // It may have given the export back, or its end was not heard.
        realm.pass(LEASE);
        expect(await delivered(healthy, job)).toBe(true);
        expect([at, digestOf(await finished(realm, job))]).toEqual([at, expected]);
      }
    },
    LONG,
  );

  test('sends administrators one event at its end, however often its message is delivered', async () => {
    const job = await givenExport(realm, 'public');
    const before = await lastNumber(realm);
    const container = workerOf(realm);
    for (let i = 0; i < 3; i++) expect(await delivered(container, job)).toBe(true);
    await Promise.all([delivered(container, job), delivered(workerOf(realm), job)]);
    const told = (await loggedAfter(realm, before)).filter((entry) => entry.kind === 'event');
    expect(told.map(({ payload }) => payload.type)).toEqual(['realm_export']);
    expect(await leftOf(job)).toEqual(onlyArchive);
  });

  test('makes one archive for two concurrent deliveries, and delays the second', async () => {
    const { realm: own, work } = await givenOrganization();
    const job = await givenExport(own, 'public');
    const before = await lastNumber(own);
    const runs = await Promise.all([1, 2, 3].map(() => delivered(workerOf(own), job)));
    expect(runs).toEqual([true, true, true]);
    expect((await loggedAfter(own, before)).length).toBe(1);
    expect(await listed(own)).toMatchObject([{ pending: false, export_url: expect.any(String) }]);
    expect(await work.receive()).toEqual([]);
  });
});

describe('an export that takes more than one run', () => {
  let realm: TestRealm;
  let work: Work;
  const MANY = 1_000;

  beforeAll(async () => {
    ({ realm, work } = await givenOrganization());
    // More than one part of an upload: what has no pattern cannot be packed.
    const send = tableClient({ AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb') });
    const noise = () => ({ content: randomBytes(6_000).toString('base64'), rendered: '<p>noise</p>' });
    await givenHistory(realm, send, MANY, noise);
  });

  test('has the same content as an export in one run', async () => {
    const whole = await exported(realm, 'full_without_consent');
    expect(whole.records.messages?.length).toBe(MANY + 2);

    const job = await givenExport(realm, 'full_without_consent');
    const container = workerOf(realm);
    // No time at all: each run does one page and leaves the rest to the next one.
    let runs = 0;
    const seen = new Set<number>();
    for (; (await storedExport(realm, job)).state === 'pending'; runs++) {
      expect(await delivered(container, job, { seconds: 1 })).toBe(true);
      seen.add((await storedExport(realm, job)).progress?.parts.length ?? 0);
    }
    expect(runs).toBeGreaterThanOrEqual(10);
    expect((await work.receive()).length).toBeGreaterThan(0);
    const contents = await contentsOf((await archiveOf(realm, job)) ?? new Uint8Array());
    expect(digestOf(contents)).toBe(digestOf(whole));
    expect(Math.max(...seen)).toBeGreaterThanOrEqual(1);
    expect(await leftOf(job)).toEqual(onlyArchive);
  });

  /** A run that stops before it puts something into the bucket, until it is let go. */
  async function stuckRun(job: ExportJob, what: 'part' | 'tail', time: number) {
    const { realm: slow, tools } = mortal(realm, toolsFor(realm));
    const [stuck, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const pause = async (isThat: boolean): Promise<void> => {
      if (!isThat) return;
      stuck.resolve();
      await gate.promise;
    };
    const uploads: typeof tools.uploads = {
      ...tools.uploads,
      putPart: async (...part) => {
        await pause(what === 'part');
        return tools.uploads.putPart(...part);
      },
    };
    const objects: typeof tools.objects = {
      ...tools.objects,
      put: async (bucket, key, ...rest) => {
        await pause(what === 'tail' && key.includes('tail'));
        return tools.objects.put(bucket, key, ...rest);
      },
    };
    const { outside } = slow;
    const task = { outside, tools: { ...tools, uploads, objects }, job };
    const run = runExport(task, outside.now() + time);
    await stuck.promise;
    realm.pass(LEASE);
    return {
      finish: async () => {
        gate.resolve();
        await run;
      },
    };
  }

  test('is not damaged by a run that has lost its lease', async () => {
    const job = await givenExport(realm, 'full_without_consent');
    const slow = await stuckRun(job, 'part', TIME);
    expect(await delivered(workerOf(realm), job, { seconds: 1 })).toBe(true);
    await slow.finish();
    expect((await storedExport(realm, job)).state).toBe('pending');
    expect(await delivered(workerOf(realm), job)).toBe(true);
    const contents = await contentsOf((await archiveOf(realm, job)) ?? new Uint8Array());
    expect(contents.records.messages?.length).toBe(MANY + 2);
    expect(await leftOf(job)).toEqual(onlyArchive);
  });

  test.each(['part', 'tail'] as const)(
    'is not damaged by a late upload of its %s after the end',
    async (what) => {
      const job = await givenExport(realm, 'public');
      const slow = await stuckRun(job, what, what === 'tail' ? 1 : TIME);
      expect(await delivered(workerOf(realm), job)).toBe(true);
      await slow.finish();
      await contentsOf((await archiveOf(realm, job)) ?? new Uint8Array());
      expect(await leftOf(job)).toEqual(onlyArchive);
      expect((await listed(realm))[0]).toMatchObject({ id: job.id, pending: false, failed_timestamp: null });
    },
  );

  test('takes one more run after a failed upload of a part', async () => {
    const job = await givenExport(realm, 'full_without_consent');
    let parts = 0;
    const store = await startFaultyStore(inject('sqsS3'), ({ url }) =>
      url.includes('partNumber=') && parts++ < 3 ? 'cut' : 'pass',
    );
    const container = realm.container(undefined, {
      wait: async () => {},
      environment: { AWS_ENDPOINT_URL_S3: store.url },
    });
    // The client itself tries three times.
    expect(await delivered(container, job)).toBe(true);
    expect(container.reports).toMatchObject([{ level: 'ERROR', worker: 'export', exportId: job.id }]);
    expect(await storedExport(realm, job)).toMatchObject({ state: 'pending', leased: 0, tries: 1 });
    expect(await delivered(container, job)).toBe(true);
    store.close();
    expect((await listed(realm))[0]).toMatchObject({ id: job.id, pending: false });
    await contentsOf((await archiveOf(realm, job)) ?? new Uint8Array());
    expect(await leftOf(job)).toEqual(onlyArchive);
  });
});

describe('an export that keeps failing', () => {
  test('ends as failed, with its upload aborted and its message a dead letter', async () => {
    const { realm } = await givenOrganization();
    const job = await givenExport(realm, 'public');
    const store = await startFaultyStore(inject('sqsS3'), ({ url }) =>
      url.includes('partNumber=') ? 'refuse' : 'pass',
    );
    const broken = realm.container(undefined, {
      wait: async () => {},
      environment: { AWS_ENDPOINT_URL_S3: store.url },
    });
    const done: boolean[] = [];
    for (let i = 0; i < 7; i++) done.push(await delivered(broken, job));
    store.close();
    // Five tries, and the last one gives up; after that its messages are refused.
    expect(done).toEqual([true, true, true, true, false, false, false]);
    expect(await listed(realm)).toMatchObject([
      { pending: false, failed_timestamp: expect.any(Number), export_url: null },
    ]);
    expect(await leftOf(job)).toEqual({ objects: [], uploads: 0 });
    expect(broken.reports.every(({ level }) => level === 'ERROR')).toBe(true);
  });

  test('also ends if every run dies without an error', async () => {
    const { realm } = await givenOrganization();
    const job = await givenExport(realm, 'public');
    for (let i = 0; i < 5; i++) {
      expect((await storedExport(realm, job)).state).toBe('pending');
      await struck(realm, job, { at: 5, kind: 'death' });
      realm.pass(LEASE);
    }
    expect(await delivered(workerOf(realm), job)).toBe(false);
    expect(await listed(realm)).toMatchObject([{ pending: false, failed_timestamp: expect.any(Number) }]);
    expect(await leftOf(job)).toEqual({ objects: [], uploads: 0 });
  });

  test('does not fail the other messages of its batch if its queue message is unreadable', async () => {
    const { realm } = await givenOrganization();
    const job = await givenExport(realm, 'public');
    const bad = queued('{"realm":7}');
    const good = queued(JSON.stringify({ realm: job.realm, token: job.token }));
    const reply = await runQueue(workerOf(realm), worker, [bad, good]);
    expect(reply).toEqual({ batchItemFailures: [{ itemIdentifier: bad.messageId }] });
    expect(await listed(realm)).toMatchObject([{ pending: false, failed_timestamp: null }]);
  });
});
