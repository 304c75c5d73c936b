import { handler as getEvents } from '../../functions/events/get.ts';
import { handler as register } from '../../functions/events/register.ts';
import { capabilityNames } from '../../shared/domain/event/queue.ts';
import { leakOf } from './oracle.ts';
import type { Secret } from './secrets.ts';
import type { Actor } from './world.ts';

/** Most polls of one client in a row: each of them brings what is left, or a part of it. */
const POLLS = 50;

/** A client of every caller, which gets the events of the requests. */
export class Listeners {
  readonly #clients = new Map<string, { queueId: string; last: number }>();
  readonly #secrets: readonly Secret[];

  constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
  }

  /**
   * Polls for all of them, and returns what is wrong with the events. Each reply is checked against its declaration,
   * event by event.
   */
  async hear(actors: readonly Actor[]): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const actor of new Map(actors.map((one) => [this.#nameOf(one), one])).values()) {
      for (let polls = 0; polls < POLLS; polls++) {
        const text = await this.#poll(actor);
        if (text === undefined) break;
        const leak = leakOf(this.#secrets, text, '', actor.side.realm.realm);
        if (leak) faults.push(`an event for ${actor.person.email} ${leak}\n  ${text.slice(0, 2_000)}`);
      }
    }
    return faults;
  }

  readonly #nameOf = ({ side, person }: Actor): string => `${person.userId}@${side.realm.host}`;

  /** One poll; undefined if there were no events, or the queue had to be registered again. */
  async #poll(actor: Actor): Promise<string | undefined> {
    const { side, person } = actor;
    const name = this.#nameOf(actor);
    const client = this.#clients.get(name);
    const query = client && { queue_id: client.queueId, last_event_id: client.last, dont_block: true };
    const reply = query && (await side.realm.call(getEvents, person, {}, { query }));
    if (client === undefined || reply?.status !== 200) {
      // Queues end while the clock leaps, and others delete them. Every other client is a modern one.
      const all = Object.fromEntries(capabilityNames.map((capability) => [capability, true]));
      const parameters = person.userId % 2 === 0 ? { client_capabilities: all } : {};
      const { body } = await side.realm.call(register, person, {
        ...parameters,
        fetch_event_types: ['message'],
      });
      this.#clients.set(name, { queueId: body.queue_id, last: body.last_event_id });
      return undefined;
    }
    const { events } = reply.body;
    if (events.length === 0) return undefined;
    client.last = events.at(-1).id;
    return JSON.stringify(events);
  }
}
