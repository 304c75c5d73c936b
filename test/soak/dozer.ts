import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from './client.ts';
import { wrongOrder } from './heard.ts';
import type { Random } from './random-choice.ts';

/** Seconds for which the queues of a dozer may be idle. */
const idle = 10;

/** What a dozer met. */
export interface Dozed {
  registered: number;
  readonly wrong: string[];
}

/**
 * A program that sleeps between its polls, at times for too long, and registers again when its queue has expired. The
 * queue must not expire before its idle time is over.
 */
export async function doze(client: Client, random: Random, isOver: () => boolean): Promise<Dozed> {
  const dozed: Dozed = { registered: 0, wrong: [] };
  while (!isOver()) {
    const parameters = { event_types: ['message'], fetch_event_types: [], idle_queue_timeout: String(idle) };
    const registered = await client.ask({ method: 'POST', path: 'register', parameters });
    if (registered.status === 200) {
      dozed.registered += 1;
      await follow(client, random, registered.body, dozed, isOver);
    } else await wait(500);
  }
  return dozed;
}

async function follow(
  client: Client,
  random: Random,
  { queue_id, last_event_id: start }: { readonly queue_id: string; readonly last_event_id: number },
  { wrong }: Dozed,
  isOver: () => boolean,
): Promise<void> {
  let last = start;
  // When the last poll that the service answered was asked. The service counts from there: it cannot know when its reply comes.
  let polled = performance.now();
  while (!isOver()) {
    await wait(random() * 1.4 * idle * 1000);
    const parameters = { queue_id, last_event_id: last, dont_block: true };
    const asked = performance.now();
    const reply = await client.ask({ method: 'GET', path: 'events', parameters });
    const { status } = reply;
    if (status === 'lost' || status >= 500 || status === 429) continue;
    const { body } = reply;
    if (status === 200) {
      wrong.push(...wrongOrder(body.events, last).map((what) => `a dozing reader: ${what}`));
      for (const { id } of body.events) last = Math.max(last, id);
      polled = asked;
      continue;
    }
    const seconds = (performance.now() - polled) / 1000;
    if (body.code !== 'BAD_EVENT_QUEUE_ID' || seconds < idle) {
      wrong.push(`a queue was refused after ${seconds.toFixed(1)} of ${idle} s: ${JSON.stringify(body)}`);
    }
    return;
  }
}
