import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handler as list } from '../../functions/messages/list.ts';
import { handler as matchesNarrow } from '../../functions/messages/matchesNarrow.ts';
import { handler as updateFlagsForNarrow } from '../../functions/messages/updateFlagsForNarrow.ts';
import { aroundAnchor, windowResult } from '../../shared/domain/fetch/window.ts';
import type { MessageHead } from '../../shared/log/message.ts';
import type { Person } from '../support/realm.ts';
import { action, World, words } from './world.ts';

/** How many organizations, and from which seed on; `npm run fuzz` takes more. */
const { FUZZ_SEARCHES = '4', FUZZ_SEED } = process.env;

const number = fc.nat(50);
const word = fc.constantFrom(...words);

/** A condition beside the search, in the organization that there will be. */
type Condition = (world: World) => {
  readonly operator: string;
  readonly operand: unknown;
  readonly negated?: boolean;
};

const by = (operator: string, operand: (world: World, at: number) => unknown) =>
  fc.tuple(number, fc.boolean()).map(
    ([at, negated]): Condition =>
      (world) => ({ operator, operand: operand(world, at), ...(negated && { negated }) }),
  );

const among = (operator: string, ...operands: readonly string[]) =>
  by(operator, (_, at) => operands[at % operands.length]);

const condition: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 3, arbitrary: by('channel', (world, at) => world.channel(at)) },
  { weight: 2, arbitrary: by('topic', (_, at) => words[at % words.length]) },
  { weight: 1, arbitrary: by('sender', (world, at) => world.person(at).userId) },
  { weight: 1, arbitrary: by('dm', (world, at) => [world.person(at).userId]) },
  { weight: 1, arbitrary: by('dm-including', (world, at) => [world.person(at).userId]) },
  { weight: 1, arbitrary: by('id', (world, at) => world.message(at)) },
  { weight: 1, arbitrary: by('with', (world, at) => world.message(at)) },
  {
    weight: 2,
    arbitrary: among('is', 'dm', 'starred', 'unread', 'muted', 'followed', 'mentioned', 'resolved'),
  },
  { weight: 2, arbitrary: among('has', 'link', 'reaction', 'image', 'attachment') },
  { weight: 1, arbitrary: among('channels', 'public', 'web-public') },
  { weight: 1, arbitrary: among('in', 'home', 'all') },
);

/** A search of a user: for a word, perhaps with or without another one, under some conditions, around an anchor. */
const question = fc.record({
  as: number,
  conditions: fc.array(condition, { maxLength: 2 }),
  wanted: word,
  other: fc.option(fc.record({ word, isNot: fc.boolean() })),
  anchor: fc.option(number),
  before: fc.nat(3),
  after: fc.nat(3),
});

type Question = typeof question extends fc.Arbitrary<infer Q> ? Q : never;

interface Shown {
  readonly id: number;
  readonly content: string;
  readonly subject: string;
}

const holds = ({ content, subject }: Shown, word: string): boolean =>
  `${content} ${subject}`
    .toLowerCase()
    .split(/[^a-z]+/u)
    .includes(word);

/** The fields of a reply about a window over these messages, if no others exist. */
function windowOf(ids: readonly number[], anchor: number, before: number, after: number) {
  const window = { anchor, before, after, includeAnchor: true };
  const { pivot, older, newer } = aroundAnchor(window);
  const heads = ids.map((id) => ({ id }) as MessageHead);
  const side = (all: readonly MessageHead[], need: number) => ({
    heads: all.slice(0, need),
    isComplete: true,
  });
  const { heads: found, ...fields } = windowResult(
    window,
    side(heads.filter(({ id }) => id < pivot).reverse(), older),
    side(
      heads.filter(({ id }) => id >= pivot),
      newer,
    ),
  );
  return { ...fields, ids: found.map(({ id }) => id) };
}

/** Asks with the search in every way that there is, and without it: what the search adds follows from what is shown without. */
async function check(world: World, asked: Question): Promise<void> {
  const { realm, ids } = world;
  const as: Person = world.person(asked.as);
  const call = (more: object) => realm.call(list, as, { apply_markdown: false, ...more });
  const search = [
    asked.wanted,
    ...(asked.other ? [`${asked.other.isNot ? '-' : ''}${asked.other.word}`] : []),
  ];
  const narrow = asked.conditions.map((condition) => condition(world));
  const narrowed = [...narrow, { operator: 'search', operand: search.join(' ') }];
  const isMatch = (message: Shown): boolean =>
    holds(message, asked.wanted) && (!asked.other || holds(message, asked.other.word) !== asked.other.isNot);
  const everything = { anchor: 'oldest', num_before: 0, num_after: 1_000 };

  const shown = await call({ ...everything, narrow });
  const found = await call({ ...everything, narrow: narrowed });
  if (shown.status !== 200) {
    expect([found.status, found.body]).toEqual([shown.status, shown.body]);
    return;
  }
  const idsOf = (body: { messages: readonly Shown[] }): number[] => body.messages.map(({ id }) => id);
  const expected = idsOf({ messages: (shown.body.messages as readonly Shown[]).filter(isMatch) });
  expect(idsOf(found.body)).toEqual(expected);
  expect(found.body).toMatchObject({ found_oldest: true, found_newest: true, history_limited: false });

  // A page tells no more about what is hidden than there is to see: neither more to come, nor where it ended.
  const anchor = asked.anchor === null ? 10 ** 16 : world.message(asked.anchor);
  const range = { anchor, num_before: asked.before, num_after: asked.after };
  const window = windowOf(expected, anchor, asked.before, asked.after);
  const { messages, ...page } = (await call({ ...range, narrow: narrowed })).body;
  expect({ ...page, ids: idsOf({ messages }) }).toMatchObject(window);

  const marks = { ...range, narrow: narrowed, op: 'remove', flag: 'starred' };
  expect((await realm.call(updateFlagsForNarrow, as, marks)).body).toMatchObject({
    processed_count: window.ids.length,
    first_processed_id: window.ids[0] ?? null,
    last_processed_id: window.ids.at(-1) ?? null,
    found_oldest: window.found_oldest,
    found_newest: window.found_newest,
  });
  if (ids.length === 0) return;
  const readable = (await call({ message_ids: ids, narrow })).body;
  const byIds = (await call({ message_ids: ids, narrow: narrowed })).body;
  expect(idsOf(byIds)).toEqual(idsOf({ messages: readable.messages.filter(isMatch) }));
  const matching = (terms: readonly object[]) =>
    realm.call(matchesNarrow, as, { msg_ids: ids, narrow: terms });
  const [received, matched] = [await matching(narrow), await matching(narrowed)];
  if (received.status !== 200) {
    expect([matched.status, matched.body]).toEqual([received.status, received.body]);
    return;
  }
  const texts = new Map<string, Shown>(readable.messages.map((one: Shown) => [String(one.id), one]));
  expect(Object.keys(matched.body.messages)).toEqual(
    Object.keys(received.body.messages).filter((id) => isMatch(texts.get(id) as Shown)),
  );
}

describe('a search', () => {
  it('finds exactly the messages of the narrow that a plain comparison of texts selects', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 12, maxLength: 40 }),
        fc.array(question, { minLength: 12, maxLength: 12 }),
        async (steps, questions) => {
          const world = await World.make();
          for (const step of steps) await world.act(step);
          for (const asked of questions) await check(world, asked);
        },
      ),
      {
        numRuns: Number(FUZZ_SEARCHES),
        endOnFailure: true,
        ...(FUZZ_SEED !== undefined && { seed: Number(FUZZ_SEED) }),
      },
    );
  }, 3_600_000);
});
