import { describe, expect, it } from 'vitest';
import { handler as mute } from '../../functions/topics/mute.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

describe('PATCH /users/me/subscriptions/muted_topics (companion facts 3.7)', () => {
  it('mutes a topic by the ID or the name of its channel, and ends it again', async () => {
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

  it('bad input and channels that the caller cannot read are refused', async () => {
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
