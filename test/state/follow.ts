import { setImmediate as tick } from 'node:timers/promises';
import { expect } from 'vitest';
import type { DemoName } from '../../infra/local/demo.ts';
import { eventKind } from '../../shared/openapi/event-shapes.ts';
import { applying, fetchStale, kinds } from '../support/client-state/applied.ts';
import { type Json, type Kind, type Known, knownFrom } from '../support/client-state/known.ts';
import { comparable, followed } from '../support/client-state/shown.ts';
import { type Client, type Event, givenClient } from '../support/event-queue.ts';
import type { Person, TestRealm } from '../support/realm.ts';

/** The kinds of events that clients handle, which must be all of them. */
export const followedEvents: readonly string[] = Object.keys(applying);

type Viewer = readonly [who: DemoName | Person, kind: keyof typeof kinds];

const usual: readonly Viewer[] = [
  ['owner', 'modern'],
  ['admin', 'plain'],
  ['member', 'modern'],
  ['guest', 'old'],
];

/** A user's client that follows the events. */
interface Follower {
  /** As the container sees it that answers this client. */
  readonly realm: TestRealm;
  readonly name: string;
  readonly person: Person;
  readonly client: Client;
  readonly known: Known;
}

/** Clients that follow what happens from now on. */
export interface Following {
  /**
   * Lets each client catch up, checks that it knows what a new registration tells, and returns the events that they
   * got, by whose client it is.
   */
  readonly settle: () => Promise<Readonly<Record<string, readonly Event[]>>>;
}

/** Registers the clients of an owner, an administrator, a member and a guest, and of others if wanted. */
export async function follow(given: TestRealm, more: readonly Viewer[] = []): Promise<Following> {
  const { curtain } = given;
  // What was there before is seen whole.
  curtain?.lift();
  const followers = await Promise.all(
    [...usual, ...more].map(async ([who, kind]): Promise<Follower> => {
      // A container for each of them: what one has seen whole, the next one sees half again.
      const realm = given.container(curtain?.reading(given.outside.now), {
        // Time passes at once while a poll waits for entries to settle.
        wait: async (ms) => {
          given.pass(ms);
          await tick();
        },
      });
      const person = typeof who === 'string' ? realm.people[who] : who;
      const client = await registered(realm, person, kinds[kind]);
      const name = typeof who === 'string' ? who : 'other';
      return { realm, name, person, client, known: knownFrom(client.state, kinds[kind]) };
    }),
  );
  return {
    settle: async () => {
      const heard: Awaited<ReturnType<typeof caughtUp>>[] = [];
      // One after the other, so that each of them sees the worst of what a transaction may look like.
      for (const follower of followers) {
        curtain?.fall(given.outside.now());
        heard.push(await caughtUp(follower));
      }
      curtain?.lift();
      return Object.groupBy(heard.flat(), ({ name }) => name) as never;
    },
  };
}

const registered = (realm: TestRealm, person: Person, { parameters }: Kind): Promise<Client> =>
  givenClient(realm, person, { fetch_event_types: null, ...parameters });

async function caughtUp({ realm, name, person, client, known }: Follower) {
  const all: Event[] = [];
  for (;;) {
    const events = await client.poll();
    if (events.length === 0) break;
    for (const event of events) {
      const apply = applying[eventKind(event)];
      if (apply === undefined) throw new Error(`nobody knows the event ${JSON.stringify(event)}`);
      apply(known, event);
      all.push(event);
    }
  }
  const { state } = await registered(realm, person, known.kind);
  fetchStale(known, state);
  expectSame(name, comparable(followed(known)), comparable(state), all);
  return all.map((event) => ({ ...event, name }));
}

/** Tells the parts of the state that differ, and the events that led there. */
function expectSame(name: string, followed: Json, told: Json, events: readonly Event[]): void {
  const parts = [...new Set([...Object.keys(followed), ...Object.keys(told)])].filter(
    (part) => JSON.stringify(followed[part]) !== JSON.stringify(told[part]),
  );
  const only = (state: Json): Json => Object.fromEntries(parts.map((part) => [part, state[part]]));
  const said = events.map((event) => JSON.stringify(event).slice(0, 300)).join('\n');
  expect(only(followed), `what a client of the ${name} made of\n${said}`).toEqual(only(told));
}
