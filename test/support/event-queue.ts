import { setImmediate as tick } from 'node:timers/promises';
import { expect } from 'vitest';
import { handler as getEvents } from '../../functions/events/get.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as send } from '../../functions/messages/send.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

type Parameters = Readonly<Record<string, unknown>>;

// biome-ignore lint/suspicious/noExplicitAny: events are what the tests look into
export type Event = any;

/** A client with a queue: it acknowledges what it got with its next poll. */
export interface Client {
  readonly queueId: string;
  /** The reply to its registration. */
  readonly state: Reply['body'];
  last: number;
  /** Polls without blocking, unless said otherwise, and expects an answer. */
  readonly poll: (parameters?: Parameters, through?: TestRealm) => Promise<Event[]>;
  /** The same, as the reply came. */
  readonly ask: (parameters?: Parameters, through?: TestRealm) => Promise<Reply>;
}

/** Registers a queue for a user; only the state of its message events unless said otherwise. */
export async function givenClient(
  realm: TestRealm,
  person: Person,
  parameters: Parameters = {},
): Promise<Client> {
  const asked = { fetch_event_types: ['message'], client_capabilities: { empty_topic_name: true } };
  const { status, body } = await realm.call(register, person, { ...asked, ...parameters });
  expect(body, body.msg).toMatchObject({ result: 'success' });
  expect(status).toBe(200);
  const client: Client = {
    queueId: body.queue_id,
    state: body,
    last: body.last_event_id,
    ask: (given = {}, through = realm) =>
      through.call(getEvents, person, undefined, {
        query: { queue_id: client.queueId, last_event_id: client.last, dont_block: true, ...given },
      }),
    poll: async (given, through) => {
      const reply = await client.ask(given, through);
      expect(reply.body, reply.body.msg).toMatchObject({ result: 'success', queue_id: client.queueId });
      const { events } = reply.body as { events: Event[] };
      client.last = Math.max(client.last, ...events.map(({ id }) => id));
      return events;
    },
  };
  return client;
}

/** What events say, in short: the content of a message, the type of anything else. */
export const said = (events: readonly Event[]): string[] =>
  events.map(({ type, message }) => (type === 'message' ? message.content : type));

/** Time that passes only during waits, all at once; `at` may do something when so much has passed. */
export function virtualTime(
  at: (passed: number) => Promise<unknown> = async () => {},
): Pick<Outside, 'now' | 'wait'> & { readonly passed: () => number } {
  const start = Date.now();
  let passed = 0;
  return {
    now: () => start + passed,
    passed: () => passed,
    wait: async (ms) => {
      passed += ms;
      await tick();
      await at(passed);
    },
  };
}

/** Sends a message to a channel, or to people, and tells its id. */
export const sendTo = async (
  realm: TestRealm,
  as: Person,
  to: number | readonly number[],
  content: string,
  parameters: object = {},
): Promise<number> => {
  const place = typeof to === 'number' ? { type: 'channel', to, topic: 'hi' } : { type: 'direct', to };
  const { body } = await realm.call(send, as, { ...place, content, ...parameters });
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return body.id;
};

/** What every poll of a queue gets that is not (or no longer) one of the caller's. */
export const refusedQueue = (queueId: string) => ({
  status: 400,
  body: { code: 'BAD_EVENT_QUEUE_ID', queue_id: queueId },
});
