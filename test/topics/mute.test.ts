import { describe, expect, it } from 'vitest';
import { handler as leave } from '../../functions/subscriptions/remove.ts';
import { handler as mute } from '../../functions/topics/mute.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

describe('PATCH /users/me/subscriptions/muted_topics (companion facts 3.7)', () => {
  it('mutes and unmutes a topic by the ID or the name of its channel', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const client = await givenClient(realm, member, { fetch_event_types: ['user_topic'] });
    for (const given of [
      { stream_id: general, op: 'add' },
      { stream: ' GENERAL ', op: 'add' },
      { stream: 'general', op: 'remove' },
      { stream_id: general, op: 'remove' },
    ])
      expect((await realm.call(mute, member, { topic: 'tea', ...given })).status).toBe(200);
    const events = await client.poll();
    const policies = events.filter(({ type }) => type === 'user_topic');
    expect(policies.map((event) => event.visibility_policy)).toEqual([1, 0]);
  });

  it('sends a client that requested only muted topics the whole list of them', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const { general } = realm.channels;
    const secret = await givenChannel(realm, { isPrivate: true, name: 'secret' }, [member, owner]);
    const event_types = ['muted_topics'];
    const older = await givenClient(realm, member, { event_types, client_capabilities: {} });
    const newer = await givenClient(realm, member, { event_types: ['muted_topics', 'user_topic'] });
    const set = async (topic: string, op: string, stream_id = general) =>
      expect((await realm.call(mute, member, { topic, op, stream_id })).status).toBe(200);
    await set('Tea', 'add');
    await set('', 'add', secret.channelId);
    const lists = async () => (await older.poll()).map(({ muted_topics }) => muted_topics);
    const tea = ['general', 'Tea', expect.any(Number)];
    expect((await lists()).at(-1)?.toSorted()).toEqual([tea, ['secret', 'general chat', expect.any(Number)]]);
    await set('tea', 'remove');
    expect((await realm.call(leave, member, { subscriptions: ['secret'] })).status).toBe(200);
    expect(await lists()).toEqual([[]]);
    expect((await newer.poll()).map(({ type }) => type)).toEqual(['user_topic', 'user_topic', 'user_topic']);
  });

  it('refuses bad input and channels that the caller cannot read', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const { general } = realm.channels;
    const closed = await givenChannel(realm, { isPrivate: true }, [owner]);
    for (const [given, fields] of [
      [{ op: 'add' }, {}],
      [{ op: 'add', stream_id: general, stream: 'general' }, { parameters: 'stream_id, stream' }],
      [{ op: 'toggle', stream_id: general }, {}],
      [{ op: 'add', stream_id: general, topic: 'x'.repeat(61) }, {}],
      [{ op: 'add', stream_id: closed.channelId }, {}],
      [{ op: 'remove', stream_id: 999_999 }, {}],
      [{ op: 'add', stream: 'nowhere' }, {}],
      [{ op: 'add', stream_id: 0 }, {}],
    ] as const) {
      const { status, body } = await realm.call(mute, member, { topic: 'tea', ...given });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body).toMatchObject(fields);
    }
  });
});
