import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { buildFunctions } from '../../infra/build.ts';
import { type Inspection, inspectExport } from '../../infra/local/export-archive.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { archiveKey, EXPORTS, type ExportJob, exportKey } from '../../shared/domain/export/realm-export.ts';
import { exportWorker } from '../../shared/endpoints/workers.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { FunctionProcess } from './function-process.ts';
import { givenLargeExport } from './large-export.ts';
import { type Environment, startOwnStores, workOff } from './own-stores.ts';

/** An export whose archive was read back and is whole. */
export interface ExportRow {
  readonly messages: number;
  /** Runs of the worker, one after the other. */
  readonly runs: number;
  /** From the first of them to the end of the last one. */
  readonly seconds: number;
  /** The most memory (MB) that the process of the worker ever had. */
  readonly peakMb: number;
  readonly archiveBytes: number;
  readonly files: number;
}

/**
 * Megabytes of heap that the worker may have: what 256 MB leave beside Node itself and buffers. Without an end Node
 * would tidy up late, and the peak would tell how much there is instead of how much is needed.
 */
const HEAP = 160;

/**
 * Measures the export of a large organization. Its messages are put straight into a store of its own; the worker is the
 * very bundle that Lambda gets, in a process of its own, so that its memory is only its own. The archive is read back.
 *
 * @param onStep Gets what is done, and how long (s) it took.
 * @throws Error when the worker fails, or the archive is not whole.
 */
export async function measureExport(
  messages: number = designBudgets.exportMessages,
  onStep: (step: string, seconds: number) => void = () => {},
): Promise<readonly ExportRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-export-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })];
  const timed = async <T>(step: string, work: () => Promise<T>): Promise<readonly [T, number]> => {
    const began = performance.now();
    const result = await work();
    const seconds = (performance.now() - began) / 1000;
    onStep(step, seconds);
    return [result, seconds];
  };
  try {
    const environment = await startOwnStores(folder, ends);
    const [given] = await timed(`${messages} messages put into a store`, () =>
      givenLargeExport(environment, messages),
    );
    const worker = await startWorker(folder, environment, ends);
    const [work, seconds] = await timed('the export', () => workOff(worker, environment, given));
    const [archive] = await timed('its archive read', () => readArchive(environment, given));
    const { files, counts } = archive;
    const faults = [...archive.problems];
    if (counts.messages !== messages) faults.push(`${counts.messages} of ${messages} messages are there.`);
    if (faults.length > 0) throw new Error(`The archive of the export is not whole. ${faults.join(' ')}`);
    return [{ messages, seconds, ...work, archiveBytes: archive.bytes, files }];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Starts a process that does nothing but what the worker does. */
async function startWorker(
  folder: string,
  environment: Environment,
  ends: (() => Promise<unknown>)[],
): Promise<FunctionProcess> {
  const outdir = join(folder, 'dist');
  const { bundles } = await buildFunctions({ endpoints: [], workers: [exportWorker], outdir });
  const worker = new FunctionProcess(bundles[exportWorker.id]?.directory ?? '', environment, [
    `--max-old-space-size=${HEAP}`,
  ]);
  ends.push(() => worker.stop());
  return worker;
}

/** Reads the archive back and checks it. */
async function readArchive(
  environment: Environment,
  { realm, token }: ExportJob,
): Promise<Inspection & { readonly bytes: number }> {
  const { table } = makeOutside(environment);
  const { state } = (await table.get(exportKey(realm, token))) ?? {};
  if (state !== 'succeeded') throw new Error(`The export is not done, but ${state}.`);
  const link = await s3Objects(environment).link(EXPORTS, archiveKey(realm, token), 600, 'export.tar.gz');
  const { body } = await fetch(link);
  let bytes = 0;
  const archive = Readable.fromWeb(body as ReadableStream).on('data', ({ length }) => {
    bytes += length;
  });
  return { ...(await inspectExport(archive)), bytes };
}
