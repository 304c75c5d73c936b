import { describe, expect, it } from 'vitest';
import { handler as deleteTopic } from '../../functions/topics/delete.ts';
import { handler as listTopics } from '../../functions/topics/list.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { meanwhile, mishaps, unheard } from '../support/faults.ts';
import { givenChannel, givenSubscription, givenUserTopic } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter, storedUserTopic } from '../support/stored.ts';

const deleted = (realm: Pick<TestRealm, 'call'>, as: Person, stream_id: number, topic_name: string) =>
  realm.call(deleteTopic, as, { topic_name }, { path: { stream_id } });

const topicsOf = async (realm: TestRealm, as: Person, stream_id: number): Promise<string[]> => {
  const reply: Reply = await realm.call(listTopics, as, {}, { path: { stream_id } });
  return reply.body.topics.map(({ name }: { name: string }) => name);
};

async function said(realm: TestRealm, topic: string, count: number): Promise<number[]> {
  const ids: number[] = [];
  const { member } = realm.people;
  for (let i = 0; i < count; i++) {
    ids.push(await sendTo(realm, member, realm.channels.general, `${i}`, { topic }));
  }
  return ids;
}

const deletionsAfter = async (realm: TestRealm, before: number): Promise<number> =>
  (await loggedAfter(realm, before)).filter(
    (each) => each.kind === 'event' && each.payload.type === 'delete_message',
  ).length;

const complete = { status: 200, body: { complete: true } };

describe('POST /streams/{stream_id}/delete_topic (companion facts 4.5)', () => {
  it('deletes all messages and policies of the topic, in any spelling, and changes nothing the second time', async () => {
    const realm = await newRealm();
    const { owner, member, guest } = realm.people;
    const { general } = realm.channels;
    const ids = [...(await said(realm, 'Over', 2)), ...(await said(realm, 'over', 1))];
    const other = await said(realm, 'other', 1);
    for (const person of [member, guest]) await givenUserTopic(realm, person, general, 'over', 3);
    const event_types = ['delete_message', 'user_topic'];
    const client = await givenClient(realm, guest, {
      event_types,
      client_capabilities: { bulk_message_deletion: true },
    });
    expect(await deleted(realm, owner, general, 'OVER')).toMatchObject(complete);
    const events = await client.poll();
    const deletions = events.filter(({ type }) => type === 'delete_message').map((each) => each.message_ids);
    expect(deletions.flat().toSorted((a, b) => a - b)).toEqual(ids);
    for (const each of deletions) expect(each).toEqual(each.toSorted((a: number, b: number) => a - b));
    expect(events.at(-1)).toMatchObject({ type: 'user_topic', topic_name: 'OVER', visibility_policy: 0 });
    expect(await topicsOf(realm, owner, general)).toEqual(['other']);
    expect(other).toHaveLength(1);
    for (const person of [member, guest]) {
      expect(await storedUserTopic(realm, person, general, 'over')).toMatchObject({ policy: 0 });
    }
    const before = await lastNumber(realm);
    expect(await deleted(realm, owner, general, 'over')).toMatchObject(complete);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it('leaves messages that the caller cannot read', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const channel = { isPrivate: true, historyPublicToSubscribers: false };
    const { channelId } = await givenChannel(realm, channel, [owner]);
    await sendTo(realm, owner, channelId, 'early', { topic: 'over' });
    await givenSubscription(realm, admin, channelId);
    await sendTo(realm, owner, channelId, 'late', { topic: 'over' });
    const before = await lastNumber(realm);
    expect(await deleted(realm, admin, channelId, 'over')).toMatchObject(complete);
    expect(await deletionsAfter(realm, before)).toBe(1);
    expect(await topicsOf(realm, owner, channelId)).toEqual(['over']);
  });

  it('is allowed to administrators who can read the channel, unless it is archived', async () => {
    const realm = await newRealm();
    const { owner, admin, moderator } = realm.people;
    const { general } = realm.channels;
    const hidden = await givenChannel(realm, { isPrivate: true }, [owner]);
    const archived = await givenChannel(realm, { isArchived: true }, [admin]);
    const before = await lastNumber(realm);
    for (const [as, channelId, code] of [
      [moderator, general, 'UNAUTHORIZED_PRINCIPAL'],
      [admin, hidden.channelId, 'BAD_REQUEST'],
      [admin, archived.channelId, 'BAD_REQUEST'],
      [admin, 999_999, 'BAD_REQUEST'],
    ] as const) {
      const { status, body } = await deleted(realm, as, channelId, 'over');
      expect([status, body.code]).toEqual([400, code]);
    }
    const long = await deleted(realm, owner, general, 'x'.repeat(61));
    expect([long.status, long.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it('stops when its time is over, and the next request continues', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { general } = realm.channels;
    await said(realm, 'over', 34);
    const before = await lastNumber(realm);
    const late = async (send: () => Promise<unknown>) => {
      const sent = await send();
      realm.pass(30_000);
      return sent;
    };
    const slow = realm.container(mishaps({ transact: [late] }));
    expect((await deleted(slow, owner, general, 'over')).body.complete).toBe(false);
    const first = (await loggedAfter(realm, before)).length;
    expect(first).toBeGreaterThan(0);
    expect(await topicsOf(realm, owner, general)).toEqual(['over']);
    expect(await deleted(realm, owner, general, 'over')).toMatchObject(complete);
    expect(await topicsOf(realm, owner, general)).toEqual([]);
  });

  it('deletes each message once, even with concurrent sends and a lost reply', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { general } = realm.channels;
    await said(realm, 'over', 2);
    const slow = realm.container(meanwhile(() => said(realm, 'over', 1)));
    expect(await deleted(slow, owner, general, 'over')).toMatchObject(complete);
    await said(realm, 'over', 1);
    const before = await lastNumber(realm);
    const deaf = realm.container(mishaps({ transact: [unheard] }));
    expect(await deleted(deaf, owner, general, 'over')).toMatchObject(complete);
    expect(await deletionsAfter(realm, before)).toBe(1);
    expect(await topicsOf(realm, owner, general)).toEqual([]);
  });
});
