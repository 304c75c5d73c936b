import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { givenClient, said, sendTo, virtualTime } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { Curtain } from '../support/torn-reads.ts';

/** A channel in which the member is not, with a client of theirs; `half` is how they see what comes next. */
async function scene() {
  const curtain = new Curtain();
  const realm = await newRealm({}, curtain);
  const { admin, member } = realm.people;
  const { channelId, name } = await givenChannel(realm, {}, [admin]);
  const client = await givenClient(realm, member, { event_types: ['message'] });
  curtain.lift();
  const time = virtualTime();
  const half = () => {
    curtain.fall(time.now());
    return realm.container(curtain.reading(time.now), time);
  };
  return { realm, curtain, admin, member, channelId, name, client, time, half };
}

describe('while only a part of a transaction can be seen', () => {
  it('a new subscriber gets every message that was sent after they were subscribed', async () => {
    const { realm, admin, member, channelId, name, client, half } = await scene();
    await realm.call(subscribe, member, { subscriptions: [{ name }] });
    await sendTo(realm, admin, channelId, 'welcome');
    expect(said(await client.poll({}, half()))).toEqual(['welcome']);
  });

  it('a user who left gets no later message', async () => {
    const { realm, curtain, admin, member, channelId, name, client, time, half } = await scene();
    await realm.call(subscribe, member, { subscriptions: [{ name }] });
    curtain.lift();
    await realm.call(unsubscribe, member, { subscriptions: [name] });
    await sendTo(realm, admin, channelId, 'at last we are alone');
    expect(await client.poll({}, half())).toEqual([]);
    expect(time.passed()).toBeGreaterThan(0);
  });

  it('a registration waits, so that its state has everything that its events do not have', async () => {
    const { realm, member, channelId, name, half } = await scene();
    await realm.call(subscribe, member, { subscriptions: [{ name }] });
    const types = { event_types: ['subscription'], include_subscribers: true };
    const { body } = await half().call(register, member, types);
    const joined = body.subscriptions.find(({ stream_id }: { stream_id: number }) => stream_id === channelId);
    expect(joined.subscribers).toContain(member.userId);
  });
});
