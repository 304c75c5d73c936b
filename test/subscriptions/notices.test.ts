import { describe, expect, it } from 'vitest';
import { handler as add } from '../../functions/subscriptions/add.ts';
import type { ReadMessage } from '../../shared/log/slot.ts';
import { givenClient } from '../support/event-queue.ts';
import {
  givenBot,
  givenChangedChannel,
  givenChannel,
  givenRealmSettings,
  givenUser,
} from '../support/given.ts';
import { entriesIn } from '../support/log-entries.ts';
import { workedOff } from '../support/outbox.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { subscribersOf } from '../support/subscription-state.ts';

const subscribe = (
  realm: TestRealm,
  as: Person,
  names: readonly string[],
  people: readonly Person[],
  more: object = {},
): Promise<Reply> =>
  realm.call(add, as, {
    subscriptions: names.map((name) => ({ name })),
    principals: people.map(({ userId }) => userId),
    ...more,
  });

/** What the service said, after its worker did what is left to it: to whom, or where, and the text. */
async function notices(realm: TestRealm): Promise<{ to: unknown; content: string }[]> {
  await workedOff(realm);
  return said(realm);
}

/** The same for messages that were sent already. */
async function said({ log }: TestRealm): Promise<{ to: unknown; content: string }[]> {
  const messages = (await entriesIn(log)).filter((entry): entry is ReadMessage => entry.kind === 'message');
  return messages
    .filter(({ client }) => client === 'Internal')
    .map(({ people, channelId, topic, content }) => ({ to: people ?? [channelId, topic], content }));
}

const sentTrue = { status: 200, body: { new_subscription_messages_sent: true } };

describe('direct messages to users who were subscribed by others (wire facts 2: max_bulk_new_subscription_messages)', () => {
  it('name the caller and all the channels, and come from the notice bot', async () => {
    const realm = await newRealm();
    const { admin, member, moderator } = realm.people;
    const [tea, cake] = [
      await givenChannel(realm, { name: 'tea' }),
      await givenChannel(realm, { name: 'cake' }),
    ];
    await givenChannel(realm, { name: 'pie' }, [moderator]);
    const client = await givenClient(realm, member, { event_types: ['message'] });
    const reply = await subscribe(realm, admin, ['tea', 'cake', 'pie'], [member, moderator, admin]);
    expect(reply).toMatchObject(sentTrue);
    await workedOff(realm);
    const [first, ...others] = await client.poll();
    expect(others).toEqual([]);
    expect(first.message).toMatchObject({ type: 'private', sender_full_name: 'Notification Bot' });
    expect(first.flags).toEqual([]);
    expect(first.message.display_recipient).toHaveLength(2);
    const who = `@_**Adam Admin|${admin.userId}**`;
    expect((await notices(realm)).map(({ content }) => content).toSorted()).toEqual([
      `${who} subscribed you to #**tea**, #**cake**, #**pie**.`,
      `${who} subscribed you to #**tea**, #**cake**.`,
    ]);
    const html = await client.poll().then(() => entriesIn(realm.log));
    const rendered = html.flatMap((entry) => (entry.kind === 'message' ? [entry.rendered] : []));
    for (const { channelId } of [tea, cake])
      expect(rendered.join()).toContain(`data-stream-id="${channelId}"`);
  });

  it('are not sent to the caller, to bots, for new channels, or to users who were already subscribed', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const bot = await givenBot(realm, member);
    await givenChannel(realm, { name: 'tea' }, [member]);
    expect(await subscribe(realm, admin, ['tea'], [admin, bot, member])).toMatchObject(sentTrue);
    expect(await subscribe(realm, admin, ['new'], [member])).toMatchObject(sentTrue);
    expect(await notices(realm)).toEqual([]);
  });

  it('are not sent if the caller says so, or to more than 250 users, as the reply says', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    await givenChannel(realm, { name: 'tea' });
    const quiet = await subscribe(realm, admin, ['tea'], [member], { send_new_subscription_messages: false });
    expect(quiet.body).not.toHaveProperty('new_subscription_messages_sent');
    const crowd: Person[] = [];
    for (let i = 0; i < 251; i += 50) {
      const size = Math.min(50, 251 - i);
      crowd.push(...(await Promise.all(Array.from({ length: size }, () => givenUser(realm)))));
    }
    const { channelId } = await givenChannel(realm, { name: 'cake' });
    const { body } = await subscribe(realm, admin, ['cake'], crowd);
    expect(body.new_subscription_messages_sent).toBe(false);
    expect(Object.keys(body.subscribed)).toHaveLength(251);
    expect(await subscribersOf(realm, channelId)).toHaveLength(251);
    expect(await notices(realm)).toEqual([]);
    await givenChannel(realm, { name: 'pie' });
    const container = realm.container();
    const most = await subscribe(container, admin, ['pie'], crowd.slice(0, 250));
    expect(most).toMatchObject(sentTrue);
    realm.meter.reset();
    expect(await notices(realm)).toHaveLength(250);
    // Twenty in a transaction.
    const transactions = realm.meter.calls.filter(({ action }) => action === 'TransactWrite');
    expect(transactions.length).toBeLessThan(250 / 20 + 5);
  });

  it('are sent once, even if the request or the job is repeated', async () => {
    const realm = await newRealm();
    const { admin, owner, member } = realm.people;
    await givenChannel(realm, { name: 'tea' });
    const replies = await Promise.all(
      [admin, owner, admin].map((as) => subscribe(realm.container(), as, ['tea'], [member])),
    );
    for (const reply of replies) expect(reply).toMatchObject(sentTrue);
    await subscribe(realm, admin, ['tea'], [member]);
    expect(await notices(realm)).toHaveLength(1);
  });

  it('all arrive for several concurrent requests that subscribe one user', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) await givenChannel(realm, { name });
    await Promise.all(names.map((name) => subscribe(realm.container(), admin, [name], [member])));
    expect(await notices(realm)).toHaveLength(4);
  });
});

describe('the announcement of new channels (new_stream_announcements_stream_id)', () => {
  const announcing = async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, { name: 'news' });
    await givenRealmSettings(realm, { new_stream_announcements_stream_id: channelId });
    return { realm, channelId };
  };
  const announce = { announce: true };

  it('goes to the announcement channel if the caller requests it, and names the caller', async () => {
    const { realm, channelId } = await announcing();
    const { member } = realm.people;
    const to = [channelId, 'new channels'];
    const who = `@_**Max Member|${member.userId}**`;
    await subscribe(realm, member, ['quiet'], [member]);
    expect(await notices(realm)).toEqual([]);
    await subscribe(realm, member, ['tea'], [member], announce);
    await workedOff(realm);
    await subscribe(realm, member, ['cake', 'pie', 'tea'], [member], announce);
    await subscribe(realm, member, ['cake', 'pie', 'tea'], [member], announce);
    expect(await notices(realm)).toEqual([
      { to, content: `${who} created the channel #**tea**.` },
      { to, content: `${who} created these channels: #**cake**, #**pie**.` },
    ]);
  });

  it('does not name private channels, and is not sent without an announcement channel', async () => {
    const { realm, channelId } = await announcing();
    const { member, admin } = realm.people;
    await subscribe(realm, member, ['secret'], [member], { ...announce, invite_only: true });
    await givenChangedChannel(realm, channelId, { isArchived: true });
    await subscribe(realm, member, ['tea'], [member], announce);
    await givenRealmSettings(realm, { new_stream_announcements_stream_id: -1 });
    await subscribe(realm, admin, ['cake'], [admin], announce);
    expect(await notices(realm)).toEqual([]);
  });

  it('uses the empty topic if the channel allows no other', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { topicsPolicy: 'empty_topic_only' });
    await givenRealmSettings(realm, { new_stream_announcements_stream_id: channelId });
    await subscribe(realm, member, ['tea'], [member], announce);
    expect((await notices(realm)).map(({ to }) => to)).toEqual([[channelId, '']]);
  });

  it('is sent once for a channel that several requests create at the same time', async () => {
    const { realm } = await announcing();
    const { member, admin, moderator } = realm.people;
    await Promise.all(
      [member, admin, moderator].map((person) =>
        subscribe(realm.container(), person, ['tea'], [person], announce),
      ),
    );
    expect(await notices(realm)).toHaveLength(1);
  });
});
