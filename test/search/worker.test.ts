import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { handler as remove } from '../../functions/messages/delete.ts';
import { handler as update } from '../../functions/messages/update.ts';
import { handler as sweep } from '../../functions/workers/retention.ts';
import type { Batch } from '../../shared/domain/search/batch.ts';
import { IndexDamaged } from '../../shared/domain/search/candidates.ts';
import { loadPointer, objectName, SEARCH } from '../../shared/domain/search/pointer.ts';
import { voidIndex } from '../../shared/domain/search/run.ts';
import { IndexUpdate } from '../../shared/domain/search/update.ts';
import { SEARCH_QUEUE } from '../../shared/kernel/wake-up.ts';
import { allocate, GIVEN_UP } from '../../shared/log/log.ts';
import { KEPT } from '../../shared/log/slot.ts';
import { topicConversation } from '../../shared/model/message/message.ts';
import { key } from '../../shared/table/keys.ts';
import { fault, mishaps } from '../support/faults.ts';
import { givenMessages, sent } from '../support/messages.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { loggedAfter } from '../support/stored.ts';
import { workOf } from '../support/work-queue.ts';
import { runSchedule } from '../support/worker-run.ts';
import { damage, foundInSegments, indexed, objectsOf, segmentsOf } from './search-index.ts';

const DAY = 86_400_000;

/** An organization with some messages in its channel, all indexed. */
async function givenIndex() {
  const realm = await newRealm();
  const { member } = realm.people;
  const { general } = realm.channels;
  const ids = [
    await sent(realm, member, { to: general, topic: 'tea' }, 'red apples'),
    await sent(realm, member, { to: general, topic: 'tea' }, 'green apples'),
    await sent(realm, member, { people: [realm.people.admin] }, 'blue berries'),
  ] as const;
  expect(await indexed(realm)).toBe(true);
  return { realm, ids };
}

const pointerOf = async ({ outside, realm }: TestRealm) => {
  const pointer = await loadPointer(outside.table, realm);
  if (pointer === undefined) throw new Error('there is no index');
  return pointer;
};

const firstSegment = async (realm: TestRealm) => {
  const [segment] = (await segmentsOf(realm)).segments;
  if (segment === undefined) throw new Error('there is no segment');
  return segment;
};

/** The bytes of all segments as text. */
async function stored(realm: TestRealm): Promise<string> {
  const { segments } = await segmentsOf(realm);
  const objects = await Promise.all(segments.map(({ name }) => objectsOf(realm).get(SEARCH, name)));
  return objects.map((object) => Buffer.from(object?.bytes ?? []).toString('latin1')).join('');
}

describe('the search worker', () => {
  it('indexes the words of messages and of their topics', async () => {
    const { realm, ids } = await givenIndex();
    expect(await foundInSegments(realm, 'apple')).toEqual([ids[0], ids[1]]);
    expect(await foundInSegments(realm, 'tea green')).toEqual([ids[1]]);
    expect(await foundInSegments(realm, 'berry')).toEqual([ids[2]]);
    expect(await foundInSegments(realm, 'pears')).toEqual([]);
  });

  it('indexes new messages into the same segment, and adds none twice', async () => {
    const { realm, ids } = await givenIndex();
    const more = await sent(realm, realm.people.member, { to: realm.channels.general }, 'more apples');
    await indexed(realm);
    await indexed(realm);
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[0], ids[1], more]);
    expect((await segmentsOf(realm)).segments).toMatchObject([{ first: ids[0], last: more, count: 4 }]);
  });

  it('follows edits and moves of older messages', async () => {
    const { realm, ids } = await givenIndex();
    const change = (id: number, parameters: object) =>
      realm.call(update, realm.people.owner, { ...parameters }, { path: { message_id: id } });
    const { member } = realm.people;
    await realm.call(update, member, { content: 'yellow pears' }, { path: { message_id: ids[0] } });
    expect((await change(ids[1], { topic: 'coffee' })).status).toBe(200);
    await indexed(realm);
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[1]]);
    expect(await foundInSegments(realm, 'pears tea')).toEqual([ids[0]]);
    expect(await foundInSegments(realm, 'coffee')).toContain(ids[1]);
    expect(await foundInSegments(realm, 'green tea')).toEqual([]);
  });

  it('keeps no words of a message that was deleted or edited', async () => {
    const { realm, ids } = await givenIndex();
    expect(await stored(realm)).toContain('green');
    await realm.call(remove, realm.people.owner, {}, { path: { message_id: ids[1] } });
    await realm.call(update, realm.people.member, { content: 'x' }, { path: { message_id: ids[0] } });
    await indexed(realm);
    expect(await stored(realm)).not.toMatch(/green|red/);
    expect(await foundInSegments(realm, 'apples')).toEqual([]);
    expect(await foundInSegments(realm, 'tea')).toEqual([ids[0]]);
  });

  it('keeps nothing when all messages are deleted', async () => {
    const { realm, ids } = await givenIndex();
    for (const id of ids) await realm.call(remove, realm.people.owner, {}, { path: { message_id: id } });
    const mine = await foundInSegments(realm, 'berries');
    await indexed(realm);
    const { segments } = await segmentsOf(realm);
    // The owner may not delete a direct message of others.
    expect(segments.map(({ count }) => count)).toEqual(mine.map(() => 1));
  });

  it('removes replaced segments, but not before readers are done with them', async () => {
    const { realm } = await givenIndex();
    const before = await firstSegment(realm);
    await sent(realm, realm.people.member, { to: realm.channels.general }, 'more');
    await indexed(realm);
    expect(await objectsOf(realm).get(SEARCH, before.name)).toBeDefined();
    realm.pass(11 * 60_000);
    await indexed(realm);
    expect(await objectsOf(realm).get(SEARCH, before.name)).toBeUndefined();
    // Nothing was left to replace, so nothing will be left to remove.
    expect(await pointerOf(realm)).not.toHaveProperty('purge');
  });

  it('starts another segment when one is full', async () => {
    const { realm, ids } = await givenIndex();
    const conversation = topicConversation(realm.channels.general, 'topic');
    const sentUpTo = (from: number, to: number): Batch => ({
      sent: Array.from({ length: to - from + 1 }, (_, i) => ({
        ...{ id: from + i, senderId: 1, channelId: realm.channels.general, conversation, topic: 'topic' },
        rendered: '<p>word</p>',
      })),
      changed: new Set(),
      until: to,
      isTorn: false,
    });
    const pointer = { ...(await pointerOf(realm)), claim: 1, clean: 1 };
    const update = await IndexUpdate.begin(realm.outside, objectsOf(realm), realm.realm, pointer);
    await update.apply(sentUpTo(1_001, 9_000));
    await update.apply(sentUpTo(9_001, 9_250));
    await update.apply(sentUpTo(9_251, 9_252));
    expect(await update.save({ at: 0, messages: 0 }, true)).toBe(true);
    const { segments } = await segmentsOf(realm);
    expect(segments.map(({ first, last, count }) => [first, last, count])).toEqual([
      [ids[0], 9_189, 8_192],
      [9_190, 9_252, 63],
    ]);
    expect(await foundInSegments(realm, 'word')).toEqual(Array.from({ length: 8_252 }, (_, i) => 1_001 + i));
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[0], ids[1]]);
  }, 120_000);
});

describe('runs of the search worker under faults', () => {
  it('do the work once if two run at the same time', async () => {
    const { realm, ids } = await givenIndex();
    const id = await sent(realm, realm.people.member, { to: realm.channels.general }, 'apples');
    const runs = [realm, realm.container(), realm.container()].map((each) => indexed(each));
    expect(await Promise.all(runs)).toEqual([true, true, true]);
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[0], ids[1], id]);
    expect(await pointerOf(realm)).toMatchObject({ claim: 2, clean: 2, leased: 0 });
  });

  it('are completed by the next one if they die before the swap, and leave nothing behind', async () => {
    const { realm, ids } = await givenIndex();
    const id = await sent(realm, realm.people.member, { to: realm.channels.general }, 'apples');
    const dies = async () => {
      throw fault('Died');
    };
    const dying = realm.container(mishaps({ update: [undefined, dies] }));
    expect(await indexed(dying)).toBe(false);
    expect(await objectsOf(realm).get(SEARCH, objectName(realm.realm, 2, 0))).toBeDefined();
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[0], ids[1]]);
    // Nobody else begins while it may still be at it.
    await indexed(realm);
    expect((await pointerOf(realm)).claim).toBe(2);
    realm.pass(306_000);
    await indexed(realm);
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[0], ids[1], id]);
    expect(await objectsOf(realm).get(SEARCH, objectName(realm.realm, 2, 0))).toBeUndefined();
  });

  it('change nothing if they lost their lease', async () => {
    const { realm } = await givenIndex();
    await sent(realm, realm.people.member, { to: realm.channels.general }, 'apples');
    const before = await pointerOf(realm);
    const slow = realm.container(
      mishaps({
        update: [
          undefined,
          async (send) => {
            await voidIndex(realm.outside, realm.realm);
            return send();
          },
        ],
      }),
    );
    expect(await indexed(slow)).toBe(true);
    expect(await pointerOf(realm)).toMatchObject({ list: before.list, until: before.until, isVoid: true });
    await indexed(realm);
    expect(await foundInSegments(realm, 'apples')).toHaveLength(3);
    expect(await pointerOf(realm)).not.toHaveProperty('isVoid');
  });

  it('continue where the last one ran out of time', async () => {
    const { realm } = await givenIndex();
    await voidIndex(realm.outside, realm.realm);
    const work = await workOf(realm, SEARCH_QUEUE);
    expect(await indexed(realm, { seconds: 1 })).toBe(true);
    expect(await work.receive()).toHaveLength(0);
    expect(await foundInSegments(realm, 'apples')).toHaveLength(2);
  });

  it.each(['lost', 'cut short', 'changed'])('rebuild a segment that is %s', async (how) => {
    const { realm, ids } = await givenIndex();
    const { name } = await firstSegment(realm);
    const bytes = (await objectsOf(realm).get(SEARCH, name))?.bytes ?? new Uint8Array();
    const changed = Uint8Array.from(bytes).fill(7, 5_000, 5_100);
    await damage(realm, name, { lost: undefined, 'cut short': bytes.slice(0, 4_096), changed }[how]);
    await expect(foundInSegments(realm, 'apples')).rejects.toThrow(IndexDamaged);
    await indexed(realm);
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[0], ids[1]]);
  });

  it('rebuild a damaged segment when they must change it', async () => {
    const { realm, ids } = await givenIndex();
    await damage(realm, (await firstSegment(realm)).name, Buffer.from('no segment'));
    const id = await sent(realm, realm.people.member, { to: realm.channels.general }, 'apples');
    await indexed(realm);
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[0], ids[1], id]);
  });

  it('rebuild the index if its list is lost', async () => {
    const { realm, ids } = await givenIndex();
    await damage(realm, (await pointerOf(realm)).list?.name ?? '');
    await indexed(realm);
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[0], ids[1]]);
  });

  it('rebuild the index if the log no longer reaches back to it', async () => {
    const { realm, ids } = await givenIndex();
    const { until } = await pointerOf(realm);
    await realm.call(update, realm.people.member, { content: 'pears' }, { path: { message_id: ids[0] } });
    for (const { seq } of await loggedAfter(realm, until)) {
      await realm.outside.table.transact(
        [{ delete: key('slot', { realm: realm.realm, seq }) }],
        randomUUID(),
      );
    }
    realm.pass(KEPT + 2 * DAY);
    const id = await sent(realm, realm.people.member, { to: realm.channels.general }, 'apples');
    await indexed(realm);
    expect(await foundInSegments(realm, 'apples')).toEqual([ids[1], id]);
    expect(await foundInSegments(realm, 'pears')).toEqual([ids[0]]);
  });
});

it('a number of the log that nobody used does not stop the search worker', async () => {
  const { realm } = await givenIndex();
  await allocate(realm.log, 1);
  const id = await sent(realm, realm.people.member, { to: realm.channels.general }, 'cherries');
  realm.pass(GIVEN_UP);
  expect(await indexed(realm)).toBe(true);
  expect(await foundInSegments(realm, 'cherries')).toEqual([id]);
});

describe('when the search worker runs', () => {
  const swept = async (realm: TestRealm): Promise<boolean> => {
    const work = await workOf(realm, SEARCH_QUEUE);
    await runSchedule(realm, sweep);
    let isWoken = false;
    for (let messages = await work.receive(); messages.length > 0; messages = await work.receive()) {
      isWoken ||= messages.some(({ Body = '' }) => JSON.parse(Body).realm === realm.realm);
      for (const message of messages) await work.done(message);
    }
    return isWoken;
  };

  it('it writes nothing for a few messages, and nothing while there are none', async () => {
    const { realm } = await givenIndex();
    await sent(realm, realm.people.member, { to: realm.channels.general });
    expect(await swept(realm)).toBe(false);
    realm.meter.reset();
    await indexed(realm, { verify: false });
    expect(realm.meter.writeUnits).toBe(0);
    expect(realm.meter.roundTrips).toBe(1);
    // But it follows while the log still has what changed.
    realm.pass(6 * DAY + 1);
    expect(await swept(realm)).toBe(true);
    await indexed(realm, { verify: false });
    expect(await swept(realm)).toBe(false);
    realm.pass(DAY + 1);
    expect(await swept(realm)).toBe(true);
    await indexed(realm, { verify: false });
    realm.pass(60 * DAY);
    expect(await swept(realm)).toBe(false);
  });

  it('it takes at most one write unit for 50 messages, including the removal of replaced segments', async () => {
    const { realm } = await givenIndex();
    await givenMessages(realm, realm.people.member, realm.channels.general, () => 'topic', 200, 'word');
    await realm.outside.table.update(key('counter', { realm: realm.realm }), { add: { messages: 200 } });
    expect(await swept(realm)).toBe(true);
    realm.meter.reset();
    await indexed(realm, { verify: false });
    realm.pass(DAY + 1);
    expect(await swept(realm)).toBe(true);
    await indexed(realm, { verify: false });
    expect(await swept(realm)).toBe(false);
    expect(realm.meter.writeUnits).toBeLessThanOrEqual(4);
    expect(await foundInSegments(realm, 'word')).toHaveLength(200);
  });
});
