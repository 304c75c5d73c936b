import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build as esbuild } from 'esbuild';
import { buildFunctions, bundling } from '../../infra/build.ts';
import { leanBundles } from '../../infra/bundle-plugins.ts';
import { defaultMemory } from '../../infra/endpoint-function.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { bundleBudget } from '../support/design-budgets.ts';
import { median } from './latencies.ts';

export interface FunctionRow {
  /** The id of its endpoint or worker, or in brackets what functions are compared with. */
  readonly id: string;
  /** Size of the bundle, minified. */
  readonly bytes: number;
  /** The median of the imports in fresh processes, ms. */
  readonly importMs: number;
  /** This median to that of the bare document client, which was imported in turn with it. */
  readonly ratio: number;
  /** Processor time of it, ms, which other programs make no longer; the median, and its ratio to the same. */
  readonly cpuMs: number;
  readonly cpuRatio: number;
  /** The heap after the import, and the most memory that the process ever had, MB; most of that is Node's own. */
  readonly heapMb: number;
  readonly peakMb: number;
  /** What it is given on Lambda, MB; absent for what is no function. */
  readonly memoryMb?: number;
  /** The budget of its bundle, bytes. */
  readonly budget: number;
}

/** Imports of each function. */
const ROUNDS = 5;

/** Everything that functions do with the table, and nothing besides: what DESIGN calls the bare document client. */
const DOCUMENT_CLIENT = `
  export { DynamoDBClient } from '@aws-sdk/client-dynamodb';
  export {
    BatchGetCommand, DynamoDBDocumentClient, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand,
  } from '@aws-sdk/lib-dynamodb';
`;

interface Candidate extends Pick<FunctionRow, 'id' | 'bytes' | 'budget'> {
  readonly file: string;
  readonly memoryMb?: number;
}

export interface Import {
  readonly importMs: number;
  readonly cpuMs: number;
  readonly peakMb: number;
  readonly heapMb: number;
}

/**
 * Measures what the start of each function costs: its bytes, the time of its import in a fresh process of the Node that
 * Lambda has, and its memory. Before each import comes one of the bare document client, from a bundle that is made in
 * the same way, so that a busy moment of the machine meets both.
 *
 * @param ids The functions to measure; all if absent.
 * @param rounds How often each is imported.
 */
export async function measureFunctions(
  ids?: readonly string[],
  rounds = ROUNDS,
): Promise<readonly FunctionRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-functions-'));
  try {
    const bare = await documentClient(folder, '(document client)', false);
    const lean = await documentClient(folder, '(document client, lean)', true);
    const candidates = [lean, ...(await functions(folder, ids))];
    const rows: FunctionRow[] = [];
    const every: Import[] = [];
    for (const candidate of candidates) {
      const [own, others] = [[] as Import[], [] as Import[]];
      for (let round = 0; round < rounds; round++) {
        others.push(await importOf(bare.file));
        own.push(await importOf(candidate.file));
      }
      every.push(...others);
      rows.push(rowOf(candidate, own, others));
    }
    return [rowOf(bare, every, every), ...rows];
  } finally {
    await rm(folder, { recursive: true });
  }
}

function rowOf(
  { file: _, ...candidate }: Candidate,
  own: readonly Import[],
  others: readonly Import[],
): FunctionRow {
  const middle = (name: keyof Import, imports = own): number => median(imports.map((one) => one[name]));
  return {
    ...candidate,
    importMs: middle('importMs'),
    ratio: middle('importMs') / middle('importMs', others),
    cpuMs: middle('cpuMs'),
    cpuRatio: middle('cpuMs') / middle('cpuMs', others),
    heapMb: middle('heapMb'),
    peakMb: middle('peakMb'),
  };
}

async function documentClient(folder: string, id: string, isLean: boolean): Promise<Candidate> {
  const file = join(folder, isLean ? 'lean' : 'bare', 'index.mjs');
  const { outputFiles } = await esbuild({
    ...bundling,
    stdin: { contents: DOCUMENT_CLIENT, resolveDir: bundling.absWorkingDir },
    outfile: file,
    write: false,
    plugins: isLean ? leanBundles : [],
  });
  const [output] = outputFiles;
  if (!output) throw new Error('esbuild made nothing.');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, output.contents);
  return { id, file, bytes: output.contents.length, budget: bundleBudget([]) };
}

/** The functions, built. */
async function functions(folder: string, ids: readonly string[] | undefined): Promise<Candidate[]> {
  const dist = join(folder, 'dist');
  const { bundles } = await buildFunctions({ outdir: dist });
  const outputs = await outputsIn(dist);
  return [...endpoints, ...workers]
    .filter(({ id }) => ids?.includes(id) ?? true)
    .flatMap(({ id, memory: memoryMb = defaultMemory }) => {
      const bundle = bundles[id];
      if (!bundle) return [];
      const inputs = Object.keys(
        outputs.find(([name]) => name.endsWith(`/${id}/index.mjs`))?.[1].inputs ?? {},
      );
      return {
        id,
        bytes: bundle.bytes,
        file: join(bundle.directory, 'index.mjs'),
        budget: bundleBudget(inputs),
        memoryMb,
      };
    });
}

/** What esbuild says is in each bundle. */
async function outputsIn(dist: string): Promise<[string, { readonly inputs: object }][]> {
  return Object.entries(JSON.parse(await readFile(join(dist, 'metafile.json'), 'utf8')).outputs);
}

/** Imports a bundle in a fresh process, without anything that an earlier one left (Node's cache of compiled code). */
export async function importOf(file: string): Promise<Import> {
  const { NODE_COMPILE_CACHE: _, NODE_OPTIONS: __, ...environment } = process.env;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(import.meta.dirname, 'import.mjs'), pathToFileURL(file).href],
    { env: { ...environment, AWS_REGION: 'us-east-1' } },
  );
  return JSON.parse(stdout);
}
