import { Agent } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { handler as updateUser } from '../../functions/users/update.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import { done } from '../state/case.ts';
import { type Client, type Event, givenClient, said, sendTo } from '../support/event-queue.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { ask, givenListener, type TestListener } from '../support/listener.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

/** At least eight people. */
type People = [Person, Person, Person, Person, Person, Person, Person, Person, ...Person[]];

/** Clients of one person that ask for the same: in each of two ways. */
const ALIKE = 10;
const kindsOf = (isGuest: boolean) => [
  { event_types: ['message'], all_public_streams: !isGuest },
  { event_types: null },
];

/** A client that always waits at a listener, and keeps what it heard. */
interface Crier {
  readonly heard: Event[];
  /** Resolves when it has heard a message with this content. */
  readonly until: (content: string) => Promise<void>;
}

/** Lets a client wait, again and again, until the test is over. */
function cry(realm: TestRealm, listener: TestListener, person: Person, client: Client, agent: Agent): Crier {
  const heard: Event[] = [];
  void (async () => {
    for (;;) {
      const query = { queue_id: client.queueId, last_event_id: client.last };
      const { body } = await ask(realm, listener, person, query, { agent }).reply;
      client.last = Math.max(client.last, ...body.events.map(({ id }: Event) => id));
      heard.push(...body.events.filter(({ type }: Event) => type !== 'heartbeat'));
    }
  })().catch(() => {});
  const until = (content: string) =>
    vi.waitFor(() => expect(said(heard)).toContain(content), { timeout: 20_000, interval: 20 });
  return { heard, until };
}

/** A queue that nobody waits for, beside the clients that wait for the same. */
async function givenTwin(realm: TestRealm, person: Person, kind: Readonly<Record<string, unknown>>) {
  const client = await givenClient(realm, person, kind);
  const heard: Event[] = [];
  const read = async (): Promise<void> => {
    for (;;) {
      const events = await client.poll();
      if (events.length === 0) return;
      heard.push(...events.filter(({ type }) => type !== 'heartbeat'));
    }
  };
  return { heard, read };
}

/** People of a realm, this many. */
async function givenPeople(realm: TestRealm, count: number): Promise<Person[]> {
  const { owner, admin, moderator, member, guest } = realm.people;
  const people = [owner, admin, moderator, member, guest];
  while (people.length < count) people.push(await givenUser(realm));
  return people;
}

describe('200 clients that wait', () => {
  it('hear each what a queue hears that nobody waits for, while messages, channels and roles change', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const people = await givenPeople(realm, 10);
    const [owner, admin, , member, , mover, leaver, demoted] = people as People;
    const square = await givenChannel(realm, {}, people);
    const open = await givenChannel(realm, {}, [owner, leaver]);
    const closed = await givenChannel(realm, { isPrivate: true }, [owner, leaver]);
    const agent = new Agent({ keepAlive: true });
    const groups = await Promise.all(
      people.flatMap((person) =>
        kindsOf(person === realm.people.guest).map(async (kind) => {
          const twin = await givenTwin(realm, person, kind);
          const clients = await Promise.all(
            Array.from({ length: ALIKE }, () => givenClient(realm, person, kind)),
          );
          return {
            person,
            twin,
            criers: clients.map((client) => cry(realm, listener, person, client, agent)),
          };
        }),
      ),
    );
    const criers = groups.flatMap((group) => group.criers);
    expect(criers).toHaveLength(200);

    const both = (content: string) =>
      Promise.all(
        [open, closed].map(({ channelId }, i) =>
          sendTo(realm, owner, channelId, `${content} ${i === 0 ? 'open' : 'closed'}`),
        ),
      );
    const deeds: readonly (() => Promise<unknown>)[] = [
      () => both('first'),
      async () => {
        const subscriptions = [{ name: closed.name }];
        await done(realm, subscribe, owner, { subscriptions, principals: [mover.userId] });
        await done(realm, unsubscribe, owner, { subscriptions: [closed.name], principals: [leaver.userId] });
      },
      () => both('changed'),
      () => done(realm, updateUser, admin, { role: roles.guest }, { path: { user: demoted.userId } }),
      async () => {
        await both('demoted');
        await sendTo(realm, owner, [member.userId], 'direct');
      },
    ];
    for (const [step, deed] of deeds.entries()) {
      await vi.waitFor(() => expect(listener.room.size).toBe(criers.length), {
        timeout: 20_000,
        interval: 20,
      });
      await deed();
      // What is told depends on what is when it is told: the next change comes when everybody has heard of this one.
      await sendTo(realm, owner, square.channelId, `step ${step}`);
      await Promise.all([
        ...criers.map(({ until }) => until(`step ${step}`)),
        ...groups.map(({ twin }) => twin.read()),
      ]);
    }

    const told = (events: readonly Event[]) =>
      events.map((event) => [event.id, said([event])[0], event.flags]);
    for (const { twin, criers: alike } of groups)
      for (const { heard } of alike) expect(told(heard)).toEqual(told(twin.heard));
    const hearers = (content: string) =>
      groups
        .filter(({ criers: [first] }) => said(first?.heard ?? []).includes(content))
        .map(({ person }) => person);
    expect(new Set(hearers('first closed'))).toEqual(new Set([owner, leaver]));
    expect(new Set(hearers('changed closed'))).toEqual(new Set([owner, mover]));
    expect(hearers('changed open')).toContain(demoted);
    expect(hearers('demoted open')).not.toContain(demoted);
    expect(new Set(hearers('direct'))).toEqual(new Set([owner, member]));
    expect(listener.container.reports).toEqual([]);
  }, 120_000);
});

describe('the reads of one wake-up', () => {
  it.each([1, 200])(
    'of %i polls',
    async (count) => {
      const realm = await newRealm();
      const listener = await givenListener(realm);
      const people = await givenPeople(realm, 8);
      const { channelId } = await givenChannel(realm, {}, people);
      const agent = new Agent({ keepAlive: true });
      const asked = await Promise.all(
        Array.from({ length: count }, async (_, i) => {
          const person = people[i % people.length] as Person;
          const { queueId, last } = await givenClient(realm, person, { event_types: ['message'] });
          return ask(realm, listener, person, { queue_id: queueId, last_event_id: last }, { agent });
        }),
      );
      await vi.waitFor(() => expect(listener.room.size).toBe(count), { timeout: 20_000, interval: 20 });
      const { meter } = listener.container;
      meter.reset();
      await sendTo(realm, realm.people.owner, channelId, 'wake up');
      const replies = await Promise.all(asked.map(({ reply }) => reply));
      expect(replies.map(({ body }) => said(body.events))).toEqual(replies.map(() => ['wake up']));
      // One poll: a probe, the log, and a batch of 7 items. Polls share what is the same for all of them.
      expect(meter.calls.length).toBeLessThanOrEqual(5 + count / 2);
      expect(meter.readUnits).toBeLessThanOrEqual(10 + 1.5 * count);
    },
    60_000,
  );
});
