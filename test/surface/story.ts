import fc from 'fast-check';
import { expect } from 'vitest';
import { WHOLE } from '../../shared/log/log.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import { eventKind } from '../../shared/openapi/event-shapes.ts';
import { applying, kinds } from '../support/client-state/applied.ts';
import { type Known as Believed, type Json, knownFrom } from '../support/client-state/known.ts';
import { comparable, followed } from '../support/client-state/shown.ts';
import { type Client, givenClient } from '../support/event-queue.ts';
import { fault, lost, type Mishap, mishaps, unheard } from '../support/faults.ts';
import { createFolder } from '../support/folder-state.ts';
import { givenChannel, givenGroup, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { perform } from './deed.ts';
import { anyDeed } from './deeds.ts';
import { History } from './history.ts';
import { type Known, look } from './known.ts';
import { expectSound } from './sound.ts';

const dies: Mishap = async () => {
  throw fault('AccessDeniedException');
};

/** The faults of the first or second transaction of each request of a step. */
const weathers = { fair: undefined, lost, unheard, dies } as const;

/** Some requests at once, and which of the people look for news afterwards. */
const step = fc.record({
  deeds: fc.oneof(
    { weight: 3, arbitrary: fc.array(anyDeed, { minLength: 1, maxLength: 1 }) },
    { weight: 2, arbitrary: fc.array(anyDeed, { minLength: 2, maxLength: 3 }) },
  ),
  weather: fc.oneof(
    { weight: 4, arbitrary: fc.constant<keyof typeof weathers>('fair') },
    { weight: 1, arbitrary: fc.constantFrom<keyof typeof weathers>('lost', 'unheard', 'dies') },
  ),
  isFirst: fc.boolean(),
  listeners: fc.subarray([0, 1, 2, 3, 4, 5, 6]),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Steps, one after the other. */
export const story = fc.array(step, { minLength: 4, maxLength: 14, size: 'max' });

/** A user with a client that updates its state by events. */
interface Listener {
  readonly person: Person;
  readonly client: Client;
  readonly believed: Believed;
}

/** An organization with a bit of everything. */
async function beginning(): Promise<{ realm: TestRealm; people: readonly Person[] }> {
  const realm = await newRealm({ enable_spectator_access: true });
  const { owner, admin, moderator, member, guest, bot } = realm.people;
  const second = await givenUser(realm, { role: roles.owner });
  const inner = await givenGroup(realm, { name: 'gash', members: [member, guest] });
  await givenGroup(realm, { name: 'gbay', members: [moderator], subgroups: [inner.groupId] });
  await createFolder(realm, 'fash');
  await givenChannel(realm, { name: 'cash', isPrivate: true }, [member, guest]);
  await givenChannel(realm, { name: 'cbay', isPrivate: true, historyPublicToSubscribers: false }, [owner]);
  return { realm, people: [owner, admin, moderator, member, guest, bot, second] };
}

/** A client with a queue that outlives every story, however seldom it looks. */
const registered = (realm: TestRealm, person: Person): Promise<Client> =>
  givenClient(realm, person, {
    fetch_event_types: null,
    idle_queue_timeout: 86_400,
    ...kinds.modern.parameters,
  });

async function listening(realm: TestRealm, person: Person): Promise<Listener> {
  const client = await registered(realm, person);
  return { person, client, believed: knownFrom(client.state, kinds.modern) };
}

/** Does the deeds of a step at once, each in a container of its own. */
async function act(realm: TestRealm, { deeds, weather, isFirst }: Step, known: Known): Promise<void> {
  const mishap = weathers[weather];
  const faults = mishap && mishaps({ transact: isFirst ? [mishap] : [undefined, mishap] });
  const allowed = [200, 400, 401, ...(weather === 'dies' ? [500] : [])];
  const done = await Promise.all(
    deeds.map(async (deed) => {
      const container = realm.container(faults);
      const { status } = await perform(deed, known, container);
      return { status, what: `${deed.what}: ${JSON.stringify(container.reports)}` };
    }),
  );
  for (const { status, what } of done) expect(allowed, what).toContain(status);
}

/** Polls until there is nothing more, holding each event to the history. */
async function hear(
  realm: TestRealm,
  { person, client, believed }: Listener,
  history: History,
): Promise<void> {
  for (;;) {
    const { status, body } = await client.ask();
    const isActive = history.now.users.get(person.userId)?.isActive === true;
    expect(status).toBe(isActive ? 200 : 401);
    if (status !== 200 || body.events.length === 0) return;
    for (const event of body.events) {
      history.expectAllowed(event, person);
      applying[eventKind(event)]?.(believed, event);
      client.last = event.id;
    }
    realm.pass(WHOLE);
  }
}

/** Checks that a client has the state that a new registration returns. */
async function expectSame(realm: TestRealm, { person, believed }: Listener, known: Known): Promise<void> {
  if (known.users.get(person.userId)?.isActive !== true) return;
  const { state } = await registered(realm, person);
  for (const part of believed.stale) believed.state[part] = state[part];
  const [own, told] = [followed(believed), state].map((each) => withoutFirsts(comparable(each)));
  expect(own, `what ${person.email} knows`).toEqual(told);
}

/** Without `first_message_id`: a message that comes during a subscription changes it without an event. */
const withoutFirsts = (state: Json): Json =>
  JSON.parse(JSON.stringify(state, (name, value) => (name === 'first_message_id' ? undefined : value)));

/** Lets a story happen, and checks all that must be true of it. */
export async function play(steps: readonly Step[]): Promise<void> {
  const { realm, people } = await beginning();
  const listeners = await Promise.all(people.map((person) => listening(realm, person)));
  const history = new History();
  await history.note(realm, await look(realm, people));
  for (const step of steps) {
    const before = history.now;
    await act(realm, step, before);
    await history.note(realm, await look(realm, people));
    // Without an event nothing has changed.
    if (history.isQuiet) expect(history.now).toEqual(before);
    realm.pass(WHOLE);
    for (const i of step.listeners) await hear(realm, listeners[i] as Listener, history);
  }
  await expectSound(realm, history.now);
  for (const listener of listeners) await hear(realm, listener, history);
  await Promise.all(listeners.map((listener) => expectSame(realm, listener, history.now)));
}
