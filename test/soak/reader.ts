import { setTimeout as wait } from 'node:timers/promises';
import { numberOf } from '../../shared/domain/event/queue.ts';
import { eventKind } from '../../shared/openapi/event-shapes.ts';
import { applying, fetchStale, kinds } from '../support/client-state/applied.ts';
import { type Known, knownFrom } from '../support/client-state/known.ts';
import { comparable, followed } from '../support/client-state/shown.ts';
import type { Asked, Client, Json } from './client.ts';
import { type Heard, heardOf, wrongOrder } from './heard.ts';
import { MessageCache } from './message-cache.ts';
import { pick, type Random } from './random-choice.ts';

/** How often a reader drops a reply, as if it had been lost behind its own gateway. */
const forgetfulness = 0.05;

const registration = (parameters: Asked['parameters'] = {}): Asked => ({
  method: 'POST',
  path: 'register',
  parameters: { fetch_event_types: null, ...kinds.modern.parameters, ...parameters },
});

/** A client with a queue that keeps the state of its registration up to date by events, under any faults. */
export class Reader {
  readonly name: string;
  readonly client: Client;
  readonly queueId: string;
  /** The event id behind which its events begin. */
  readonly start: number;
  readonly heard: Heard[] = [];
  readonly wrong: string[] = [];
  readonly cache = new MessageCache();
  readonly #random: Random;
  readonly #known: Known;
  /** The groups of its registration. */
  readonly #groups: ReadonlySet<number>;
  /** Whether there were direct messages before its registration, so that it does not have them. */
  readonly #isLate: boolean;
  #lacksDirect = false;
  #last: number;
  /** Channels that its owner left or joined meanwhile. */
  readonly changed = new Set<number>();

  private constructor(name: string, client: Client, random: Random, state: Json) {
    this.name = name;
    this.client = client;
    this.queueId = state.queue_id;
    this.start = state.last_event_id;
    this.#last = this.start;
    this.#random = random;
    this.#known = knownFrom(state, kinds.modern);
    this.#isLate = state.recent_private_conversations.length > 0;
    this.#groups = new Set(state.realm_user_groups.map(({ id }: Json) => id));
  }

  /** Registers a queue. */
  static async register(name: string, client: Client, random: Random): Promise<Reader> {
    return new Reader(name, client, random, await client.must(registration()));
  }

  /** Reads until it has heard an event in which this text stands. */
  async readTo(end: string): Promise<void> {
    for (;;) {
      const isBlocking = this.#random() < 0.7;
      const parameters = { queue_id: this.queueId, last_event_id: this.#last, dont_block: !isBlocking };
      const { status, body } = {
        body: undefined,
        ...(await this.client.ask({ method: 'GET', path: 'events', parameters })),
      };
      if (status === 200) {
        if (!this.client.isPatient && this.#random() < forgetfulness) continue;
        if (this.#take(body.events, end)) return;
        if (!isBlocking) await wait(this.#random() * 1_000);
        continue;
      }
      if (typeof status === 'number' && status < 500 && status !== 429) {
        // No queue is ever idle for as long as it may be.
        this.wrong.push(`${this.name} behind ${this.#last}: ${status} ${JSON.stringify(body)}`);
        return;
      }
      await wait(pick(this.#random, [50, 400, 1_200]));
    }
  }

  /** Takes a batch of events. Returns whether the end was among them. */
  #take(events: readonly Json[], end: string): boolean {
    this.wrong.push(...wrongOrder(events, this.#last).map((what) => `${this.name}: ${what}`));
    for (const event of events) {
      this.#last = Math.max(this.#last, event.id);
      if (event.type === 'heartbeat') continue;
      this.heard.push(heardOf(event));
      this.cache.apply(event);
      if (event.type === 'subscription' && (event.op === 'add' || event.op === 'remove')) {
        for (const { stream_id } of event.subscriptions) this.changed.add(stream_id);
      }
      this.#follow(event);
    }
    return events.some((event) => JSON.stringify(event).includes(end));
  }

  #follow(told: Json): void {
    const apply = applying[eventKind(told)];
    const known = this.#known;
    let event = told;
    if (told.type === 'delete_message' && told.message_type === 'private') {
      // Which message of a conversation is the newest then, is only known to who has all of them.
      this.#lacksDirect ||= this.#isLate;
      const ids: readonly number[] = told.message_ids ?? [told.message_id];
      // Of earlier messages its registration has only the unread ones. It got events for all later ones.
      const isEarlier = (id: number): boolean => id <= numberOf(this.start);
      for (const id of ids.filter(isEarlier)) known.unread.delete(id);
      if (ids.every(isEarlier)) return;
      event = { ...told, message_ids: ids.filter((id) => !isEarlier(id)) };
    }
    // The state of a registration is read behind its cursor, so it may have what the first events tell (DESIGN 5).
    if (event.type === 'user_group' && event.op === 'add' && this.#groups.has(event.group.id)) {
      const { state } = known;
      state.realm_user_groups = state.realm_user_groups.filter(({ id }: Json) => id !== event.group.id);
    }
    try {
      if (apply === undefined) throw new Error('nobody knows this event');
      apply(known, event);
    } catch (error) {
      this.wrong.push(
        `${this.name} cannot follow ${JSON.stringify(event).slice(0, 300)}: ${(error as Error).message}`,
      );
    }
  }

  /** The differences between the client's state and a new registration, once there are no more writes. */
  async differences(isGone: (id: number) => boolean): Promise<string[]> {
    const state = await this.client.must(registration());
    fetchStale(this.#known, state);
    // A user who left a channel gets no event for a deleted message there, even if they starred it.
    const { starred_messages: starred } = this.#known.state;
    this.#known.state.starred_messages = starred.filter((id: number) => !isGone(id));
    if (this.#lacksDirect) {
      this.#known.state.recent_private_conversations = state.recent_private_conversations;
    }
    const [mine, told] = [comparable(followed(this.#known)), comparable(state)];
    return [...new Set([...Object.keys(mine), ...Object.keys(told)])].flatMap((part) => {
      const [left, right] = [plain(mine[part]), plain(told[part])];
      return left === right ? [] : [`${this.name} knows another ${part}: ${apart(left, right)}`];
    });
  }
}

/** A queue that is registered and never read before the end. */
export const registerTwin = async (client: Client): Promise<Json> =>
  client.must(registration({ idle_queue_timeout: 86_400 }));

/** All events of a queue, read at once. */
export async function readAll(client: Client, { queue_id, last_event_id }: Json): Promise<Heard[]> {
  const heard: Heard[] = [];
  for (let last = last_event_id; ; ) {
    const parameters = { queue_id, last_event_id: last, dont_block: true };
    const { events } = await client.must({ method: 'GET', path: 'events', parameters });
    if (events.length === 0) return heard;
    for (const event of events) {
      last = event.id;
      if (event.type !== 'heartbeat') heard.push(heardOf(event));
    }
  }
}

/** A value as text; in which order an object has its fields says nothing. */
const plain = (value: unknown): string => JSON.stringify(inOrder(value)) ?? 'nothing';

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, inOrder(field)]));
}

/** Where two texts begin to differ. */
function apart(left: string, right: string): string {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  const from = Math.max(0, at - 150);
  return `…${left.slice(from, at + 150)}… is …${right.slice(from, at + 150)}…`;
}
