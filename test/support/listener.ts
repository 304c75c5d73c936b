import { randomUUID } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { handler as deleteQueue } from '../../functions/events/delete.ts';
import { handler as getEvents } from '../../functions/events/get.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import { WaitingRoom } from '../../shared/log/waiting-room.ts';
import { type ListeningServer, listeningServer } from '../../shared/serve/listen.ts';
import type { Send } from '../../shared/table/table.ts';
import { type Client, type Event, givenClient, virtualTime } from './event-queue.ts';
import type { Person, TestRealm } from './realm.ts';

/** A waiting room of a process of its own. */
export const newRoom = ({ holdMs = 55_000, capacity = 4_000 } = {}): WaitingRoom =>
  new WaitingRoom({ id: randomUUID(), holdMs, capacity });

/** What can hold a poll. */
export const ways = ['function', 'listener'] as const;

/** Virtual time for a container that holds its polls in one of these ways, each for 24 s. */
export const timeOf = (by: (typeof ways)[number], at?: (passed: number) => Promise<unknown>) => ({
  ...virtualTime(at),
  ...(by === 'listener' && { waitingRoom: newRoom({ holdMs: 24_000 }) }),
});

/** A listener on loopback, as one environment of the Web Function. */
export interface TestListener extends ListeningServer {
  readonly port: number;
  readonly room: WaitingRoom;
  /** What its process sees of the realm. */
  readonly container: TestRealm;
}

/** Starts a listener for a realm; it ends with the test. */
export async function givenListener(
  realm: TestRealm,
  {
    room = newRoom(),
    faults,
    outside,
  }: { room?: WaitingRoom; faults?: (send: Send) => Send; outside?: Partial<Outside> } = {},
): Promise<TestListener> {
  const container = realm.container(faults, { ...outside, waitingRoom: room });
  const listening = listeningServer([getEvents, deleteQueue], container.outside);
  const { server } = listening;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { ...listening, port: (server.address() as AddressInfo).port, room, container };
}

export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: replies are what the tests look into
  readonly body: any;
}

/** A request under way. */
export interface Asked {
  readonly reply: Promise<HttpReply>;
  /** Hangs up. */
  readonly hangUp: () => void;
}

/** Sends a request to a listener. */
export function ask(
  realm: TestRealm,
  { port }: Pick<TestListener, 'port'>,
  as: Person | undefined,
  query: Readonly<Record<string, string | number>>,
  {
    method = 'GET',
    path = '/api/v1/events',
    agent = new Agent(),
    headers = {},
  }: { method?: string; path?: string; agent?: Agent; headers?: Readonly<Record<string, string>> } = {},
): Asked {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const sent = request({
    port,
    host: '127.0.0.1',
    method,
    path: `${path}?${search}`,
    agent,
    headers: {
      ...headers,
      host: realm.host,
      ...(as && { authorization: `Basic ${Buffer.from(`${as.email}:${as.apiKey}`).toString('base64')}` }),
    },
  });
  const reply = new Promise<HttpReply>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      });
    });
  });
  reply.catch(() => {});
  sent.end();
  return { reply, hangUp: () => sent.destroy() };
}

/** A client that waits at a listener, and comes again with the id of the last event that it got. */
export interface WaitingClient extends Client {
  /** Asks and waits. */
  readonly listen: () => Asked;
  /** The events of one poll, which it acknowledges. */
  readonly hear: () => Promise<Event[]>;
}

export async function givenWaitingClient(
  realm: TestRealm,
  listener: Pick<TestListener, 'port'>,
  person: Person,
  parameters: Readonly<Record<string, unknown>> = { event_types: ['message'] },
): Promise<WaitingClient> {
  const client = await givenClient(realm, person, parameters);
  const listen = (): Asked =>
    ask(realm, listener, person, { queue_id: client.queueId, last_event_id: client.last });
  return Object.assign(client, {
    listen,
    hear: async () => {
      const { body } = await listen().reply;
      client.last = Math.max(client.last, ...body.events.map(({ id }: Event) => id));
      return body.events;
    },
  });
}
