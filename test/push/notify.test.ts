import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as markAll } from '../../functions/messages/markAllAsRead.ts';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as mute } from '../../functions/users/mute.ts';
import { handler as sweep } from '../../functions/workers/push-sweep.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import { sendTo } from '../support/event-queue.ts';
import {
  givenBot,
  givenChannel,
  givenGroup,
  givenMutedChannel,
  givenRealmSettings,
  givenSettings,
  givenUser,
  givenUserTopic,
} from '../support/given.ts';
import {
  activePhone,
  elsewhere,
  nudged,
  type Phone,
  type PushRealm,
  pushRealm,
  worked,
} from '../support/phone.ts';
import { here } from '../support/presence-ping.ts';
import { type FakeRelay, startRelay } from '../support/push-relay.ts';
import { newRealm, type Person } from '../support/realm.ts';
import { runSchedule } from '../support/worker-run.ts';

let relay: FakeRelay;
let realm: PushRealm;
let member: Person;
let admin: Person;
let phone: Phone;
beforeEach(async () => {
  relay = await startRelay();
  realm = await pushRealm(relay);
  ({ member, admin } = realm.people);
  phone = await activePhone(realm, member);
});
afterEach(() => relay.stop());

/** What reached the telephone since the last look, as it reads it. */
async function shown(at = phone) {
  await worked(realm);
  const requests = relay.sent().flat();
  relay.asked.length = 0;
  return requests.filter(({ token_id }) => token_id === at.tokenId).map((request) => at.read(request));
}

const contentsAt = async (at = phone): Promise<string[]> => (await shown(at)).map(({ content }) => content);

describe('notifications of a message', () => {
  test('a message of a muted user shows none, and muting takes away those that are shown (companion facts 3.2)', async () => {
    const id = await sendTo(realm, admin, [member.userId], 'Before');
    expect(await contentsAt()).toEqual(['Before']);
    const path = { muted_user_id: admin.userId };
    expect((await realm.call(mute, member, {}, { path })).status).toBe(200);
    expect(await shown()).toMatchObject([{ type: 'remove', message_ids: [id] }]);
    await sendTo(realm, admin, [member.userId], 'After');
    expect(await shown()).toEqual([]);
  });

  test('a direct message goes to all devices of all recipients in one request (wire facts 12.4)', async () => {
    const apple = await activePhone(realm, member, 'apns');
    const others = await activePhone(realm, realm.people.moderator);
    const senders = await activePhone(realm, admin);
    relay.asked.length = 0;
    const id = await sendTo(
      realm,
      admin,
      [member.userId, realm.people.moderator.userId],
      '**Lunch** &amp; more?',
    );
    await worked(realm);
    expect(relay.asked).toHaveLength(1);
    const [requests = []] = relay.sent();
    const of = ({ tokenId }: Phone) => requests.find(({ token_id }) => token_id === tokenId);
    expect(requests).toHaveLength(3);
    expect(apple.read(of(apple))).toEqual(phone.read(of(phone)));
    expect(of(senders)).toBeUndefined();
    expect(phone.read(of(phone))).toEqual({
      type: 'message',
      realm_url: `http://${realm.host}`,
      realm_name: 'Test',
      user_id: member.userId,
      message_id: id,
      time: expect.any(Number),
      sender_id: admin.userId,
      sender_full_name: expect.any(String),
      sender_avatar_url: expect.stringMatching(/^https:/),
      recipient_type: 'direct',
      recipient_user_ids: [admin, realm.people.moderator, member]
        .map(({ userId }) => userId)
        .sort((a, b) => a - b),
      content: 'Lunch & more?',
    });
    expect(others.read(of(others)).user_id).toBe(realm.people.moderator.userId);
  });

  test('a channel message notifies the users it mentions by name, and no others', async () => {
    const { general } = realm.channels;
    await sendTo(realm, admin, general, 'Hello all');
    const id = await sendTo(realm, admin, general, `Hello @**${await nameOf(member)}**`);
    expect(await shown()).toMatchObject([
      {
        message_id: id,
        recipient_type: 'channel',
        channel_id: general,
        channel_name: 'general',
        topic: 'hi',
        content: `Hello @${await nameOf(member)}`,
      },
    ]);
  });

  test('a mention of a named group or of a role notifies its members, with the name of the group', async () => {
    const group = await givenGroup(realm, { members: [member] });
    await sendTo(realm, admin, realm.channels.general, `@*${group.name}*`);
    expect(await shown()).toMatchObject([
      { mentioned_user_group_id: group.groupId, mentioned_user_group_name: group.name },
    ]);
    const other = await givenGroup(realm, { members: [admin] });
    await sendTo(realm, admin, realm.channels.general, `@*${other.name}*`);
    expect(await shown()).toEqual([]);
  });

  test('a message in a followed topic notifies its followers if their settings say so', async () => {
    const { general } = realm.channels;
    await givenUserTopic(realm, member, general, 'hi', 3);
    await sendTo(realm, admin, general, 'one');
    await sendTo(realm, admin, general, 'elsewhere', { topic: 'ho' });
    expect(await contentsAt()).toEqual(['one']);
    await givenSettings(realm, member, { enable_followed_topic_push_notifications: false });
    await sendTo(realm, admin, general, 'two');
    expect(await contentsAt()).toEqual([]);
  });

  test('a wildcard mention notifies users who have not muted the channel or topic, or wildcards', async () => {
    const { general } = realm.channels;
    await sendTo(realm, admin, general, '@**all** one');
    expect(await contentsAt()).toEqual(['@all one']);
    await sendTo(realm, admin, general, '@**topic** two');
    expect(await contentsAt()).toEqual([]);
    await sendTo(realm, member, general, 'I am here');
    await sendTo(realm, admin, general, '@**topic** three');
    expect(await contentsAt()).toEqual(['@topic three']);
    await givenUserTopic(realm, member, general, 'hi', 1);
    await sendTo(realm, admin, general, '@**all** four');
    expect(await contentsAt()).toEqual([]);
    await givenSettings(realm, member, { wildcard_mentions_notify: false });
    await sendTo(realm, admin, general, '@**all** five', { topic: 'other' });
    expect(await contentsAt()).toEqual([]);
    await givenUserTopic(realm, member, general, 'other', 3);
    await sendTo(realm, admin, general, '@**all** six', { topic: 'other' });
    expect(await contentsAt()).toEqual(['@all six']);
  });

  test('a mention by name notifies even in a muted channel or topic, a wildcard there only in an unmuted topic', async () => {
    const { channelId } = await givenChannel(realm, {}, [admin, member]);
    await givenMutedChannel(realm, member, channelId);
    await givenSettings(realm, member, alone);
    await sendTo(realm, admin, channelId, `@**${await nameOf(member)}** one`);
    await sendTo(realm, admin, channelId, '@**all** two');
    await givenUserTopic(realm, member, channelId, 'mine', 2);
    await sendTo(realm, admin, channelId, '@**all** three', { topic: 'mine' });
    expect(await contentsAt()).toEqual([`@${await nameOf(member)} one`, '@all three']);
  });

  test('a user who turned off notifications of direct messages and mentions gets none', async () => {
    await givenSettings(realm, member, { ...alone, enable_offline_push_notifications: false });
    await sendTo(realm, admin, [member.userId], 'one');
    await sendTo(realm, admin, realm.channels.general, `@**${await nameOf(member)}** two`);
    expect(await shown()).toEqual([]);
  });

  test('a mention in a channel without the user does not notify them', async () => {
    const { channelId } = await givenChannel(realm, {}, [admin]);
    await sendTo(realm, admin, channelId, `@**${await nameOf(member)}** one`);
    expect(await shown()).toEqual([]);
  });

  test('senders are not notified of their own messages, and bots are never notified', async () => {
    await sendTo(realm, member, [member.userId], 'a note');
    const bot = await givenBot(realm, member);
    await sendTo(realm, admin, [bot.userId], 'for the bot');
    expect(await shown()).toEqual([]);
  });

  test('a user who is online gets notifications only if their settings say so', async () => {
    await here(realm, member);
    await sendTo(realm, admin, [member.userId], 'one');
    expect(await contentsAt()).toEqual([]);
    await givenSettings(realm, member, { enable_online_push_notifications: true });
    await sendTo(realm, admin, [member.userId], 'two');
    expect(await contentsAt()).toEqual(['two']);
    await givenSettings(realm, member, {});
    realm.pass(210_000);
    await here(realm, member, { status: 'idle' });
    await sendTo(realm, admin, [member.userId], 'three');
    expect(await contentsAt()).toEqual(['three']);
  });

  test('a message that is read, deleted or old gives no notification', async () => {
    const id = await sendTo(realm, admin, [member.userId], 'one');
    await realm.call(updateFlags, member, { messages: [id], op: 'add', flag: 'read' });
    const gone = await sendTo(realm, admin, [member.userId], 'two');
    await realm.call(deleteMessage, admin, {}, { path: { message_id: gone } });
    expect(await shown()).toEqual([]);
    await sendTo(realm, admin, [member.userId], 'three');
    realm.pass(31 * 60_000);
    expect(await shown()).toEqual([]);
  });

  test('a deactivated user gets no notification', async () => {
    await sendTo(realm, admin, [member.userId], 'one');
    await realm.call(deactivate, realm.people.owner, {}, { path: { user: member.userId } });
    expect(await shown()).toEqual([]);
  });

  test('a recipient who may not see the sender gets an anonymous name', async () => {
    await givenRealmSettings(realm, { can_access_all_users_group: systemGroups.members.id });
    const stranger = await givenUser(realm);
    const { guest } = realm.people;
    const guests = await activePhone(realm, guest);
    const { channelId } = await givenChannel(realm, {}, [guest]);
    await givenUserTopic(realm, guest, channelId, 'hi', 3);
    relay.asked.length = 0;
    await sendTo(realm, stranger, channelId, 'psst');
    expect(await shown(guests)).toMatchObject([{ sender_full_name: 'Unknown user', content: 'psst' }]);
  });

  test('a notification shows at most 200 characters and no spoilers', async () => {
    await sendTo(realm, admin, [member.userId], 'x'.repeat(201));
    await sendTo(
      realm,
      admin,
      [member.userId],
      'See:\n\n```spoiler The end\n**He** did it\n\n> and she\n```\n\n* one\n* `<b>` 🍰',
    );
    expect(await contentsAt()).toEqual([`${'x'.repeat(200)}…`, 'See:\nThe end\n(…)\none\n<b> :cake:']);
  });
});

describe('when a user has read a message with a notification', () => {
  const read = (messages: readonly number[]) =>
    realm.call(updateFlags, member, { messages, op: 'add', flag: 'read' });

  test('its notification is removed from all their devices, silently and once (wire facts 12.3, 12.4)', async () => {
    const apple = await activePhone(realm, member, 'apns');
    const [one, two, three] = [
      await sendTo(realm, admin, [member.userId], 'one'),
      await sendTo(realm, admin, [member.userId], 'two'),
      await sendTo(realm, admin, realm.channels.general, 'three'),
    ];
    await shown();
    await read([one, three]);
    await read([two]);
    await worked(realm);
    const requests = relay.sent().flat();
    const notices = requests.filter(({ token_id }) => token_id === phone.tokenId);
    expect(notices.flatMap((request) => phone.read(request).message_ids)).toEqual([one, two]);
    expect(phone.read(notices[0])).toMatchObject({ type: 'remove', user_id: member.userId });
    expect(notices[0]).toMatchObject({ fcm_priority: 'normal' });
    expect(requests.find(({ token_id }) => token_id === apple.tokenId)).toMatchObject({
      http_headers: { apns_priority: 5, apns_push_type: 'background' },
      payload: { aps: { 'content-available': 1 } },
    });
    relay.asked.length = 0;
    await realm.call(updateFlags, member, { messages: [one], op: 'remove', flag: 'read' });
    await read([one]);
    expect(await shown()).toEqual([]);
  });

  test('all notifications are removed when they mark everything as read (companion facts 1.12)', async () => {
    const ids = [
      await sendTo(realm, admin, [member.userId], 'one'),
      await sendTo(realm, admin, [member.userId], 'two'),
    ];
    await shown();
    await realm.call(markAll, member);
    await worked(realm);
    const notices = relay
      .sent()
      .flat()
      .filter(({ token_id }) => token_id === phone.tokenId);
    expect(notices.flatMap((request) => phone.read(request).message_ids)).toEqual(ids);
  });

  test('messages without a notification cause no removal', async () => {
    const id = await sendTo(realm, admin, realm.channels.general, 'three');
    await read([id]);
    expect(await shown()).toEqual([]);
  });
});

describe('the cost of notifications', () => {
  test('without devices, a send costs no queue message, round trip or write unit for notifications', async () => {
    const [bare, full] = [await newRealm(), realm];
    const costs = [];
    for (const at of [bare, full]) {
      const container = at === full ? elsewhere(full) : at.container();
      const { admin: sender, member: other } = at.people;
      await sendTo(container, sender, [other.userId], 'warm');
      container.meter.reset();
      await sendTo(container, sender, [other.userId], 'one');
      costs.push([container.meter.roundTrips, container.meter.writeUnits]);
      expect(container.reports).toEqual([]);
    }
    expect(costs[0]).toEqual(costs[1]);
    // With a device the worker was woken; without one there is not even a queue.
    expect((await realm.work.receive()).length).toBeGreaterThan(0);
  });

  test('a send waits at most a second for a queue that does not answer, and the sweep repairs it', async () => {
    const cut = elsewhere(realm, undefined, {
      environment: { ...realm.outside.environment, AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9' },
    });
    await sendTo(cut, admin, [member.userId], 'one');
    expect(await contentsAt()).toEqual([]);
    await runSchedule(realm.container(), sweep);
    expect(await contentsAt()).toEqual(['one']);
  });

  test('the sweep drops organizations without devices and jobs from its list', async () => {
    const at = key('pushRealm', { realm: realm.realm });
    await runSchedule(realm.container(), sweep);
    expect(await realm.outside.table.get(at)).toBeDefined();
    await realm.outside.table.transact(
      [{ delete: key('pushFollower', { realm: realm.realm }) }],
      realm.outside.uuid(),
    );
    await runSchedule(realm.container(), sweep);
    expect(await realm.outside.table.get(at)).toBeUndefined();
  });

  test('a follower that is far behind catches up in steps, without repeating a notification', async () => {
    const { general } = realm.channels;
    const ids: number[] = [];
    for (let i = 0; i < 30; i++)
      ids.push(await sendTo(realm, admin, i % 3 === 0 ? [member.userId] : general, `${i}`));
    await Promise.all([nudged(realm), nudged(elsewhere(realm)), nudged(elsewhere(realm))]);
    const notices = await shown();
    expect(notices.map(({ message_id }) => message_id).sort((a, b) => a - b)).toEqual(
      ids.filter((_, i) => i % 3 === 0),
    );
  });
});

/** The settings of a user who does not follow topics automatically. */
const alone = { automatically_follow_topics_where_mentioned: false };

/** How a user is mentioned. */
const nameOf = async ({ userId }: Person): Promise<string> => {
  const user = await realm.outside.table.get('user', { realm: realm.realm, userId });
  return user?.fullName ?? '';
};
