import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handler as remove } from '../../functions/messages/delete.ts';
import { handler as list } from '../../functions/messages/list.ts';
import { handler as update } from '../../functions/messages/update.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { givenChannel } from '../support/given.ts';
import { sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { indexed } from './search-index.ts';

/** Words that are their own stems, so that the oracle needs no stemmer. */
const words = ['tea', 'cup', 'spoon', 'milk'] as const;

type Action =
  | { readonly do: 'send'; readonly who: number; readonly where: number; readonly text: readonly number[] }
  | { readonly do: 'edit'; readonly which: number; readonly text: readonly number[] }
  | { readonly do: 'move'; readonly which: number; readonly where: number; readonly topic: number }
  | { readonly do: 'delete'; readonly which: number }
  | { readonly do: 'join' | 'leave'; readonly who: number; readonly where: number }
  | { readonly do: 'index' };

const number = fc.nat(50);
const text = fc.array(fc.nat(3), { minLength: 1, maxLength: 3 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('send' as const), who: number, where: number, text }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('edit' as const), which: number, text }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('move' as const), which: number, where: number, topic: number }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), which: number }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('join', 'leave'), who: number, where: number }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('index' as const) }) },
);

/** An organization with a public channel, a private one, and a private one whose history is protected. */
class World {
  readonly realm: TestRealm;
  readonly people: readonly Person[];
  readonly channels: readonly { readonly channelId: number; readonly name: string }[];
  readonly ids: number[] = [];

  constructor(realm: TestRealm, channels: World['channels']) {
    this.realm = realm;
    const { owner, member, guest } = realm.people;
    this.people = [owner, member, guest];
    this.channels = channels;
  }

  static async make(): Promise<World> {
    const realm = await newRealm();
    const { owner, member, guest } = realm.people;
    const open = await givenChannel(realm, { historyPublicToSubscribers: true }, [owner, member]);
    const secret = await givenChannel(realm, { isPrivate: true, historyPublicToSubscribers: true }, [owner]);
    const hidden = await givenChannel(realm, { isPrivate: true, historyPublicToSubscribers: false }, [
      owner,
      guest,
    ]);
    return new World(realm, [open, secret, hidden]);
  }

  #some<T>(list: readonly T[], at: number): T {
    return list[at % list.length] as T;
  }

  /** Does something, if it is allowed: what is refused changes nothing. */
  async act(step: Action): Promise<void> {
    const { realm, people, channels, ids } = this;
    const owner = realm.people.owner;
    const said = (text: readonly number[]) => text.map((word) => words[word]).join(' ');
    switch (step.do) {
      case 'index':
        expect(await indexed(realm)).toBe(true);
        return;
      case 'send': {
        const who = this.#some(people, step.who);
        const to = this.#some([...channels, undefined], step.where);
        const place = to
          ? { to: to.channelId, topic: this.#some(words, step.who) }
          : { people: [this.#some(people, step.who + 1)] };
        const id = await sent(realm, who, place, said(step.text)).catch(() => undefined);
        if (id !== undefined) ids.push(id);
        return;
      }
      case 'join':
      case 'leave': {
        const { name } = this.#some(channels, step.where);
        const principals = [this.#some(people, step.who).userId];
        const given = step.do === 'join' ? [{ name }] : [name];
        await realm.call(step.do === 'join' ? subscribe : unsubscribe, owner, {
          subscriptions: given,
          principals,
        });
        return;
      }
      default: {
        const id = ids[step.which % Math.max(1, ids.length)];
        if (id === undefined) return;
        const path = { message_id: id };
        if (step.do === 'delete') await realm.call(remove, owner, {}, { path });
        else if (step.do === 'move') {
          const stream_id = this.#some(channels, step.where).channelId;
          await realm.call(update, owner, { stream_id, topic: this.#some(words, step.topic) }, { path });
        } else {
          for (const who of people) await realm.call(update, who, { content: said(step.text) }, { path });
        }
      }
    }
  }
}

interface Shown {
  readonly id: number;
  readonly content: string;
  readonly subject: string;
}

const fetched = async (realm: TestRealm, as: Person, parameters: object) => {
  const { status, body } = await realm.call(list, as, { apply_markdown: false, ...parameters });
  expect(status).toBe(200);
  return body as {
    messages: Shown[];
    found_oldest: boolean;
    found_newest: boolean;
    history_limited: boolean;
  };
};

const all = { anchor: 'oldest', num_before: 0, num_after: 1_000 };

describe('a search', () => {
  it('finds what a fetch of the same narrow shows and a plain comparison of texts picks, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 12, maxLength: 40 }),
        fc.array(fc.tuple(fc.subarray([...words], { minLength: 1, maxLength: 2 }), fc.boolean()), {
          minLength: 3,
          maxLength: 3,
        }),
        async (steps, searches) => {
          const world = await World.make();
          for (const step of steps) await world.act(step);
          const { realm, people, channels } = world;
          const narrows = [
            [],
            ...channels.map(({ channelId }) => [{ operator: 'channel', operand: channelId }]),
            [{ operator: 'is', operand: 'dm' }],
            [{ operator: 'topic', operand: 'tea' }],
          ];
          for (const as of people)
            for (const narrow of narrows) {
              const { body, status } = await realm.call(list, as, { ...all, narrow, apply_markdown: false });
              for (const [wanted, isNot] of searches) {
                const [first = '', ...rest] = wanted;
                const search = [first, ...rest.map((word) => (isNot ? `-${word}` : word))].join(' ');
                const narrowed = { ...all, narrow: [...narrow, { operator: 'search', operand: search }] };
                if (status !== 200) {
                  expect((await realm.call(list, as, narrowed)).body).toEqual(body);
                  continue;
                }
                const holds = ({ content, subject }: Shown, word: string): boolean =>
                  `${content} ${subject}`
                    .toLowerCase()
                    .split(/[^a-z]+/u)
                    .includes(word);
                const expected = (body.messages as Shown[]).filter(
                  (message) => holds(message, first) && rest.every((word) => holds(message, word) !== isNot),
                );
                const { messages, ...found } = await fetched(realm, as, narrowed);
                expect(messages.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
                expect(found).toMatchObject({
                  found_oldest: true,
                  found_newest: true,
                  history_limited: false,
                });
                // A page says no more about what is hidden than there is to see.
                const page = await fetched(realm, as, {
                  ...narrowed,
                  anchor: 'newest',
                  num_before: 2,
                  num_after: 0,
                });
                expect(page.messages.map(({ id }) => id)).toEqual(expected.slice(-2).map(({ id }) => id));
                expect(page.found_oldest).toBe(expected.length < 2);
                expect(page.history_limited).toBe(false);
              }
            }
        },
      ),
      { numRuns: 5, endOnFailure: true },
    );
  }, 240_000);
});
