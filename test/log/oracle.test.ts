import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { numberOf } from '../../shared/domain/event/queue.ts';
import { commit } from '../../shared/log/commit.ts';
import { GIVEN_UP } from '../../shared/log/log.ts';
import type { ReadEntry } from '../../shared/log/slot.ts';
import { loadSubscriberIds } from '../../shared/model/subscription/object.ts';
import { key } from '../../shared/table/keys.ts';
import { type Client, givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { entriesIn, eventFor } from '../support/log-entries.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { TABLE } from '../support/store.ts';
import { storeClient } from '../support/store-client.ts';
import { DeleteCommand } from '../support/store-commands.ts';
import { type Weather, World } from './world.ts';
import { insist, type Scene, type Schedule, schedule, write } from './writers.ts';

/*
 * The oracle of DESIGN 5: for every queue, what is delivered is what was committed and is visible to its owner, in
 * order, each once after it is acknowledged. This holds while requests and replies get lost, writers die or are slow,
 * readers fill slots, DynamoDB deletes slots, and only parts of transactions are visible.
 */

/** How many random schedules are tried. The search for a rare fault raises this. */
const SCHEDULES = 6;

const storms: Weather = {
  lost: 0.03,
  unheard: 0.03,
  late: 0.02,
  throttled: 0.03,
  conflict: 0.03,
  slow: 60,
  sluggish: { often: 0.15, longest: 2_000 },
  partial: 95,
};

/** People who come to the club and leave it. */
const CROWD = ['member', 'moderator', 'owner'] as const;

/** A client that polls under these faults until it gets the end, and remembers everything it acknowledged. */
async function listen(scene: Scene, client: Client): Promise<ReadEvent[]> {
  const { realm, world } = scene;
  const through = realm.container(world.around, world.clock);
  const heard: ReadEvent[] = [];
  const deadline = performance.now() + 120_000;
  while (!heard.some(({ type }) => type === 'end')) {
    if (performance.now() > deadline) throw new Error(`heard no end after ${client.last}`);
    const reply = await client.ask({ dont_block: world.random() < 0.3 }, through);
    if (reply.status === 429 || reply.status === 500) continue;
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    // Sometimes the reply is lost on its way, so it is not acknowledged and must come again.
    if (world.random() < 0.15) continue;
    const events: ReadEvent[] = reply.body.events;
    for (const event of events) {
      expect(event.id).toBeGreaterThan(client.last);
      client.last = event.id;
    }
    heard.push(...events.filter(({ type }) => type !== 'heartbeat'));
  }
  return heard;
}

interface ReadEvent {
  readonly id: number;
  readonly type: string;
  readonly content?: string;
  readonly message?: { readonly content: string };
  readonly op?: string;
  readonly stream_ids?: readonly number[];
  readonly user_ids?: readonly number[];
  readonly realm_emoji?: object;
}

const contentOf = (event: ReadEvent): string => event.message?.content ?? event.content ?? event.type;

/** The state of the organization as a client keeps it by events. */
interface State {
  /** Those of the club. */
  readonly subscribers: readonly number[];
  readonly emoji: readonly number[];
}

/**
 * A client that registers in the middle of everything, and keeps the state up to date by the events. Returns what it
 * believes in the end.
 */
async function watch(scene: Scene, person: Person): Promise<State> {
  const { realm, world, club } = scene;
  await world.wait(world.random() * 2_000);
  const through = realm.container(world.around, world.clock);
  const types = { event_types: ['subscription', 'realm_emoji', 'end'], include_subscribers: true };
  const { body } = await insist(() => through.call(register, person, types));
  const client = await givenClient(realm, person, types);
  Object.assign(client, { queueId: body.queue_id, last: body.last_event_id });
  const known = [...body.subscriptions, ...body.never_subscribed, ...body.unsubscribed];
  const { subscribers } = known.find(({ stream_id }) => stream_id === club.channelId);
  const believed = new Set<number>(subscribers);
  let emoji: object = body.realm_emoji;
  for (const { id, op, stream_ids, user_ids, realm_emoji } of await listen(scene, client)) {
    if (realm_emoji) {
      // An emoji has the number of its event.
      expect(Object.keys(realm_emoji), 'an event that is filled tells its own change').toContain(
        `${numberOf(id)}`,
      );
      emoji = realm_emoji;
    }
    if (!stream_ids?.includes(club.channelId)) continue;
    for (const userId of user_ids ?? []) {
      if (op === 'peer_add') believed.add(userId);
      else believed.delete(userId);
    }
  }
  return { subscribers: inOrder(believed), emoji: inOrder(Object.keys(emoji).map(Number)) };
}

const inOrder = (ids: Iterable<number>): number[] => [...ids].sort((a, b) => a - b);

/** The same as it is. */
async function stateOf({ realm: { outside, realm }, club }: Scene): Promise<State> {
  const emoji = await outside.table.all('emoji', { realm });
  return {
    subscribers: await loadSubscriberIds(outside.table, realm, club.channelId),
    emoji: inOrder(emoji.map(({ emojiId }) => emojiId)),
  };
}

/** A user's stays in the club, by the numbers of the log. */
function staysOf(entries: readonly ReadEntry[], person: number): { from: number; to: number }[] {
  const stays: { from: number; to: number }[] = [];
  for (const entry of entries) {
    if (entry.kind === 'message' || entry.payload.type !== 'subscription') continue;
    if (!('users' in entry.hearers && entry.hearers.users.includes(person))) continue;
    const open = stays.at(-1);
    if (entry.payload.op === 'add') stays.push({ from: entry.seq, to: Number.POSITIVE_INFINITY });
    else if (entry.payload.op === 'remove' && open) open.to = entry.seq;
  }
  return stays;
}

function visibility(scene: Scene, entries: readonly ReadEntry[], person: Person) {
  const stays = staysOf(entries, person.userId);
  const isAdmin = person === scene.realm.people.admin;
  return (entry: ReadEntry): 'must' | 'may' | 'never' => {
    if (entry.kind === 'event') {
      return 'users' in entry.hearers && !entry.hearers.users.includes(person.userId) ? 'never' : 'must';
    }
    if (entry.people !== undefined) return entry.people.includes(person.userId) ? 'must' : 'never';
    if (isAdmin) return 'must';
    const stay = stays.find(({ from, to }) => from < entry.seq && entry.seq < to);
    if (stay === undefined) return 'never';
    // Events that were not read during a subscription are not delivered after its end.
    return stay.to === Number.POSITIVE_INFINITY ? 'must' : 'may';
  };
}

/** Writes events as they were written ten days ago, and deletes some of them, as DynamoDB does in no order. */
async function writeHistory({ log }: TestRealm, ancient: readonly boolean[]): Promise<void> {
  const then = { ...log, now: () => log.now() - 10 * 24 * 3600 * 1000 };
  const raw = storeClient(inject('dynamodb'));
  for (const isDeleted of ancient) {
    const entries = [eventFor({ type: 'ancient' })];
    const seq = await commit(then, 1, ([number]) => ({ writes: [], entries, result: number as number }));
    const { pk, sk } = key('slot', { realm: log.realm, seq });
    if (isDeleted) await raw(new DeleteCommand({ TableName: TABLE, Key: { pk, sk } }));
  }
}

async function play({ seed, ancient, writers }: Schedule): Promise<void> {
  const realm = await newRealm();
  await writeHistory(realm, ancient);
  const world = new World(seed, storms, 12);
  const { admin } = realm.people;
  const club = await givenChannel(realm, {}, [admin]);
  const members = CROWD.map((name) => realm.people[name]);
  const scene: Scene = { realm, world, members, club, outcomes: [], counted: new Set() };
  const types = { event_types: ['message', 'news', 'end'], fetch_event_types: [] };
  const owners = [admin, ...members];
  const clients = await Promise.all(owners.map((person) => givenClient(realm, person, types)));
  const listening = clients.map((client) => listen(scene, client));
  const watching = [admin, admin, admin].map((person) => watch(scene, person));
  const working = writers.map((deeds, i) => write(scene, `w${i}`, deeds));
  const results = await Promise.allSettled(working);
  world.calm();
  await world.wait(GIVEN_UP);
  const log = { ...realm.log, ...world.clock };
  await commit(log, 1, () => ({ writes: [], entries: [eventFor({ type: 'end' })], result: 0 }));
  const heard = await Promise.all(listening);
  const believed = await Promise.all(watching);
  for (const result of results) if (result.status === 'rejected') throw result.reason;

  const truth = await entriesIn(realm.log);
  owners.forEach((person, i) => {
    const client = clients[i] as Client;
    const seen = visibility(scene, truth, person);
    const after = truth.filter(
      (entry) => entry.seq > numberOf(client.state.last_event_id) && isListened(entry),
    );
    const events = heard[i] as ReadEvent[];
    const ids = events.map(({ id }) => numberOf(id));
    const must = after.filter((entry) => seen(entry) === 'must').map(({ seq }) => seq);
    const never = new Set(after.filter((entry) => seen(entry) === 'never').map(({ seq }) => seq));
    expect(ids, `${person.email} in order, each once`).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(
      must.filter((seq) => !ids.includes(seq)),
      `${person.email} misses`,
    ).toEqual([]);
    expect(
      ids.filter((id) => never.has(id)),
      `${person.email} hears what is not for them`,
    ).toEqual([]);
    const known = new Map(truth.map((entry) => [entry.seq, saidBy(entry)]));
    for (const event of events)
      if (event.type !== 'end') expect(contentOf(event)).toBe(known.get(numberOf(event.id)));
  });
  checkOutcomes(scene, truth);
  const counted = await realm.outside.table.get('quota', { realm: realm.realm, kind: 'told' });
  const told = truth.filter((entry) => scene.counted.has(String(saidBy(entry))));
  expect(counted?.used ?? 0, 'each is told with its change, or neither').toBe(told.length);
  const state = await stateOf(scene);
  for (const belief of believed) expect(belief, 'the state and its events').toEqual(state);
}

const saidBy = (entry: ReadEntry): unknown =>
  entry.kind === 'message' ? entry.content : entry.payload.content;

const isListened = (entry: ReadEntry): boolean =>
  entry.kind === 'message' || ['news', 'end'].includes(entry.payload.type);

/** An acknowledged write is in the log exactly once, and one without a reply at most once. */
function checkOutcomes({ outcomes }: Scene, truth: readonly ReadEntry[]): void {
  const counts = new Map<unknown, number>();
  for (const entry of truth) {
    const content = saidBy(entry);
    if (content !== undefined) counts.set(content, (counts.get(content) ?? 0) + 1);
  }
  for (const { content, state } of outcomes) {
    const count = counts.get(content) ?? 0;
    if (state === 'done') expect(count, `${content} is there once`).toBe(1);
    else expect(count, `${content} is there at most once`).toBeLessThanOrEqual(1);
  }
}

describe('the events of each queue (DESIGN 5)', () => {
  it('are those that were committed and are visible, in order and each once, under random faults', async () => {
    await fc.assert(fc.asyncProperty(schedule, play), { numRuns: SCHEDULES, endOnFailure: true });
  }, 240_000);
});
