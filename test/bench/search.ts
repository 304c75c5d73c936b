import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFunctions } from '../../infra/build.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { loadList, loadPointer } from '../../shared/domain/search/pointer.ts';
import { listMessages } from '../../shared/endpoints/messages.ts';
import { exportWorker } from '../../shared/endpoints/workers.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { FunctionProcess, type Ran } from './function-process.ts';
import { givenLargeOrganization, HOST, randomFrom } from './large-organization.ts';
import { median } from './latencies.ts';
import { type Environment, startOwnStores, workOff } from './own-stores.ts';

/** A search for the newest messages that match. */
export interface SearchRow {
  readonly what: string;
  readonly messages: number;
  /** Messages of the first page. */
  readonly found: number;
  /** Medians, ms: of the first search in a new process, and of one that searched before. */
  readonly coldMs: number;
  readonly warmMs: number;
  /** The same of its own processor time, which other programs make no longer. */
  readonly coldCpuMs: number;
  readonly warmCpuMs: number;
}

/** How the index of all messages was made. */
export interface IndexRow {
  readonly messages: number;
  readonly seconds: number;
  readonly runs: number;
  readonly peakMb: number;
  readonly segments: number;
  readonly bytes: number;
}

/** Processes that search for each thing, and searches of the last one of them. */
const COLD = 5;
const WARM = 21;

/** Messages of a page. */
const PAGE = 50;

/** Words, from the commonest to the rarest. None is another one with an ending. */
const WORDS = 20_000;
const CONSONANTS = 'bdfgklmnprst';
const VOWELS = 'aeiou';
function wordAt(rank: number): string {
  let [word, rest] = ['', rank];
  for (let i = 0; i < 3; i++) {
    word += `${CONSONANTS[rest % 12]}${VOWELS[Math.floor(rest / 12) % 5]}`;
    rest = Math.floor(rest / 60);
  }
  return `${word}x`;
}

/** A word that is in one of so many messages. */
const RARE = 'zanzibar';
const RARE_IN = 20_000;

/** What people say: words as unevenly as in a language, the same in every run. */
function textOf(index: number): { readonly content: string; readonly rendered: string } {
  const next = randomFrom(index);
  const word = (): string => wordAt(Math.floor(WORDS * (next(1_000_000) / 1_000_000) ** 3));
  const content = [
    ...Array.from({ length: 5 + next(60) }, word),
    ...(index % RARE_IN === 0 ? [RARE] : []),
  ].join(' ');
  return { content, rendered: `<p>${content}</p>` };
}

/** What is searched for. The budget is for words; a phrase of common words reads many messages in vain (docs/LIMITS.md). */
const searches = {
  'a common word': wordAt(0),
  'two words': `${wordAt(100)} ${wordAt(200)}`,
  'a rare word': RARE,
  'a word that is nowhere': 'nowhere',
  'a phrase of common words': `"${wordAt(1)} ${wordAt(2)}"`,
} as const;

/** The searches that the budget is for. */
export const isBudgeted = ({ what }: SearchRow): boolean => !what.includes('phrase');

/**
 * Measures searches in a large organization. Its messages are put straight into a store of its own, and the worker indexes
 * them. Worker and fetch are the very bundles that Lambda gets, in processes of their own.
 *
 * @param onStep Gets what is done, and how long (s) it took.
 * @throws Error when the worker or a search fails.
 */
export async function measureSearch(
  messages: number = designBudgets.searchMessages,
  onStep: (step: string, seconds: number) => void = () => {},
): Promise<{ readonly index: IndexRow; readonly rows: readonly SearchRow[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-search-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })];
  try {
    const environment = await startOwnStores(folder, ends);
    const outdir = join(folder, 'dist');
    const { bundles } = await buildFunctions({ endpoints: [listMessages], workers: [exportWorker], outdir });
    let began = performance.now();
    const { log, people } = await givenLargeOrganization(environment, messages, textOf);
    onStep(`${messages} messages put into a store`, (performance.now() - began) / 1000);
    const worker = new FunctionProcess(bundles[exportWorker.id]?.directory ?? '', environment);
    ends.push(() => worker.stop());
    began = performance.now();
    const work = await workOff(worker, environment, { realm: log.realm });
    const seconds = (performance.now() - began) / 1000;
    onStep('the index', seconds);
    const index = { messages, seconds, ...work, ...(await sizeOf(environment, log.realm)) };
    const { email, apiKey } = people.member;
    const rows: SearchRow[] = [];
    for (const [what, text] of Object.entries(searches)) {
      const event = searchEvent(email, apiKey, text);
      rows.push({
        what,
        messages,
        ...(await measure(bundles[listMessages.id]?.directory ?? '', environment, event)),
      });
      onStep(what, (rows.at(-1)?.coldMs ?? 0) / 1000);
    }
    return { index, rows };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function sizeOf(
  environment: Environment,
  realm: string,
): Promise<Pick<IndexRow, 'segments' | 'bytes'>> {
  const pointer = await loadPointer(makeOutside(environment).table, realm);
  const list = pointer && (await loadList(s3Objects(environment), pointer));
  if (!list) throw new Error('There is no index.');
  const { segments } = list;
  return { segments: segments.length, bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0) };
}

async function measure(
  directory: string,
  environment: Environment,
  event: object,
): Promise<Omit<SearchRow, 'what' | 'messages'>> {
  const [cold, warm]: [Ran<unknown>[], Ran<unknown>[]] = [[], []];
  let found = 0;
  for (let round = 1; round <= COLD; round++) {
    const fetching = new FunctionProcess(directory, environment);
    try {
      for (let n = 0; n < (round === COLD ? WARM : 1); n++) {
        const ran = await fetching.run<{ statusCode: number; body: string }>(event, 30);
        const { reply } = ran;
        if (reply.statusCode !== 200) throw new Error(`A search was refused: ${reply.body}`);
        found = JSON.parse(reply.body).messages.length;
        (n === 0 ? cold : warm).push(ran);
      }
    } finally {
      await fetching.stop();
    }
  }
  const medianOf = (all: readonly Ran<unknown>[], time: 'ms' | 'cpuMs') =>
    median(all.map((ran) => ran[time]));
  return {
    found,
    coldMs: medianOf(cold, 'ms'),
    warmMs: medianOf(warm, 'ms'),
    coldCpuMs: medianOf(cold, 'cpuMs'),
    warmCpuMs: medianOf(warm, 'cpuMs'),
  };
}

/** The request for the first page, as API Gateway hands it to the function. */
const searchEvent = (email: string, apiKey: string, text: string): object => ({
  headers: {
    host: HOST,
    'user-agent': 'ParlanceBench/1.0',
    authorization: `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`,
  },
  body: null,
  isBase64Encoded: false,
  pathParameters: null,
  multiValueQueryStringParameters: {
    anchor: ['newest'],
    num_before: [String(PAGE)],
    num_after: ['0'],
    narrow: [JSON.stringify([{ operator: 'search', operand: text }])],
  },
  requestContext: { requestId: 'measured', domainName: HOST },
});
