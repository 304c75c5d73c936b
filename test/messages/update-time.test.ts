import { describe, expect, it } from 'vitest';
import { sendTo } from '../support/event-queue.ts';
import { givenChannel, givenSubscription, givenUser } from '../support/given.ts';
import { move, refused, success } from '../support/message-update.ts';
import { givenMessages } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, storedMessage } from '../support/stored.ts';

const say = (realm: TestRealm, as: Person, to: number, topic: string): Promise<number> =>
  sendTo(realm, as, to, 'x', { topic });

const DAY = 86_400_000;
const all = { propagate_mode: 'change_all' };

/** The refusal that offers to move the newest messages only. */
const onlyNewest = (first: number, allowed: number, total: number) => ({
  status: 400,
  body: {
    code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    first_message_id_allowed_to_move: first,
    total_messages_allowed_to_move: allowed,
    total_messages_in_topic: total,
  },
});

describe('MOVE_MESSAGES_TIME_LIMIT_EXCEEDED (specification 4.2: who may move messages)', () => {
  it('says how many messages of the topic are within the limit, and moves none', async () => {
    const realm = await newRealm({ move_messages_within_stream_limit_seconds: 7 * 86_400 });
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const old: number[] = [];
    for (let i = 0; i < 3; i++) old.push(await say(realm, admin, general, 'tea'));
    realm.pass(8 * DAY);
    const young: number[] = [];
    for (let i = 0; i < 2; i++) young.push(await say(realm, admin, general, 'tea'));
    await say(realm, admin, general, 'pie');
    const asked = young[1] as number;
    const reply = await move(realm, member, asked, { topic: 'cake', ...all });
    expect(reply).toMatchObject(onlyNewest(young[0] as number, 2, 5));
    for (const id of [...old, ...young]) expect((await storedMessage(realm, id)).topic).toBe('tea');
    expect(await move(realm, member, old[2] as number, { topic: 'cake', ...all })).toMatchObject(refused);
    const first = reply.body.first_message_id_allowed_to_move;
    const later = { topic: 'cake', propagate_mode: 'change_later' };
    expect(await move(realm, member, first, later)).toMatchObject(success);
    for (const id of young) expect((await storedMessage(realm, id)).topic).toBe('cake');
    expect(await move(realm, member, asked, { topic: 'pie', ...all })).toMatchObject(success);
  });

  it('applies the stricter of both limits if the channel changes too, and none to moderators and resolving', async () => {
    const realm = await newRealm({
      move_messages_within_stream_limit_seconds: 30 * 86_400,
      move_messages_between_streams_limit_seconds: 86_400,
    });
    const { member, moderator } = realm.people;
    const { general, random } = realm.channels;
    for (const channelId of [general, random])
      await givenSubscription(realm, await givenUser(realm), channelId);
    const old = await say(realm, member, general, 'tea');
    realm.pass(2 * DAY);
    const young = await say(realm, member, general, 'tea');
    const toRandom = { stream_id: random, ...all };
    for (const change of [toRandom, { ...toRandom, topic: 'cake' }])
      expect(await move(realm, member, young, change)).toMatchObject(onlyNewest(young, 1, 2));
    expect(await move(realm, member, young, { topic: 'cake', ...all })).toMatchObject(success);
    realm.pass(60 * DAY);
    expect(await move(realm, member, old, { topic: '✔ cake', ...all })).toMatchObject(success);
    expect(await move(realm, moderator, old, { stream_id: random, topic: 'pie', ...all })).toMatchObject(
      success,
    );
  });

  it('counts only what the mover can read', async () => {
    const realm = await newRealm({ move_messages_within_stream_limit_seconds: 86_400 });
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true, historyPublicToSubscribers: false }, [
      admin,
    ]);
    for (let i = 0; i < 6; i++) await say(realm, admin, channelId, 'tea');
    await givenSubscription(realm, member, channelId, { since: await lastNumber(realm) });
    const readable = await say(realm, admin, channelId, 'tea');
    realm.pass(2 * DAY);
    const young = await say(realm, admin, channelId, 'tea');
    expect(await move(realm, member, young, { topic: 'cake', ...all })).toMatchObject(
      onlyNewest(young, 1, 2),
    );
    expect(await move(realm, member, young, { topic: 'cake' })).toMatchObject(success);
    expect((await storedMessage(realm, readable)).topic).toBe('tea');
    const newcomer = await givenUser(realm);
    await givenSubscription(realm, newcomer, channelId, { since: await lastNumber(realm) });
    const theirs = await say(realm, admin, channelId, 'tea');
    expect(await move(realm, newcomer, theirs, { topic: 'cake', ...all })).toMatchObject(success);
    expect((await storedMessage(realm, readable)).topic).toBe('tea');
  });

  it('finds the first message within the limit in a topic of many pages without reading all messages', async () => {
    const realm = await newRealm({ move_messages_within_stream_limit_seconds: 86_400 });
    const { member } = realm.people;
    const { general } = realm.channels;
    const first = await say(realm, member, general, 'tea');
    const before = await givenMessages(realm, member, general, () => 'tea', 700);
    realm.pass(2 * DAY);
    const after = await givenMessages(realm, member, general, () => 'tea', 300);
    expect(first).toBeLessThan(before[0] as number);
    const container = realm.container();
    const asked = after[150] as number;
    const reply = await move(container, member, asked, { topic: 'cake', ...all });
    expect(reply).toMatchObject(onlyNewest(after[0] as number, 300, 1001));
    expect(container.meter.calls.length).toBeLessThan(40);
  });
});
