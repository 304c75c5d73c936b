import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { handler as downloadFile } from '../../functions/files/download.ts';
import { handler as getFile } from '../../functions/files/get.ts';
import { handler as getThumbnail } from '../../functions/files/getThumbnail.ts';
import { setInService } from '../../shared/domain/realm-edit/service.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { holdingToGrants } from '../support/grants.ts';
import { handlers } from '../support/handlers.ts';
import { basic } from '../support/raw-request.ts';
import { onlyDeclared, type Person } from '../support/realm.ts';
import { learn } from './learn.ts';
import { Listeners } from './listeners.ts';
import { faultOf, leakOf, textOf } from './oracle.ts';
import { repair } from './repair.ts';
import { type HostKind, type Proof, type RequestDraft, requestsTo, type Sent, written } from './request.ts';
import { workOff } from './workers.ts';
import { type Actor, newWorld, poolsOf, refresh, type Side, type World } from './world.ts';

/** How long (ms) a call may take, waits of the service aside, which take no time here. */
const HANG = 20_000;
/** Calls between two looks at what there is. */
const REFRESH = 60;
/** Most requests at once. */
const AT_ONCE = 3;

/** What a run came to. */
export interface Outcome {
  readonly calls: number;
  /** How often each endpoint answered with each status: `messages.send 200`. */
  readonly answers: ReadonlyMap<string, number>;
  /** The first of each kind, with the request that did it. */
  readonly faults: readonly string[];
  readonly world: World;
}

/** What serves files. It is no part of the API, but takes its credentials. */
const fileHandlers = [getFile, downloadFile, getThumbnail].map(
  (handler) => [handler.endpoint, handler] as const,
);

/** Every endpoint that gets requests. */
export const targets: readonly Endpoint[] = [...endpoints, ...fileHandlers.map(([endpoint]) => endpoint)];

const handlerOf = ({ id }: Endpoint): Served =>
  (handlers.get(id) ?? fileHandlers.find(([endpoint]) => endpoint.id === id)?.[1]) as Served;

/** Some requests that arrive at the same time. */
const batches = fc.array(fc.oneof(...targets.map(requestsTo)), { minLength: 1, maxLength: AT_ONCE });

/** Sends so many requests, the same ones for a seed as long as their replies are the same. */
export async function abuse(seed: number, calls: number): Promise<Outcome> {
  const world = await newWorld();
  const listeners = new Listeners(world.secrets);
  await listeners.hear(world.actors);
  const answers = new Map<string, number>();
  const faults = new Map<string, string>();
  let sent = 0;
  let since = 0;
  const property = fc.asyncProperty(batches, async (batch) => {
    if (sent >= calls) return;
    const found = await Promise.all(batch.map((draft) => attempt(world, draft)));
    for (const { what, fault, request, reply } of found) {
      answers.set(what, (answers.get(what) ?? 0) + 1);
      if (fault && !faults.has(`${what} ${fault}`)) {
        faults.set(`${what} ${fault}`, `${what} ${fault}\n  ${request}\n  ${reply}`);
      }
    }
    sent += batch.length;
    since += batch.length;
    if (since < REFRESH) return;
    since = 0;
    for (const side of world.sides) {
      for (const fault of await workOff(side)) faults.set(fault, fault);
      await repair(side, world.actors);
      await refresh(side);
    }
    for (const fault of await listeners.hear(world.actors)) faults.set(fault, fault);
  });
  await fc.assert(property, { seed, numRuns: calls, endOnFailure: true });
  world.stop();
  return { calls: sent, answers, faults: [...faults.values()], world };
}

interface Attempt {
  readonly what: string;
  readonly fault: string | undefined;
  readonly request: string;
  readonly reply: string;
}

/** One request and what is to be said of its reply. */
async function attempt(world: World, draft: RequestDraft): Promise<Attempt> {
  const { endpoint } = draft;
  const able = draft.suited ? world.actors.filter((actor) => suits(actor, endpoint)) : world.actors;
  const actor = able[draft.actor % able.length] as Actor;
  const { side } = actor;
  const other = world.sides.find((one) => one !== side) as Side;
  const { realm } = side;
  const host = hostOf(draft.host, side, other);
  const caller = actor.person;
  const headers = {
    ...(host !== undefined && { host }),
    ...proofOf(draft.proof, caller, side),
    'user-agent': 'Fuzz/1.0',
    ...draft.headers,
  };
  const sent = await written(draft, poolsOf(actor), other.pools, headers, world.picture);
  const cookie = side.consents.get(sent.multiValueQueryStringParameters?.state?.[0] ?? '');
  if (cookie !== undefined && draft.suited) sent.headers.cookie = cookie;
  const handler = handlerOf(endpoint);
  const environment = onlyDeclared(realm.outside.environment, endpoint.needs);
  const event = { ...sent, requestContext: { requestId: randomUUID(), domainName: host ?? '' } };
  // A caller who waits for a worker gets an answer.
  const patience = async (ms: number): Promise<void> => {
    await workOff(side);
    await realm.outside.wait(ms);
  };
  const outside = { ...realm.outside, environment, ...(endpoint.needs.queues && { wait: patience }) };
  const answering = holdingToGrants(endpoint, () => handler.with(outside)(event as never));
  const waiting = new AbortController();
  const answer = await Promise.race([
    answering.catch((error: Error) => error),
    wait(HANG, undefined, { signal: waiting.signal }),
  ]);
  waiting.abort();
  realm.meter.reset();
  const reports = realm.reports.splice(0).map((line) => JSON.stringify(line));
  const request = `${endpoint.id} by ${caller.email} ${said(draft, sent)}`;
  if (answer === undefined || answer instanceof Error) {
    const fault = answer === undefined ? 'does not answer' : `throws ${answer.message}`;
    return { what: endpoint.id, fault, request, reply: reports.join('\n') };
  }
  const text = await textOf(answer);
  const isInside = draft.proof === 'right' || draft.proof === 'upper case';
  const fault =
    faultOf(endpoint, answer.statusCode, text) ??
    leakOf(
      world.secrets,
      text + JSON.stringify(answer.headers),
      request,
      isInside || endpoint.access === 'anyone' ? realm.realm : undefined,
    ) ??
    // The log, that of workers included, is for operators, who may see none of it.
    leakOf(world.secrets, reports.join('\n'), '', undefined);
  // Later requests need an active organization.
  if (endpoint.id === 'realm.deactivate') await setInService(realm.outside, realm.realm, true);
  if (answer.statusCode < 400) learn(world, actor, draft, sent, answer, text);
  const reply = [text.slice(0, 500), ...reports].join('\n  ');
  return { what: `${endpoint.id} ${answer.statusCode}`, fault, request, reply };
}

/** Endpoints that refuse people by a rule of their own. */
const FOR_BOTS: ReadonlySet<string> = new Set([
  'bots.getStorage',
  'bots.updateStorage',
  'bots.removeStorage',
]);

/** Whether the endpoint lets them in. */
function suits({ role, isBot }: Actor, { id, access }: Endpoint): boolean {
  switch (access) {
    case 'owner':
      return role === roles.owner;
    case 'administrator':
      return role <= roles.administrator;
    case 'member':
      return role < roles.guest;
    case 'human':
      return !isBot;
    case 'person':
      return !isBot && role < roles.guest;
    case 'user':
      return isBot || !FOR_BOTS.has(id);
    case 'anyone':
      return true;
  }
}

/** The request as text, to reproduce it. */
const said = (draft: RequestDraft, sent: Sent): string =>
  JSON.stringify({
    ...sent,
    body: Buffer.from(sent.body ?? '', 'base64')
      .toString('latin1')
      .slice(0, 2_000),
    kind: draft.body,
    proof: draft.proof,
    host: draft.host,
  });

function hostOf(kind: HostKind, side: Side, other: Side): string | undefined {
  const { host } = side.realm;
  switch (kind) {
    case 'right':
      return host;
    case 'upper case':
      return host.toUpperCase();
    case 'with port':
      return `${host}:443`;
    case 'foreign':
      return other.realm.host;
    case 'unknown':
      return 'nobody.example';
    case 'empty':
      return '';
    case 'none':
      return undefined;
    case 'long':
      return `${'a'.repeat(3_000)}.example`;
    case 'odd':
      return `${host}:x/..?#@\u0000`;
  }
}

function proofOf(kind: Proof, person: Person, side: Side): Record<string, string> {
  const { email, apiKey } = person;
  const header = (value: string) => ({ authorization: value });
  const pair = (text: string | Uint8Array) => header(`Basic ${Buffer.from(text).toString('base64')}`);
  switch (kind) {
    case 'right':
      return header(basic(person));
    case 'none':
      return {};
    case 'empty':
      return header('');
    case 'bearer':
      return header(`Bearer ${apiKey}`);
    case 'no key':
      return pair(`${email}:`);
    case 'not base64':
      return header('Basic %%%');
    case 'wrong key':
      return pair(`${email}:${'x'.repeat(32)}`);
    case 'three parts':
      return pair(`${email}:${apiKey}:x`);
    case 'other scheme':
      return header(`Digest username="${email}"`);
    case 'no part':
      return header('Basic');
    case 'long':
      return pair(`${'a'.repeat(50_000)}:${'b'.repeat(50_000)}`);
    case 'NUL':
      return pair(`${email}\0:${apiKey}`);
    case "somebody else's name":
      return pair(`${side.hidden.hermits[0]?.email}:${apiKey}`);
    case 'two tokens':
      return header(`${basic(person)} ${basic(person)}`);
    case 'upper case':
      return pair(`${email.toUpperCase()}:${apiKey}`);
    case 'not UTF-8':
      return pair(Buffer.from([0xff, 0xfe, 0x3a, 0xc3]));
  }
}
