import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, it, vi } from 'vitest';
import { handler as getEvents } from '../../functions/events/get.ts';
import { loadQueue } from '../../shared/domain/event/queue.ts';
import { Held } from '../../shared/serve/held.ts';
import type { HoldingHandler } from '../../shared/serve/serve.ts';
import { givenClient } from '../support/event-queue.ts';
import { newRoom } from '../support/listener.ts';
import { basic } from '../support/raw-request.ts';
import { newRealm } from '../support/realm.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Begins a poll that is held. What it returns of the event does not keep it. */
async function begin(handler: HoldingHandler, event: object): Promise<[Held, WeakRef<object>]> {
  const answered = await handler.begin(event as APIGatewayProxyEvent);
  if (!(answered instanceof Held)) throw new Error('The poll is not held.');
  return [answered, new WeakRef(event)];
}

it('a poll that waits does not keep its request in memory', async () => {
  const realm = await newRealm();
  const { member } = realm.people;
  const { queueId, last } = await givenClient(realm, member, { event_types: ['message'] });
  const eventOfPoll = () => ({
    headers: { host: realm.host, authorization: basic(member) },
    body: null,
    pathParameters: null,
    multiValueQueryStringParameters: { queue_id: [queueId], last_event_id: [String(last)] },
    requestContext: { requestId: 'r1', domainName: realm.host },
  });
  const handler = getEvents.holding(realm.container(undefined, { waitingRoom: newRoom() }).outside);
  const [held, event] = await begin(handler, eventOfPoll());

  await vi.waitFor(
    async () => {
      await pause(10);
      collectGarbage();
      expect(event.deref()).toBeUndefined();
    },
    { timeout: 30_000 },
  );

  held.end();
  const { statusCode, body } = await handler.finish(eventOfPoll() as unknown as APIGatewayProxyEvent, held);
  expect([statusCode, JSON.parse(body).events[0].type]).toEqual([200, 'heartbeat']);
});

it('the attributes of queues come in one order, so that queues in memory share their shape', async () => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const attributes = await Promise.all(
    [member, admin].map(async (person) => {
      const { queueId } = await givenClient(realm, person, { event_types: ['message'] });
      const queue = await loadQueue(realm.outside.table, realm.realm, person.userId, queueId);
      return Object.keys(queue ?? {});
    }),
  );
  expect(attributes[0]).toContain('marks');
  expect(attributes[0]).toEqual(attributes[1]);
});
