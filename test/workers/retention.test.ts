import { describe, expect, it } from 'vitest';
import { handler as create } from '../../functions/subscriptions/add.ts';
import { enforceRetention } from '../../shared/domain/retention/keep-limits.ts';
import { edited } from '../support/channel-state.ts';
import { givenChangedChannel, givenChannel } from '../support/given.ts';
import { move } from '../support/message-update.ts';
import { sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';
import { DAY, givenDays, left, run, runner } from '../support/retention-run.ts';
import { storedConversation, storedMessage } from '../support/stored.ts';

describe('retention removes messages (4.2, message_retention_days)', () => {
  it('after the days of their channel, to the second, and no others (4.2/message_retention_days)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 3 }, [member]);
    const id = await sent(realm, member, { to: channelId });
    const { timestamp } = await storedMessage(realm, id);
    realm.pass(2_000);
    const later = await sent(realm, member, { to: channelId });
    // The second in which it was sent counts whole, since nothing finer is kept of it.
    const end = 1000 * (timestamp + 1) + 3 * DAY;
    await run(realm, { outside: { now: () => end - 1 } });
    expect(await left(realm, [id, later])).toEqual([id, later]);
    await run(realm, { outside: { now: () => end } });
    expect(await left(realm, [id, later])).toEqual([later]);
  });

  it.each([
    ['the organization limits, the channel says nothing', 5, undefined, 6, true],
    ['the organization limits, the channel keeps less', 5, 2, 3, true],
    ['the organization limits, the channel keeps more', 5, 9, 6, false],
    ['the organization limits, the channel is unlimited', 5, -1, 60, false],
    ['the organization does not limit, the channel does', -1, 2, 3, true],
    ['nobody limits', -1, undefined, 6_000, false],
  ])(
    'according to the channel: %s (4.2, wire facts 4.4) (4.2/unlimited, 4.2/realm_default)',
    async (_, organization, own, passed, isGone) => {
      const realm = await newRealm({ message_retention_days: organization });
      const { member } = realm.people;
      const given = own === undefined ? {} : { messageRetentionDays: own };
      const { channelId } = await givenChannel(realm, given, [member]);
      const id = await sent(realm, member, { to: channelId });
      realm.pass(passed * DAY);
      await run(realm);
      expect(await left(realm, [id])).toEqual(isGone ? [] : [id]);
    },
  );

  it('in direct conversations according to the organization', async () => {
    const realm = await newRealm({ message_retention_days: 5 });
    const { member, admin, guest } = realm.people;
    const ids = [
      await sent(realm, member, { people: [admin] }),
      await sent(realm, admin, { people: [member] }),
      await sent(realm, member, { people: [admin, guest] }),
      await sent(realm, member, { people: [member] }),
    ];
    realm.pass(4 * DAY);
    const young = await sent(realm, member, { people: [admin, guest] });
    realm.pass(2 * DAY);
    await run(realm);
    expect(await left(realm, [...ids, young])).toEqual([young]);
    expect(await storedConversation(realm, [member, admin])).toBeUndefined();
    expect(await storedConversation(realm, [member, admin, guest])).toMatchObject({
      maxId: young,
      arrived: 2,
      left: 1,
    });
    realm.pass(4 * DAY);
    await run(realm);
    expect(await left(realm, [young])).toEqual([]);
    expect(await storedConversation(realm, [member, admin, guest])).toBeUndefined();
    // The conversation begins again like a new one.
    const again = await sent(realm, member, { people: [admin, guest] });
    expect(await storedConversation(realm, [member, admin, guest])).toMatchObject({ arrived: 1, left: 0 });
    await run(realm);
    expect(await left(realm, [again])).toEqual([again]);
  });

  it('in archived channels too', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [member]);
    const id = await sent(realm, member, { to: channelId });
    await givenChangedChannel(realm, channelId, { isArchived: true });
    realm.pass(2 * DAY);
    await run(realm);
    expect(await left(realm, [id])).toEqual([]);
  });

  it('according to the present limit of the organization, while it is set, changed and removed', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const old = [
      await sent(realm, member, { to: realm.channels.general }),
      await sent(realm, member, { people: [admin] }),
    ];
    realm.pass(10 * DAY);
    const middle = [
      await sent(realm, member, { to: realm.channels.general }),
      await sent(realm, member, { people: [admin] }),
    ];
    realm.pass(10 * DAY);
    await givenDays(realm, 30);
    await run(realm);
    expect(await left(realm, [...old, ...middle])).toEqual([...old, ...middle]);
    await givenDays(realm, 15);
    await run(realm);
    expect(await left(realm, [...old, ...middle])).toEqual(middle);
    await givenDays(realm, -1);
    realm.pass(100 * DAY);
    await run(realm);
    expect(await left(realm, middle)).toEqual(middle);
    await givenDays(realm, 99);
    await run(realm);
    expect(await left(realm, middle)).toEqual([]);
  });

  it('according to the present limit of the channel, which edits and creation put on the list and take off', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const retention = { message_retention_days: 2 };
    const made = { subscriptions: [{ name: 'brief' }], ...retention };
    const { body } = await realm.call(create, owner, made);
    expect(body).toMatchObject({ result: 'success' });
    const { channelId } = await givenChannel(realm, {}, [owner]);
    const id = await sent(realm, owner, { to: channelId });
    realm.pass(3 * DAY);
    await edited(realm, owner, channelId, retention);
    await edited(realm, owner, channelId, { message_retention_days: 'unlimited' });
    await run(realm);
    expect(await left(realm, [id])).toEqual([id]);
    await edited(realm, owner, channelId, retention);
    await run(realm);
    expect(await left(realm, [id])).toEqual([]);
    await edited(realm, owner, channelId, { message_retention_days: 'realm_default' });
    const { outside } = runner(realm);
    const listed = await outside.table.all(['retention', 'channelRetention'], {});
    // The new channel only; its first message will come.
    expect(listed.filter((one) => one.realm === realm.realm)).toHaveLength(1);
  });

  it('that moved according to their new channel (4.2)', async () => {
    const realm = await newRealm({ message_retention_days: 5 });
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: -1 }, [owner]);
    const [id, stays] = [
      await sent(realm, owner, { to: channelId }),
      await sent(realm, owner, { to: channelId }),
    ];
    realm.pass(9 * DAY);
    await run(realm);
    expect(await left(realm, [id, stays])).toEqual([id, stays]);
    const moved = await move(realm, owner, id, { stream_id: realm.channels.general });
    expect(moved).toMatchObject({ status: 200 });
    realm.pass(DAY);
    await run(realm);
    expect(await left(realm, [id, stays])).toEqual([stays]);
  });
});

describe('the cost of retention', () => {
  it('is one query for organizations that keep everything, or have nothing due', async () => {
    const unlimited = await newRealm();
    await sent(unlimited, unlimited.people.member, { to: unlimited.channels.general });
    unlimited.pass(100 * DAY);
    const idle = runner(unlimited);
    await enforceRetention(idle.outside, idle.outside.now() + 60_000);
    expect(idle.meter.calls.map(({ action }) => action)).toEqual(['Query']);

    const limited = await newRealm({ message_retention_days: 30 });
    await sent(limited, limited.people.member, { to: limited.channels.general });
    await run(limited);
    limited.pass(DAY / 2);
    const waiting = runner(limited);
    await enforceRetention(waiting.outside, waiting.outside.now() + 60_000);
    expect(waiting.meter.calls.map(({ action }) => action)).toEqual(['Query']);
  });
});
