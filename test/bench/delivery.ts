import { setTimeout as wait } from 'node:timers/promises';
import type { DemoName } from '../../infra/local/demo.ts';
import { type HttpReply, httpRequest, send } from './http-request.ts';
import { type Latencies, LatencyRecorder } from './latencies.ts';
import { type BenchCloud, endpointOf, type Organization, startBenchCloud } from './local-cloud.ts';
import { usageOfChildren } from './usage.ts';

/** How many clients wait at once, and how often somebody writes to them. */
const LEVELS = [
  { waiting: 1, rounds: 40 },
  { waiting: 50, rounds: 10 },
  { waiting: 200, rounds: 6 },
] as const;

export interface DeliveryRow extends Latencies {
  /** Clients with a queue and a poll of their own. */
  readonly waiting: number;
  /**
   * From the sender's reply instead of their request, ms. The commit lies between the two. What reaches a reader
   * before the sender counts as nothing.
   */
  readonly afterReply: Latencies;
  /** Replies that were measured. */
  readonly deliveries: number;
  /** Polls that failed, or returned no message. */
  readonly failed: number;
  readonly firstFailure?: string;
  /** Processors that the local cloud and its store kept busy while nothing happened but waiting; absent if unknown. */
  readonly busyWaiting?: number;
  /** The most memory that they had so far, MB; absent if unknown. */
  readonly peakMb?: number;
  /** Why it was not measured, if it was not. */
  readonly note?: string;
}

/** Everybody reads the channel to which is written. */
const READERS: readonly DemoName[] = ['owner', 'admin', 'moderator', 'guest'];

/** Messages before anybody listens, so that the sender's function is warm. */
const WARMING = 10;

/** Functions that may run at once. */
const SPARE = 40;

/** Milliseconds from sending polls until all of them are surely being held, and those that each of them adds. */
const SETTLING = 400;
const SETTLING_EACH = 15;

/** A poll looks for news again and again: over more than this long (ms), the moment of a message is spread. */
const SPREAD = 400;

/** Milliseconds that nobody writes while the processor time of waiting is taken. */
const QUIET = 3_000;

/**
 * Measures how long a message takes to clients that wait for it, through the whole local cloud: from the sender's
 * request, about to be written, to the reader's reply, wholly read.
 *
 * @param levels How many clients wait, and how many messages each of them gets.
 */
export async function measureDelivery(
  levels: readonly { readonly waiting: number; readonly rounds: number }[] = LEVELS,
  onRow: (row: DeliveryRow) => void = () => {},
): Promise<readonly DeliveryRow[]> {
  // One server holds all who wait, so functions are for the rest.
  const cloud = await startBenchCloud(SPARE);
  const rows: DeliveryRow[] = [];
  try {
    for (const { waiting, rounds } of levels) {
      const row = await deliver(cloud, await cloud.organization(), waiting, rounds);
      rows.push(row);
      onRow(row);
    }
  } finally {
    await cloud.stop();
  }
  return rows;
}

interface Queue {
  readonly as: DemoName;
  readonly queue_id: string;
  readonly last: number;
}

async function deliver(
  cloud: BenchCloud,
  organization: Organization,
  waiting: number,
  rounds: number,
): Promise<DeliveryRow> {
  const [fromRequest, fromReply] = [new LatencyRecorder(), new LatencyRecorder()];
  let failed = 0;
  let firstFailure: string | undefined;
  let busyWaiting: number | undefined;
  for (let n = 0; n < WARMING; n++) await say(cloud, organization, `Warm ${n}`);
  // One after the other, so that no more copies of the function are started than are needed.
  let queues: readonly Queue[] = [];
  for (let i = 0; i < waiting; i++) queues = [...queues, await newQueue(organization, i)];

  // The first round starts copies of the functions, and is not measured.
  for (let round = -1; round < rounds; round++) {
    let early = 0;
    let isSent = false;
    const polls = queues.map(async (queue) => {
      const reply = await poll(cloud, organization, queue);
      if (!isSent) early += 1;
      return reply;
    });
    await wait(SETTLING + SETTLING_EACH * waiting * (round < 0 ? 5 : 1));
    if (round === 0) busyWaiting = await busyFor(QUIET);
    await wait(Math.random() * SPREAD);
    isSent = true;
    const sent = await say(cloud, organization, `Round ${round}`);
    const replies = await Promise.all(polls);
    for (const reply of replies) {
      const fault = early > 0 ? 'a poll ended before anybody wrote' : faultOf(reply);
      if (fault !== undefined) {
        failed += 1;
        firstFailure ??= fault;
      } else if (round >= 0) {
        fromRequest.record(reply.repliedAt - sent.sentAt);
        fromReply.record(reply.repliedAt - sent.repliedAt);
      }
    }
    queues = queues.map((queue, i) => ({ ...queue, last: lastEventIn(replies[i]) ?? queue.last }));
  }
  const usage = await usageOfChildren();
  return {
    waiting,
    ...fromRequest.latencies,
    afterReply: fromReply.latencies,
    deliveries: fromRequest.count,
    failed,
    ...(firstFailure !== undefined && { firstFailure }),
    ...(busyWaiting !== undefined && { busyWaiting }),
    ...(usage && { peakMb: usage.peakMb }),
  };
}

async function newQueue({ call }: Organization, index: number): Promise<Queue> {
  const as = READERS[index % READERS.length] ?? 'owner';
  const wanted = { event_types: ['message'], fetch_event_types: [] };
  const { queue_id, last_event_id } = await call('events.register', as, wanted);
  return { as, queue_id, last: last_event_id };
}

/** Waits for news. A connection that breaks is a reply like any other one that is not as it should be. */
async function poll({ service }: BenchCloud, { asker }: Organization, queue: Queue): Promise<HttpReply> {
  const query = { queue_id: queue.queue_id, last_event_id: queue.last };
  const request = httpRequest(endpointOf('events.get'), { query }, asker(queue.as));
  return send(service.address, request).catch((error) => ({
    status: 0,
    location: undefined,
    cookie: undefined,
    body: String(error),
    sentAt: Number.NaN,
    repliedAt: Number.NaN,
  }));
}

async function say({ service }: BenchCloud, { asker }: Organization, content: string): Promise<HttpReply> {
  const parameters = { type: 'channel', to: 'general', topic: 'delivery', content };
  const request = httpRequest(endpointOf('messages.send'), { parameters }, asker('member'));
  const reply = await send(service.address, request);
  if (reply.status !== 200) throw new Error(`The message was not sent: ${reply.status} ${reply.body}`);
  return reply;
}

/** Why a reply is not a message that was delivered, if it is not. */
function faultOf({ status, body }: HttpReply): string | undefined {
  if (status !== 200) return `${status}: ${body}`;
  const [event] = JSON.parse(body).events;
  return event?.type === 'message' ? undefined : `not a message: ${body}`;
}

const lastEventIn = (reply: HttpReply | undefined): number | undefined =>
  reply?.status === 200 ? JSON.parse(reply.body).events.at(-1)?.id : undefined;

/** How many processors were busy with the local cloud and its store for some milliseconds. */
async function busyFor(ms: number): Promise<number | undefined> {
  const before = await usageOfChildren();
  const began = performance.now();
  await wait(ms);
  const after = await usageOfChildren();
  if (!before || !after) return undefined;
  return (1000 * (after.cpuSeconds - before.cpuSeconds)) / (performance.now() - began);
}
