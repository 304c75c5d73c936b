import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { endpoints } from '../../shared/endpoints/all.ts';
import type { Send } from '../../shared/table/table.ts';
import { handlers } from '../support/handlers.ts';
import { picture } from '../support/pictures.ts';
import { basic } from '../support/raw-request.ts';
import { onlyDeclared, type TestRealm } from '../support/realm.ts';
import { textOf as answered } from './oracle.ts';
import { type RequestDraft, written } from './request.ts';
import { newMark } from './secrets.ts';
import { properRequests } from './twins.ts';
import { newSide } from './world.ts';

const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** The requests to the store that fail, one in each call, by their number: from the look-up of the key to the commit. */
const FAILING = [0, 1, 2, 3];

/** How many requests are tried for each endpoint: one with a wrong ID in its path ends before anything can fail. */
const TRIES = 12;

/**
 * Lets one request to the store fail, in the way of the SDK: the error has with it what was to be written, and what
 * stands there.
 */
const failingAt =
  (number: number) =>
  (send: Send): Send => {
    let sent = 0;
    return async (command) => {
      const reply = await send(command);
      if (sent++ !== number) return reply;
      const { input } = command as { readonly input: object };
      throw Object.assign(new Error('The store broke.', { cause: { input, reply } }), {
        name: 'InternalServerError',
        CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item: { input, reply } }],
      });
    };
  };

/** The request with a mark wherever its caller writes what they like. */
function marked(draft: RequestDraft, mark: string): RequestDraft {
  const isFree = (name: string, value: unknown): boolean => {
    const parameter = draft.endpoint.parameters[name];
    return (
      typeof value === 'string' && parameter?.wire === 'text' && z.safeParse(parameter.schema, mark).success
    );
  };
  return {
    ...draft,
    fields: draft.fields.map(([name, value]) => [name, isFree(name, value) ? mark : value] as const),
  };
}

test(`the log has no texts, keys or addresses, whatever fails, and every error is counted by its code (seed ${SEED})`, async () => {
  const side = await newSide();
  const { owner } = side.realm.people;
  const mark = newMark();
  const image = await picture('png', 20, 20);
  const secrets = [
    { what: 'what the caller wrote', mark },
    { what: 'what was written there', mark: side.hidden.inside },
    { what: 'what is hidden there', mark: side.label },
    ...side.hidden.secrets,
    { what: 'the credentials as they come', mark: basic(owner).replace('Basic ', '') },
    ...Object.values(side.realm.people).map(({ email }) => ({ what: 'an address', mark: email })),
  ];
  const leaks: string[] = [];
  const silent: string[] = [];
  let requestsWithMark = 0;
  for (const [place, endpoint] of endpoints.entries()) {
    const reports: object[] = [];
    for (const draft of properRequests(endpoint, SEED + place, TRIES)) {
      if (reports.length > 0) break;
      for (const number of FAILING) {
        const realm: TestRealm = side.realm.container(failingAt(number), { wait: side.realm.outside.wait });
        const headers = { host: realm.host, authorization: basic(owner), 'user-agent': 'Log/1.0' };
        const sent = await written(marked(draft, mark), side.pools, side.pools, headers, image);
        if ((JSON.stringify(sent) + textOf(sent.body)).includes(mark)) requestsWithMark++;
        const environment = onlyDeclared(realm.outside.environment, endpoint.needs);
        const event = { ...sent, requestContext: { requestId: randomUUID(), domainName: realm.host } };
        const handler = handlers.get(endpoint.id) ?? expect.fail(endpoint.id);
        const answer = await handler.with({ ...realm.outside, environment })(event as never);
        const code = answer.statusCode < 400 ? undefined : JSON.parse(await answered(answer)).code;
        expect(realm.counts.flatMap(({ metric, kind }) => (metric === 'Errors' ? [kind] : []))).toEqual(
          code === undefined ? [] : [code],
        );
        const lines = JSON.stringify([realm.reports, realm.counts]);
        for (const secret of secrets)
          if (lines.includes(secret.mark)) leaks.push(`${endpoint.id} logs ${secret.what}: ${lines}`);
        reports.push(...realm.reports);
      }
    }
    if (endpoint.access !== 'anyone' && reports.length === 0) silent.push(endpoint.id);
  }
  expect(leaks).toEqual([]);
  // Something did fail at each of them that looks at who calls, and a good part of the requests did carry words.
  expect(silent).toEqual([]);
  expect(requestsWithMark).toBeGreaterThan(FAILING.length * 10);
}, 120_000);

const textOf = (body: string | null): string => Buffer.from(body ?? '', 'base64').toString('latin1');
