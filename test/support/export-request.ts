import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { handler as create } from '../../functions/exports/create.ts';
import { handler as list } from '../../functions/exports/list.ts';
import { handler as worker } from '../../functions/workers/export.ts';
import { type Inspection, inspectExport } from '../../infra/local/export-archive.ts';
import type { ExportRecord } from '../../infra/local/export-check.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import {
  archiveKey,
  EXPORTS,
  type ExportJob,
  type ExportType,
  exportKey,
  type RealmExport,
} from '../../shared/domain/export/realm-export.ts';
import { doRequestExport } from '../../shared/domain/export/request.ts';
import { commit } from '../../shared/log/commit.ts';
import type { Person, Reply, TestRealm } from './realm.ts';
import type { Work } from './work-queue.ts';
import { queued, runQueue } from './worker-run.ts';

/** Asks for an export. */
export const asked = (realm: TestRealm, as: Person, type?: ExportType | string): Promise<Reply> =>
  realm.call(create, as, type === undefined ? {} : { export_type: type });

/** The exports as a user sees them, the newest first. */
export async function listed(realm: TestRealm, as = realm.people.owner) {
  const { body } = await realm.call(list, as);
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return (body.exports as ExportObject[]).toReversed();
}

interface ExportObject {
  readonly id: number;
  readonly export_url: string | null;
  readonly pending: boolean;
  readonly [field: string]: unknown;
}

/** An export that was asked for, whatever the quota says, without a message in any queue. */
export async function givenExport(realm: TestRealm, type: ExportType): Promise<ExportJob & { id: number }> {
  const { outside, people } = realm;
  const token = outside.uuid();
  const [stored, user] = await Promise.all([
    outside.table.get('realm', { realm: realm.realm }),
    outside.table.get('user', { realm: realm.realm, userId: people.owner.userId }),
  ]);
  if (!stored || !user) throw new Error('there is no realm');
  const { id } = await commit(realm.log, 1, ([exportId = 0]) => {
    const snapshot = { quota: undefined, counter: undefined, uploads: 0, consenter: undefined };
    const caller = { realmId: realm.realm, realm: stored, user };
    const change = doRequestExport(caller, { exportId, token, type }, snapshot, outside.now());
    return { ...change, writes: change.writes.slice(0, 1) };
  });
  return { realm: realm.realm, token, id };
}

/** What is stored of an export. */
export async function storedExport(
  { realm, outside }: TestRealm,
  { token }: ExportJob,
): Promise<RealmExport> {
  const stored = await outside.table.get(exportKey(realm, token));
  if (!stored) throw new Error('there is no such export');
  return stored;
}

/** Delivers a message to the worker, and returns whether it is done with it. It never pauses. */
export async function delivered(
  realm: TestRealm,
  job: ExportJob,
  { seconds, receives }: { readonly seconds?: number; readonly receives?: number } = {},
): Promise<boolean> {
  const body = JSON.stringify({ realm: job.realm, token: job.token });
  const reply = await runQueue(realm, worker, [queued(body, receives)], seconds);
  return reply.batchItemFailures.length === 0;
}

/** A container of the worker, which does not wait between pages. */
export const workerOf = (realm: TestRealm): TestRealm => realm.container(undefined, { wait: async () => {} });

/** Delivers what waits in the queue, until nothing does. */
export async function worked(realm: TestRealm, work: Work, seconds?: number): Promise<number> {
  const container = workerOf(realm);
  for (let runs = 0; ; ) {
    const messages = await work.receive();
    if (messages.length === 0) return runs;
    for (const message of messages) {
      const job: ExportJob = JSON.parse(message.Body ?? '');
      expect(await delivered(container, job, seconds === undefined ? {} : { seconds })).toBe(true);
      await work.done(message);
      runs++;
    }
  }
}

/** What is in an archive: the records by folder, the other files by name, and all of its bytes as text. */
export interface Contents extends Inspection {
  readonly records: Readonly<Record<string, readonly ExportRecord[]>>;
  readonly others: ReadonlyMap<string, Buffer>;
  readonly text: string;
}

/** Reads an archive, which must be whole. */
export async function contentsOf(archive: Uint8Array): Promise<Contents> {
  const records: Record<string, ExportRecord[]> = {};
  const others = new Map<string, Buffer>();
  let text = '';
  const inspection = await inspectExport(Readable.from([Buffer.from(archive)]), {
    onRecord: (section, record) => {
      records[section] ??= [];
      records[section].push(record);
      text += JSON.stringify(record);
    },
    onFile: (name, bytes) => {
      others.set(name, bytes);
      text += name + bytes.toString('latin1');
    },
  });
  expect(inspection.problems).toEqual([]);
  return { ...inspection, records, others, text };
}

/** The archive of an export, straight from its bucket; undefined where there is none. */
export const archiveOf = async ({ outside }: TestRealm, job: ExportJob): Promise<Uint8Array | undefined> =>
  (await s3Objects(outside.environment).get(EXPORTS, archiveKey(job.realm, job.token)))?.bytes;

/** Makes an export in one go and reads it. */
export async function exported(realm: TestRealm, type: ExportType): Promise<Contents> {
  const job = await givenExport(realm, type);
  expect(await delivered(workerOf(realm), job)).toBe(true);
  const archive = await archiveOf(realm, job);
  if (!archive) throw new Error('there is no archive');
  return contentsOf(archive);
}

/** The same with the fields of objects in one order: DynamoDB gives them in any. */
const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, of]) => [name, ordered(of)]),
  );
};

/** What makes two archives the same, however they were cut into files. */
export function digestOf({ records, others }: Contents): string {
  const files = [...others].filter(([name]) => name !== 'manifest.json');
  const told = files.map(([name, bytes]) => [
    name,
    name.endsWith('.json') ? JSON.parse(bytes.toString()) : bytes.toString('base64'),
  ]);
  return createHash('sha256')
    .update(JSON.stringify(ordered([records, told])))
    .digest('hex');
}
