import { expect, it } from 'vitest';
import type { RealmSettings } from '../../shared/model/realm/realm.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { type CallOptions, newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { Curtain } from '../support/torn-reads.ts';

/** Something that clients follow: calls of these endpoints, which must all succeed. */
export interface Case {
  readonly title: string;
  readonly calls: readonly Served[];
  readonly settings?: Partial<RealmSettings>;
  readonly run: (realm: TestRealm) => Promise<void>;
}

/** Calls an endpoint, which must work, and tells its reply. */
export async function done(
  realm: TestRealm,
  handler: Served,
  as: Person | undefined,
  parameters: Readonly<Record<string, unknown>> = {},
  options: CallOptions = {},
): Promise<Reply['body']> {
  const { status, body } = await realm.call(handler, as, parameters, options);
  expect({ status, msg: body.msg }, handler.endpoint.id).toEqual({ status: 200, msg: '' });
  return body;
}

/** Longest (ms) that a case takes on a busy machine: it registers some clients and lets them catch up many times. */
const LONGEST = 60_000;

/** A test for each of the cases, which also holds it to calling what it says. */
export function itFollows(cases: readonly Case[]): void {
  for (const { title, calls, settings, run } of cases) {
    it(
      title,
      async () => {
        const called = new Set<string>();
        await run(noting(await newRealm(settings, new Curtain()), called));
        expect(calls.map(({ endpoint }) => endpoint.id).filter((id) => !called.has(id))).toEqual([]);
      },
      LONGEST,
    );
  }
}

/** The realm, where it is noted which endpoints were called and did what they were asked for. */
const noting = (realm: TestRealm, called: Set<string>): TestRealm => ({
  ...realm,
  call: async (handler, ...rest) => {
    const reply = await realm.call(handler, ...rest);
    if (reply.status === 200) called.add(handler.endpoint.id);
    return reply;
  },
  container: (...given) => noting(realm.container(...given), called),
});
