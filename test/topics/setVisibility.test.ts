import { describe, expect, it } from 'vitest';
import { handler as set } from '../../functions/topics/setVisibility.ts';
import { loadTopicPolicies } from '../../shared/model/message/user-topic.ts';
import { givenChannel, givenUserTopic } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber, storedUserTopic } from '../support/stored.ts';
import { told } from '../support/subscription-state.ts';

const ask = (
  realm: TestRealm,
  as: Person,
  stream_id: number,
  topic: string,
  visibility_policy: number,
): Promise<Reply> => realm.call(set, as, { stream_id, topic, visibility_policy });

describe('POST /user_topics', () => {
  it('sets a policy and tells the clients of the user', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const before = await lastNumber(realm);
    expect((await ask(realm, member, general, ' Tea ', 3)).body).toEqual({ result: 'success', msg: '' });
    expect(await storedUserTopic(realm, member, general, 'TEA')).toMatchObject({ topic: 'Tea', policy: 3 });
    const [event, ...others] = await told(realm, before);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      hearers: { users: [member.userId] },
      payload: {
        type: 'user_topic',
        stream_id: general,
        topic_name: 'Tea',
        visibility_policy: 3,
        last_updated: Math.floor(realm.outside.now() / 1000),
      },
    });
  });

  it('sends no event if nothing changes', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    await ask(realm, member, general, 'tea', 1);
    const before = await lastNumber(realm);
    expect((await ask(realm, member, general, 'TEA', 1)).status).toBe(200);
    expect((await ask(realm, member, general, 'cake', 0)).status).toBe(200);
    expect(await told(realm, before)).toEqual([]);
    await ask(realm, member, general, 'tea', 2);
    await ask(realm, member, general, 'tea', 0);
    expect((await told(realm, before)).map(({ payload }) => payload.visibility_policy)).toEqual([2, 0]);
    expect((await storedUserTopic(realm, member, general, 'tea'))?.policy ?? 0).toBe(0);
    const place = { channelId: general, topic: 'tea' };
    expect(await loadTopicPolicies(realm.outside.table, realm.realm, place)).toEqual([]);
  });

  it('reads both names of the empty topic as the empty one', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    await ask(realm, member, general, 'general chat', 2);
    expect(await storedUserTopic(realm, member, general, '')).toMatchObject({ policy: 2, topic: '' });
    await ask(realm, member, general, '(no topic)', 1);
    expect(await storedUserTopic(realm, member, general, '')).toMatchObject({ policy: 1 });
  });

  it('requires access to the channel, except to remove a policy', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true });
    const missing = await ask(realm, admin, 999_999, 'tea', 1);
    expect(missing).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect(await ask(realm, admin, channelId, 'tea', 1)).toEqual(missing);
    expect(await ask(realm, admin, channelId, 'tea', 0)).toEqual(missing);
    expect(await ask(realm, admin, 0, 'tea', 0)).toEqual(missing);
    await givenUserTopic(realm, member, channelId, 'tea', 1);
    expect(await ask(realm, member, channelId, 'tea', 3)).toEqual(missing);
    expect((await ask(realm, member, channelId, 'tea', 0)).status).toBe(200);
    expect(await ask(realm, member, channelId, 'tea', 0)).toEqual(missing);
  });

  it('refuses bad input', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const before = await lastNumber(realm);
    const good = { stream_id: realm.channels.general, topic: 'tea', visibility_policy: 1 };
    for (const bad of [
      { visibility_policy: 4 },
      { visibility_policy: -1 },
      { visibility_policy: 'muted' },
      { visibility_policy: true },
      { topic: 't'.repeat(61) },
      { topic: 'bell\u0007' },
      { stream_id: 'general' },
      { stream_id: 1.5 },
    ]) {
      expect(await realm.call(set, member, { ...good, ...bad }), JSON.stringify(bad)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST' },
      });
    }
    const { topic, ...rest } = good;
    expect(await realm.call(set, member, rest)).toMatchObject({ body: { var_name: 'topic' } });
    expect(await told(realm, before)).toEqual([]);
  });

  it('keeps store and log consistent if two clients of a user set a policy at once', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const before = await lastNumber(realm);
    const policies = [1, 2, 3, 1, 2, 3];
    const replies = await Promise.all(
      policies.map((policy) => ask(realm.container(), member, general, 'tea', policy)),
    );
    for (const { status } of replies) expect(status).toBe(200);
    const stored = await storedUserTopic(realm, member, general, 'tea');
    expect((await told(realm, before)).at(-1)?.payload.visibility_policy).toBe(stored?.policy);
  });
});
