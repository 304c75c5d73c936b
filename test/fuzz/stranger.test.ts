import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { SMALL_REQUEST } from '../../shared/serve/parameters.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { handlers } from '../support/handlers.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { type Cost, type HostileKind, hostileKinds, type Proof, proofs, sendAsStranger } from './stranger.ts';

/** Hostile requests of each size to each endpoint; `npm run fuzz` sends every kind that there is. */
const EACH = Number(process.env.FUZZ_STRANGERS ?? 4);
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** What a caller without a valid key costs at most: read units, and milliseconds of processor (docs/LIMITS.md). */
const MAX_UNITS = 100;
const MAX_PROCESSOR = 15;

/** A measurement that is too high may have met a garbage collection: the least of so many counts. */
const TRIES = 6;

interface Measured extends Cost {
  readonly endpoint: string;
  readonly name: string;
  readonly bytes: number;
}

const inWords = ({ endpoint, name, bytes, readUnits, processor }: Measured): string =>
  `${endpoint.padEnd(34)}${readUnits} units, ${processor.toFixed(1)} ms: ${name} (${bytes} bytes)`;

/** Some kinds of hostile requests, always the same ones for a seed. */
const someOf = (kinds: readonly HostileKind[], count: number): readonly HostileKind[] => {
  const exactly = { minLength: Math.min(count, kinds.length), maxLength: Math.min(count, kinds.length) };
  return fc.sample(fc.subarray([...kinds], exactly), { seed: SEED, numRuns: 1 })[0] ?? [];
};

/** Sends hostile requests of at most so many bytes to one endpoint, from cold and warm containers. */
async function meter(
  containers: readonly (() => TestRealm)[],
  handler: Served,
  bytes: number,
  kinds: readonly HostileKind[],
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const [turn, { name, write }] of kinds.entries()) {
    const hostile = write(bytes);
    const proof = Object.keys(proofs)[turn % 3] as Proof;
    let least: Cost | undefined;
    for (let tried = 0; tried < TRIES && (least === undefined || least.processor > MAX_PROCESSOR); tried++) {
      const container = containers[turn % containers.length] as () => TestRealm;
      const cost = await sendAsStranger(container(), handler, hostile, proof);
      if (least === undefined || cost.processor < least.processor) least = cost;
    }
    const { id: endpoint } = handler.endpoint;
    measured.push({ endpoint, name: `${name}, ${proof}`, bytes: hostile.body.length, ...(least as Cost) });
  }
  return measured;
}

/** Who signs in has no key yet. Their tries are counted before any work is done (test/signIn, test/singleSignOn). */
const SIGNS_IN = /^(signIn|singleSignOn|pages)\./;

describe('a caller without a valid key', () => {
  test(
    `costs at most ${MAX_UNITS} read units and ${MAX_PROCESSOR} ms of processor time at every endpoint, whatever the body (seed ${SEED})`,
    async () => {
      const realm = await newRealm();
      const warm = realm.container();
      await warm.call(getOwn, realm.people.member);
      const containers = [() => realm.container(), () => warm];
      const all: Measured[] = [];
      for (const handler of [...handlers.values()].filter(({ endpoint }) => !SIGNS_IN.test(endpoint.id))) {
        const kinds = hostileKinds(handler.endpoint);
        const small = await meter(containers, handler, SMALL_REQUEST, someOf(kinds, EACH));
        // What is too large to be parsed is alike at all endpoints.
        const large = await meter(
          containers,
          handler,
          10 * SMALL_REQUEST,
          someOf(kinds, Math.ceil(EACH / 8)),
        );
        all.push(...small, ...large);
        const [first, ...others] = [...small, ...large];
        if (process.env.FUZZ_STRANGERS === undefined || first === undefined) continue;
        const worst = (by: 'readUnits' | 'processor') =>
          others.reduce((one, other) => (other[by] > one[by] ? other : one), first);
        console.log(`${inWords(worst('readUnits'))}\n${inWords(worst('processor'))}`);
      }
      expect(all.length).toBeGreaterThanOrEqual(handlers.size);
      expect(all.filter(({ writeUnits }) => writeUnits > 0)).toEqual([]);
      const over = all.filter(
        ({ readUnits, processor }) => readUnits > MAX_UNITS || processor > MAX_PROCESSOR,
      );
      expect(over.map(inWords)).toEqual([]);
    },
    60_000 + EACH * 10_000,
  );

  test('can make the service look up one batch of names at most, and none for a request that has more', async () => {
    const realm = await newRealm();
    const units = async (id: string, kind: string): Promise<number> => {
      const handler = handlers.get(id) as Served;
      const { write } = hostileKinds(handler.endpoint).find(({ name }) => name === kind) as HostileKind;
      const container = realm.container();
      const { status, readUnits } = await sendAsStranger(
        container,
        handler,
        write(SMALL_REQUEST),
        'a wrong key',
      );
      expect(status).toBe(401);
      return readUnits;
    };
    const fits = await units('subscriptions.remove', 'subscriptions: names for one batch');
    expect(fits).toBeGreaterThan(80);
    expect(fits).toBeLessThanOrEqual(MAX_UNITS);
    expect(await units('subscriptions.remove', 'subscriptions: many names')).toBeLessThanOrEqual(6);
    expect(await units('messages.send', 'content: many names in a text')).toBeLessThanOrEqual(6);
  });

  test('can make the service read a message for no more units than its size', async () => {
    const realm = await newRealm();
    const message = { type: 'channel', to: 'general', topic: 't', content: '有'.repeat(10_000) };
    const { body } = await realm.call(send, realm.people.member, message);
    const container = realm.container();
    await container.call(
      getMessage,
      { ...realm.people.member, apiKey: 'x'.repeat(32) },
      {},
      { path: { message_id: body.id } },
    );
    expect(container.meter.readUnits).toBeLessThanOrEqual(100);
  });
});
