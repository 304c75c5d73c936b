import { s3Objects } from '../../shared/adapters/objects.ts';
import type { WireEvent } from '../../shared/domain/event/object.ts';
import { pollEvents } from '../../shared/domain/event/poll.ts';
import { accessQueue, checkCursor, loadQueue, numberOf } from '../../shared/domain/event/queue.ts';
import { getEvents } from '../../shared/endpoints/events.ts';
import { type FirstSeen, readRun } from '../../shared/log/log.ts';
import { isGuest } from '../../shared/model/permission/permission.ts';
import { Held } from '../../shared/serve/held.ts';
import { serveByRole } from '../../shared/serve/serve.ts';
import { LARGEST_NUMBER } from '../../shared/table/keys.ts';

const replyOf = (queueId: string, events: readonly WireEvent[]) => ({
  events: [...events],
  queue_id: queueId,
});

export const handler = serveByRole(
  getEvents,
  {
    load: async ({ input, realm, userId, outside, log }) => {
      const started = outside.now();
      const firstSeen: FirstSeen = new Map();
      const number = numberOf(input.last_event_id);
      const isReadable = number >= 0 && number < LARGEST_NUMBER;
      const [queue, counter, run] = await Promise.all([
        loadQueue(outside.table, realm, userId, input.queue_id),
        outside.table.get('counter', { realm }),
        isReadable ? readRun(log, number, firstSeen) : undefined,
      ]);
      return { started, queue, newest: counter?.seq ?? 0, run, firstSeen };
    },
    run: async (request, { started, queue: stored, newest, run, firstSeen }) => {
      const { input, realm, userId, ownerId, email, apiKey, outside, log, clients, caller } = request;
      const { queue_id, last_event_id: last, dont_block = false } = input;
      const queue = accessQueue(stored, queue_id, userId, started);
      const cursor = checkCursor(queue, last, newest, started);
      const first = run && cursor === numberOf(last) ? run : await readRun(log, cursor, firstSeen);
      const owner = ownerId !== undefined && { ownerId };
      const account = { email, apiKey };
      const listener = {
        ...{ outside, realm, userId, ...owner, account, queue, objects: clients.objects },
        isGuest: isGuest(caller.standing),
      };
      const poll = { last, cursor, first, firstSeen, started, isBlocking: !dont_block };
      const polled = await pollEvents(listener, log, poll);
      if (!('later' in polled)) return replyOf(queue_id, polled);
      return new Held(
        polled.later.then((events) => replyOf(queue_id, events)),
        polled.end,
      );
    },
  },
  { objects: s3Objects },
);
