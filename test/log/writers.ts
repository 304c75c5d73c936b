import fc from 'fast-check';
import { expect } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { doAddEmoji, EMOJI_EVENTS } from '../../shared/domain/emoji/change.ts';
import { type Change, CommitTimeoutError, commit } from '../../shared/log/commit.ts';
import { allocate, GRACE, type Log } from '../../shared/log/log.ts';
import type { Entry } from '../../shared/log/slot.ts';
import type { Channel } from '../../shared/model/channel/channel.ts';
import { key } from '../../shared/table/keys.ts';
import { eventFor, messageTo } from '../support/log-entries.ts';
import type { Person, Reply, TestRealm } from '../support/realm.ts';
import type { World } from './world.ts';

/** What a writer does: it sends an event, changes the audience, dies halfway, or waits. */
type Deed =
  | { readonly do: 'send' | 'say' | 'whisper' | 'announce' | 'several' | 'draw' | 'die' | 'fade' }
  | { readonly do: 'join' | 'leave' | 'welcome'; readonly who: number }
  | { readonly do: 'rest'; readonly ms: number };

const deed = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom('send', 'say', 'whisper', 'announce', 'several', 'draw')
      .map((kind) => ({ do: kind }) as Deed),
  },
  { weight: 1, arbitrary: fc.constantFrom('die', 'fade').map((kind) => ({ do: kind }) as Deed) },
  {
    weight: 2,
    arbitrary: fc
      .record({ do: fc.constantFrom('join', 'leave', 'welcome'), who: fc.nat(2) })
      .map((it) => it as Deed),
  },
  { weight: 1, arbitrary: fc.nat(1_500).map((ms): Deed => ({ do: 'rest', ms })) },
);

export interface Schedule {
  readonly seed: number;
  /** Events of ten days ago, one after the other: whether DynamoDB has deleted each of them. */
  readonly ancient: readonly boolean[];
  readonly writers: readonly (readonly Deed[])[];
}

export const schedule: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.integer(),
  ancient: fc.array(fc.boolean(), { maxLength: 12 }),
  writers: fc.array(fc.array(deed, { minLength: 4, maxLength: 14 }), { minLength: 2, maxLength: 5 }),
});

/** The outcome of a commit that its writer knows. */
interface Outcome {
  readonly content: string;
  readonly state: 'done' | 'unknown';
}

export interface Scene {
  readonly realm: TestRealm;
  readonly world: World;
  /** People who come and go. */
  readonly members: readonly Person[];
  /** The channel to which they come. */
  readonly club: Channel;
  readonly outcomes: Outcome[];
  /** What was said by transactions that count themselves. */
  readonly counted: Set<string>;
}

/** Faults that a writer cannot help: then it does not know what became of its commit. */
const WEATHER = /TimeoutError|ThrottlingException|Transaction|cannot be filled/;

const isWeather = (error: unknown): boolean =>
  error instanceof CommitTimeoutError || (error instanceof Error && WEATHER.test(error.message));

/** One writer, with a connection of its own, does one thing after the other. */
export async function write(scene: Scene, name: string, deeds: readonly Deed[]): Promise<void> {
  const { world, realm } = scene;
  const writer = realm.container(world.around, world.clock);
  for (const [i, deed] of deeds.entries()) {
    const content = `${name}.${i}`;
    try {
      const isDone = await carryOut(scene, writer, deed, content);
      if (isDone) scene.outcomes.push({ content, state: 'done' });
    } catch (error) {
      if (!isWeather(error)) throw error;
      scene.outcomes.push({ content, state: 'unknown' });
    }
  }
}

/** Does one thing; returns whether something with this content is in the log now. */
async function carryOut(scene: Scene, writer: TestRealm, deed: Deed, content: string): Promise<boolean> {
  const { members, club, world } = scene;
  const { log } = writer;
  const { admin } = writer.people;
  const sender = admin.userId;
  switch (deed.do) {
    case 'send': {
      const message = { type: 'channel', to: club.channelId, topic: 'tests', content };
      await insist(() => writer.call(send, admin, { ...message, queue_id: 'elsewhere', local_id: content }));
      return true;
    }
    case 'join': {
      const person = members[deed.who] as Person;
      await insist(() => writer.call(subscribe, person, { subscriptions: [{ name: club.name }] }));
      return false;
    }
    case 'welcome': {
      // A message during a subscription may come after it in the log, and then must reach the new subscriber.
      const person = members[deed.who] as Person;
      const [, isSaid] = await Promise.all([
        insist(() => writer.call(subscribe, person, { subscriptions: [{ name: club.name }] })),
        log
          .wait(world.random() * 200)
          .then(() => tell(scene, log, content, [messageTo(club.channelId, sender, content)])),
      ]);
      return isSaid;
    }
    case 'leave': {
      const person = members[deed.who] as Person;
      await insist(() => writer.call(unsubscribe, person, { subscriptions: [club.name] }));
      return false;
    }
    case 'say':
      return tell(scene, log, content, [messageTo(club.channelId, sender, content)]);
    case 'whisper': {
      const people = [sender, (members[0] as Person).userId].sort((a, b) => a - b);
      const { channelId, topic, ...direct } = messageTo(0, sender, content).message;
      const message = { ...direct, people, conversation: `direct:${people.join()}` };
      return tell(scene, log, content, [{ kind: 'message', message }]);
    }
    case 'announce':
      return tell(scene, log, content, [eventFor({ type: 'news', content })]);
    case 'several':
      return tell(scene, log, content, [
        eventFor({ type: 'news', content: `${content} first` }),
        messageTo(club.channelId, sender, content),
        eventFor({ type: 'news', content: `${content} last` }),
      ]);
    case 'die':
      await allocate(log, 1 + Math.floor(world.random() * 3));
      return false;
    case 'fade': {
      // It resumes just when readers give it up.
      const taken = await allocate(log, 3);
      await log.wait(GRACE * (0.7 + world.random()));
      const entries = ['first', 'second', 'third'].map((nth) =>
        eventFor({ type: 'news', content: `${content} ${nth}` }),
      );
      await commit(log, 3, () => ({ writes: [], entries, result: 0 }), Promise.resolve(taken));
      return false;
    }
    case 'draw': {
      // The event of this is filled with all emoji on delivery.
      const emoji = {
        name: content,
        authorId: sender,
        sourceUrl: '/x.png',
        stillUrl: null,
        deactivated: false,
      };
      await commit(log, EMOJI_EVENTS, ([emojiId = 0]) => doAddEmoji(writer.realm, { emojiId, ...emoji }));
      return false;
    }
    case 'rest':
      await log.wait(deed.ms);
      return false;
  }
}

/** Commits entries, and counts that in the same transaction; some writers take their numbers ahead, and then dawdle. */
async function tell(
  { world, realm, counted }: Scene,
  log: Log,
  content: string,
  entries: readonly Entry[],
): Promise<true> {
  counted.add(content);
  const update = key('quota', { realm: realm.realm, kind: 'told' });
  const change: Change<void> = {
    writes: [{ update, change: { add: { used: 1 } } }],
    entries,
    result: undefined,
  };
  const isEarly = world.random() < 0.5;
  const taken = isEarly ? allocate(log, entries.length + (world.random() < 0.3 ? 1 : 0)) : undefined;
  taken?.catch(() => {});
  if (isEarly) await log.wait(world.random() * 300);
  await commit(log, entries.length, () => change, taken);
  return true;
}

/** Asks again until there is an answer, as a client does that must be sure. */
export async function insist(ask: () => Promise<Reply>): Promise<Reply> {
  for (let i = 0; i < 50; i++) {
    const reply = await ask();
    const { status, body } = reply;
    if (status === 200) return reply;
    expect([429, 500], JSON.stringify(body)).toContain(status);
  }
  throw new Error('there is no answer');
}
