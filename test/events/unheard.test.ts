import { describe, expect, it } from 'vitest';
import { handler as createChannel } from '../../functions/subscriptions/add.ts';
import { handler as createUser } from '../../functions/users/create.ts';
import { isHarmless } from '../../shared/domain/event/listener.ts';
import type { ReadEntry } from '../../shared/log/slot.ts';
import { eventShapes } from '../../shared/openapi/event-shapes.ts';
import { givenClient, said, sendTo, virtualTime } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { watchingSubscriptions } from '../support/told-subscriptions.ts';

/** A poll of the member that waits; each act is done in turn, a second of its time after the other. */
async function pollDuring(realm: TestRealm, acts: readonly (() => Promise<unknown>)[], parameters = {}) {
  const client = await givenClient(realm, realm.people.member, { event_types: ['message'], ...parameters });
  let done = 0;
  const costs: number[] = [];
  const time = virtualTime(async (passed) => {
    if (done >= acts.length || passed < 1_000 * (done + 1)) return;
    costs.push(container.meter.calls.filter(({ action }) => action === 'BatchGet').length);
    await acts[done++]?.();
  });
  const container = realm.container(undefined, time);
  const events = await client.poll({ dont_block: false }, container);
  return { events: said(events), costs };
}

const subscribed = (realm: TestRealm, name: string): Promise<unknown> =>
  realm.call(createChannel, realm.people.member, { subscriptions: [{ name }] });

describe('messages of a channel to which the user is not subscribed', () => {
  it('cost a waiting poll nothing after the first one', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin]);
    const say = () => sendTo(realm, admin, channelId, 'not for the member');
    // A sender begins to follow a topic with its first message: the log has an event about that too.
    await say();
    const { events, costs } = await pollDuring(realm, [say, say, say, say]);
    expect(events).toEqual(['heartbeat']);
    const [none, first, ...others] = costs;
    expect(first).toBe((none ?? 0) + 1);
    expect(new Set(others)).toEqual(new Set([first]));
  });

  it('are delivered from the moment of a subscription on', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId, name } = await givenChannel(realm, {}, [admin]);
    const say = (content: string) => () => sendTo(realm, admin, channelId, content);
    const { events } = await pollDuring(realm, [say('before'), () => subscribed(realm, name), say('after')]);
    expect(events).toEqual(['after']);
  });

  it('are delivered to clients with all_public_streams', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin]);
    const say = () => sendTo(realm, admin, channelId, 'public');
    const { events } = await pollDuring(realm, [say], { all_public_streams: true });
    expect(events).toEqual(['public']);
  });
});

describe('the list of channels that a poll remembers', () => {
  it('stays valid after messages, reactions, submessages, flags, presence and typing events, and after nothing else', () => {
    const harmless = Object.keys(eventShapes)
      .map((name) => name.split('/')[0] as string)
      .filter((type) => isHarmless({ kind: 'event', payload: { type } } as ReadEntry));
    const allowed = ['message', 'reaction', 'submessage', 'update_message_flags', 'presence'];
    allowed.push('typing', 'typing_edit_message');
    expect(harmless.filter((type) => !allowed.includes(type))).toEqual([]);
    expect(isHarmless({ kind: 'message' } as ReadEntry)).toBe(true);
  });

  it('becomes invalid with every subscription, since the transaction logs an entry that readers wait for', async () => {
    const silent: unknown[] = [];
    let told = 0;
    const realm = await newRealm();
    const watched = realm.container(
      watchingSubscriptions(
        (items) => silent.push(items),
        () => (told += 1),
      ),
    );
    const { admin, owner, member } = realm.people;
    const { name } = await givenChannel(realm, {}, [admin]);
    const add = (as: typeof admin, channel: string, others: readonly number[] = []) =>
      watched.call(createChannel, as, {
        subscriptions: [{ name: channel }],
        ...(others.length > 0 && { principals: others }),
      });
    for (const reply of [
      await add(member, name),
      await add(admin, 'a new one'),
      await add(admin, 'a new one', [owner.userId, member.userId]),
      await watched.call(createUser, owner, { email: 'new@example.com', full_name: 'New' }),
    ]) {
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    }
    expect(silent).toEqual([]);
    expect(told).toBeGreaterThanOrEqual(4);
  });
});
