import { describe, expect, inject, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { commit } from '../../shared/log/commit.ts';
import { allocate, joinNumbers, type Numbers, readRun, splitNumbers, WHOLE } from '../../shared/log/log.ts';
import { said, sendTo } from '../support/event-queue.ts';
import { contentsIn, eventFor, messageTo, slotsOf } from '../support/log-entries.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { TABLE } from '../support/store.ts';
import { storeClient } from '../support/store-client.ts';
import { DeleteCommand } from '../support/store-commands.ts';
import { lastNumber } from '../support/stored.ts';

/*
 * What DynamoDB leaves of a log by deleting old events: a hole as wide as there were events, with messages around it.
 * It is passed without a request for each of its numbers, and nothing else is passed that way.
 */

const day = 24 * 3600 * 1000;

/** Does what DynamoDB does with items whose time is over. */
async function expire({ log }: TestRealm): Promise<number> {
  const raw = storeClient(inject('dynamodb'));
  const over = (await slotsOf(log)).filter((slot) => 'expires' in slot && slot.expires * 1000 < log.now());
  for (const { pk, sk } of over) await raw(new DeleteCommand({ TableName: TABLE, Key: { pk, sk } }));
  return over.length;
}

/** An organization in which so many events happened one after the other, and then nothing until they were deleted. */
async function quiet(events: number) {
  const realm = await newRealm();
  const { admin, member } = realm.people;
  const start = await sendTo(realm, admin, realm.channels.general, 'before');
  for (let i = 0; i < events; i++) {
    const entries = [eventFor({ type: 'x' })];
    await commit(realm.log, 1, () => ({ writes: [], entries, result: 0 }));
  }
  realm.pass(10 * day);
  expect(await expire(realm)).toBeGreaterThanOrEqual(events);
  return { realm, admin, member, start, end: await lastNumber(realm) };
}

/** The events that a new reader gets after a number in its first read, and how many requests that takes. */
async function lookFrom(realm: TestRealm, cursor: number) {
  const { log, meter } = realm.container();
  const run = await readRun(log, cursor, new Map());
  return { ...run, requests: meter.calls.length };
}

describe('a hole that the deletion of old events left', () => {
  it('costs a registration nothing, however wide it is', async () => {
    const { realm, admin, member } = await quiet(250);
    const id = await sendTo(realm, admin, realm.channels.general, 'after');
    const container = realm.container();
    const { status, body } = await container.call(register, member, { event_types: ['message'] });
    expect(status).toBe(200);
    expect(body.max_message_id).toBe(id);
    expect(container.meter.roundTrips).toBeLessThanOrEqual(3);
    expect(container.counts).toEqual([]);
  });

  it.each([
    ['a message', (realm: TestRealm) => sendTo(realm, realm.people.admin, realm.channels.general, 'after')],
    [
      'a message that is deleted at once',
      async (realm: TestRealm) => {
        const id = await sendTo(realm, realm.people.admin, realm.channels.general, 'after');
        await realm.call(deleteMessage, realm.people.admin, {}, { path: { message_id: id } });
      },
    ],
    [
      'a request that is refused, and gives its numbers back',
      async (realm: TestRealm) => {
        const nowhere = { type: 'channel', to: 987_654_321, topic: 'hi', content: 'refused' };
        expect((await realm.call(send, realm.people.admin, nowhere)).status).toBe(400);
      },
    ],
    [
      'several entries of one commit',
      ({ log, channels }: TestRealm) =>
        commit(log, 3, () => ({
          writes: [],
          entries: [eventFor({ type: 'a' }), messageTo(channels.general, 1, 'b'), eventFor({ type: 'c' })],
          result: 0,
        })),
    ],
  ])('is skipped by the first read if the first entry behind it is %s', async (_, act) => {
    const { realm, start } = await quiet(5);
    await act(realm);
    // Nothing has to settle any more.
    realm.pass(WHOLE);
    const { head, ended, requests } = await lookFrom(realm, start);
    expect({ head, ended, requests }).toEqual({ head: await lastNumber(realm), ended: 'end', requests: 1 });
  });

  it('is also skipped by a reader that was there before the silence', async () => {
    const { realm, admin, start } = await quiet(5);
    await sendTo(realm, admin, realm.channels.general, 'after');
    expect(said((await lookFrom(realm, start)).entries.map(toEvent))).toEqual(['after']);
  });
});

const toEvent = (entry: { kind: string; content?: unknown }) => ({
  type: entry.kind,
  message: { content: entry.content },
});

describe('a hole that a living writer may still fill', () => {
  it('is not skipped even if there was a long silence before it', async () => {
    const { realm, start } = await quiet(5);
    // The first writer after the silence is slow, and others are not.
    const open = await allocate(realm.log, 1);
    const say = (content: string, taken?: readonly number[]) => {
      const entries = [messageTo(realm.channels.general, 1, content)];
      return commit(
        realm.log,
        1,
        () => ({ writes: [], entries, result: 0 }),
        taken && Promise.resolve(taken),
      );
    };
    await say('fast');
    expect(await lookFrom(realm, start)).toMatchObject({ entries: [], head: start, ended: 'hole' });
    await say('slow', open);
    const { entries } = await lookFrom(realm, start);
    expect(said(entries.map(toEvent))).toEqual(['slow', 'fast']);
    expect((await contentsIn(realm.log)).slice(-2)).toEqual(['slow', 'fast']);
  });

  it('is not skipped if a number was allocated within the last half day', async () => {
    const realm = await newRealm();
    const start = await lastNumber(realm);
    await allocate(realm.log, 1);
    realm.pass(day / 2 - 60_000);
    await sendTo(realm, realm.people.admin, realm.channels.general, 'after');
    const { log } = realm;
    const run = await readRun(log, start, new Map());
    expect(run).toMatchObject({ entries: [], head: start, ended: 'hole' });
  });

  it('is not skipped if it lies between blocks of one request', async () => {
    const { realm } = await quiet(1);
    const numbers = await allocate(realm.log, 5);
    expect(numbers.areAfterSilence).toBe(true);
    const [first, second] = splitNumbers(numbers, [2, 3]) as [Numbers, Numbers];
    expect([[...first], first.areAfterSilence]).toEqual([numbers.slice(0, 2), true]);
    expect([[...second], second.areAfterSilence]).toEqual([numbers.slice(2), undefined]);
    expect(joinNumbers([first, second]).areAfterSilence).toBe(true);
    expect(joinNumbers([second]).areAfterSilence).toBeUndefined();
  });
});
