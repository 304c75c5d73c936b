import { describe, expect, it } from 'vitest';
import { handler as regenerateBotKey } from '../../functions/bots/regenerateKey.ts';
import { handler as deleteQueue } from '../../functions/events/delete.ts';
import { handler as regenerateOwnKey } from '../../functions/users/regenerateKey.ts';
import { eventIdOf } from '../../shared/domain/event/queue.ts';
import { allocate, GRACE } from '../../shared/log/log.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { givenClient, refusedQueue, said, sendTo } from '../support/event-queue.ts';
import { givenBot, givenChangedUser, givenChannel } from '../support/given.ts';
import { timeOf, ways } from '../support/listener.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

describe.each(ways)('a poll that blocks, held by a %s', (by) => {
  it('ends within 25 s with a heartbeat, which acknowledges all events that were examined', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [admin]);
    const client = await givenClient(realm, member);
    const hidden = await sendTo(realm, admin, channelId, 'not for the member');
    const time = timeOf(by);
    const events = await client.poll({ dont_block: false }, realm.container(undefined, time));
    expect(events).toEqual([{ type: 'heartbeat', id: eventIdOf(hidden) + 1 }]);
    expect(time.passed()).toBeGreaterThan(20_000);
    expect(time.passed()).toBeLessThanOrEqual(25_000);
    expect(await client.poll()).toEqual([]);
  });

  it('wakes within 300 ms of a commit, usually within half of that', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member);
    let sentAt: number | undefined;
    const time = timeOf(by, async (passed) => {
      if (passed < 5_000 || sentAt !== undefined) return;
      sentAt = passed;
      await sendTo(realm, admin, realm.channels.general, 'wake up');
    });
    const waits: number[] = [];
    const wait = (ms: number): Promise<void> => {
      waits.push(ms);
      return time.wait(ms);
    };
    const container = realm.container(undefined, { ...time, wait });
    expect(said(await client.poll({ dont_block: false }, container))).toEqual(['wake up']);
    // At worst the commit comes right after a look; the rest are round trips.
    expect(Math.max(...waits)).toBeLessThanOrEqual(150);
    expect(time.passed() - (sentAt ?? 0)).toBeLessThanOrEqual(150);
  });

  it('wakes only for events that its user gets', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [admin]);
    const client = await givenClient(realm, member);
    let said_ = 0;
    const time = timeOf(by, async (passed) => {
      if (passed > said_ * 1_000 && said_ < 3) {
        said_++;
        await sendTo(realm, admin, said_ === 3 ? realm.channels.general : channelId, `number ${said_}`);
      }
    });
    const events = await client.poll({ dont_block: false }, realm.container(undefined, time));
    expect(said(events)).toEqual(['number 3']);
  });

  it('costs half a read unit for each probe while nothing happens', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member);
    const container = realm.container(undefined, timeOf(by));
    await client.poll({}, container);
    container.meter.reset();
    await client.poll({ dont_block: false }, container);
    const looks = container.meter.calls.filter(({ action }) => action === 'Query');
    expect(looks.filter(({ readUnits }) => readUnits > 0.5).length).toBeLessThan(8);
    expect(container.meter.readUnits).toBeLessThan(100);
    // That it waits is noted once.
    expect(container.meter.writeUnits).toBe(1);
  });

  it('returns no events to an account that is deactivated meanwhile', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member);
    let done = false;
    const time = timeOf(by, async () => {
      if (done) return;
      done = true;
      await givenChangedUser(realm, member, { isActive: false });
      await sendTo(realm, admin, realm.channels.general, 'a secret');
    });
    const reply = await client.ask({ dont_block: false }, realm.container(undefined, time));
    expect(reply.status).toBe(401);
    expect(JSON.stringify(reply.body)).not.toContain('secret');
  });

  it.each<[string, Served, (realm: TestRealm) => Promise<Person>]>([
    ['a person', regenerateOwnKey, async ({ people }) => people.member],
    ['a bot', regenerateBotKey, (realm) => givenBot(realm, realm.people.member)],
  ])('returns no events to %s whose key is replaced meanwhile', async (_, regenerate, given) => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const caller = await given(realm);
    const client = await givenClient(realm, caller, { all_public_streams: true });
    let done = false;
    const time = timeOf(by, async () => {
      if (done) return;
      done = true;
      const path = { bot_id: caller.userId };
      expect((await realm.call(regenerate, member, {}, caller === member ? {} : { path })).status).toBe(200);
      await sendTo(realm, admin, realm.channels.general, 'a secret');
    });
    const reply = await client.ask({ dont_block: false }, realm.container(undefined, time));
    expect(reply).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
    expect(JSON.stringify(reply.body)).not.toContain('secret');
  });

  it('ends when its queue is deleted and there is an event', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member);
    let done = false;
    const time = timeOf(by, async () => {
      if (done) return;
      done = true;
      await realm.call(deleteQueue, member, { queue_id: client.queueId });
      await sendTo(realm, admin, realm.channels.general, 'too late');
    });
    const reply = await client.ask({ dont_block: false }, realm.container(undefined, time));
    expect(reply).toMatchObject(refusedQueue(client.queueId));
  });

  it('waits for a slow writer, but not for a dead one', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member);
    await allocate(realm.log, 2);
    await sendTo(realm, admin, realm.channels.general, 'behind a hole');
    expect(await client.poll()).toEqual([]);
    const time = timeOf(by);
    const events = await client.poll({ dont_block: false }, realm.container(undefined, time));
    expect(said(events)).toEqual(['behind a hole']);
    expect(time.passed()).toBeLessThan(GRACE + 300);
  });
});
