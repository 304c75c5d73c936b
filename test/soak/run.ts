/**
 * `npm run soak -- --minutes 3 --seed 1`: the whole service under faults. Functions crash, the store throttles and
 * conflicts, replies get lost, the service and its store are killed and started again, while people write and read.
 * At the end nothing that was acknowledged is lost, nothing is there twice, everybody heard every event once and in
 * order, and all counters are equal to what they count; otherwise it says what is wrong, and ends with 1.
 *
 * `DYNAMODB_ENDPOINT` takes another store, which must be empty, and is not killed.
 *
 * The seed decides what the clients do and which faults they meet, but not how that interleaves.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Claims } from './claims.ts';
import { Client, Tally } from './client.ts';
import { act } from './deeds.ts';
import { type Dozed, doze } from './dozer.ts';
import type { Fault } from './faulty-door.ts';
import { faultsIn, isWeather } from './function-faults.ts';
import { doLastWork } from './last-work.ts';
import { pick, type Random, randomOf } from './random-choice.ts';
import { Reader, registerTwin } from './reader.ts';
import { type Cast, setScene, type Writer } from './scene.ts';
import { type Ending, SoakService } from './service.ts';
import { storedAt } from './truth.ts';
import { type Audience, judge } from './verdict.ts';

/** How long (ms) it is quiet before the end, so that what was late has come. */
const calm = 8_000;
/** How long (ms) the service runs between two restarts, at most; at least a third of it. */
const longestRun = 45_000;
/** Longest pause (ms) of a writer between two deeds. */
const longestPause = 100;
/** How long (ms) a reader may take to come to the end when all is quiet. */
const longestEnd = 120_000;
/** Most faults that are shown. */
const shown = 25;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0) || !Number.isInteger(seed)) throw new Error('--minutes and --seed are numbers.');

const faults = new Map<Fault | Ending, number>();
const count = (what: Fault | Ending): void => void faults.set(what, (faults.get(what) ?? 0) + 1);
const said = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([what, times]) => `${what} ${times}`).join(', ') || 'none';

const folder = await mkdtemp(join(tmpdir(), 'parlance-soak-'));
const wrong: string[] = [];
console.log(`soak of ${minutes} minutes with seed ${seed}`);
const given = process.env.DYNAMODB_ENDPOINT ? new URL(process.env.DYNAMODB_ENDPOINT) : undefined;
const service = await SoakService.start(folder, given, randomOf(seed, 'door'), count, (words) => {
  console.log(`WRONG: the service has ended by itself: ${words}\nfailed; seed ${seed}; see ${folder}`);
  process.exit(1);
});
const tally = new Tally();
const claims = new Claims();
const scene = await setScene({ seed, address: service.address, folder, tally, claims });

const audience: Audience[] = [];
const reading = new Map<Reader, Promise<void>>();
const end = `the soak ${seed} has ended`;
const writers: Writer[] = [];
for (const cast of scene.writers) {
  const { queueId } = await listen(cast, '', false);
  writers.push({ ...cast, queueId, count: 0 });
}
for (const cast of scene.watchers) for (const nth of ['1', '2']) await listen(cast, nth, true);

const deadline = performance.now() + minutes * 60_000;
const isOver = (): boolean => performance.now() > deadline;
turn('bad');
const [dozed] = await Promise.all([
  dozer(),
  restarts(randomOf(seed, 'restarts')),
  latecomers(),
  ...writers.map(write),
]);
turn('good');
await wait(calm);
await doLastWork(await storedAt(service.store));
const quiet = new Map(tally.replies);
await scene.admin.client.must({ method: 'PATCH', path: 'realm', parameters: { description: end } });
await Promise.all([...reading].map(([{ name }, read]) => inTime(name, read)));
const realm = await storedAt(service.store);
const verdict = await judge(scene, audience, realm);
wrong.push(...dozed.wrong, ...verdict.wrong, ...verdict.audited.map((what) => `audit: ${what}`));
for (const [status, times] of tally.replies) {
  const since = times - (quiet.get(status) ?? 0);
  if ((status >= '500' || status === 'lost') && since > 0)
    wrong.push(`${since} replies ${status} in good weather`);
}
await service.stop();
const logged = [...faultsIn(join(folder, 'logs'))];
for (const [what, { count, functions }] of logged) {
  if (!isWeather(what)) wrong.push(`${[...functions].join(', ')} failed ${count} times: ${what}`);
}
report();
if (wrong.length === 0) await rm(folder, { recursive: true, force: true });
process.exit(wrong.length === 0 ? 0 : 1);

/** Starts or ends the faults, and changes the timeouts of clients with them. */
function turn(weather: 'good' | 'bad'): void {
  service.isCalm = weather === 'good';
  for (const { client } of [scene.admin, ...scene.writers, ...audience.map(({ reader }) => reader)]) {
    client.isPatient = weather === 'good';
  }
}

/** Gives up a reader that does not come to the end. */
async function inTime(name: string, read: Promise<void>): Promise<void> {
  const limit = wait(longestEnd, 'late' as const, { ref: false });
  if ((await Promise.race([read, limit])) === 'late') wrong.push(`${name} never heard of the end`);
}

/** Registers a program of a user that reads to the end. */
async function listen({ name, client }: Cast, nth: string, isSteady: boolean): Promise<Reader> {
  const twin = await registerTwin(client);
  const own = new Client(service.address, client.person, tally, randomOf(seed, `${name}${nth} calls`));
  const reader = await Reader.register(`${name}${nth}`, own, randomOf(seed, `${name}${nth} reads`));
  audience.push({ reader, twin, isSteady });
  reading.set(reader, reader.readTo(end));
  return reader;
}

async function write(writer: Writer): Promise<void> {
  while (!isOver()) {
    await act(scene, writer);
    await wait(writer.random() * longestPause);
  }
}

async function restarts(random: Random): Promise<void> {
  for (;;) {
    const until = performance.now() + (longestRun * (1 + 2 * random())) / 3;
    while (performance.now() < until && !isOver()) await wait(100);
    if (isOver()) return;
    const ending = pick(random, service.endings);
    count(ending);
    await service.restart(ending);
  }
}

/** Programs that register in the middle of everything, and must end up with the same state. */
async function latecomers(): Promise<void> {
  const [alice, bob] = scene.watchers as [Cast, Cast];
  for (const cast of [alice, bob]) {
    await wait((minutes * 60_000) / 3);
    const client = new Client(service.address, cast.client.person, tally, cast.random);
    const reader = await listen({ ...cast, client }, ' late', true);
    reader.client.isPatient = false;
  }
}

/** A user who sleeps longer than a queue lives, now and then. */
function dozer(): Promise<Dozed> {
  const [{ client }] = scene.watchers as [Cast];
  const own = new Client(service.address, client.person, tally, randomOf(seed, 'dozing client'));
  own.isPatient = false;
  return doze(own, randomOf(seed, 'dozer'), isOver);
}

function report(): void {
  const { sent, changed } = claims.acknowledged;
  const heard = audience.reduce((sum, { reader }) => sum + reader.heard.length, 0);
  const { calls, acknowledged, refused, unknown, retried, replies } = tally;
  console.log(
    [
      `calls: ${calls}; requests acknowledged ${acknowledged}, refused ${refused}, given up ${unknown}; tries again ${retried}`,
      `replies: ${said(replies)}`,
      `faults and restarts: ${said(faults)}`,
      `acknowledged sends ${sent}, other changes ${changed}; messages at the end ${verdict.messages}`,
      `events delivered: ${heard} to ${audience.length} readers; queues that were let go and made anew: ${dozed.registered - 1}`,
      `audit: ${verdict.audited.length === 0 ? 'all counters are equal to what they count' : 'faults'}`,
      ...logged
        .filter(([what]) => isWeather(what))
        .map(([what, { count, functions }]) => {
          const who = [...functions].join(', ').replaceAll('Parlance-', '');
          return `  logged ${count} times by ${who}: ${what.slice(0, 100)}`;
        }),
      ...wrong.slice(0, shown).map((what) => `WRONG: ${what}`),
      ...(wrong.length > shown ? [`and ${wrong.length - shown} more`] : []),
      wrong.length === 0
        ? 'passed'
        : `failed: ${wrong.length} things are wrong; seed ${seed}; all that was stored and logged is in ${folder}`,
    ].join('\n'),
  );
}
