import { describe, expect, it } from 'vitest';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { loadReadStates, type ReadState } from '../../shared/model/message/read-state.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel, givenSubscription } from '../support/given.ts';
import { flagged, flagsFor, givenMessages, idsIn, sent, sentMany } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

/** The events of a user's flags after a number of the log. */
async function flagEvents(realm: TestRealm, { userId }: Person, after: number) {
  const entries = await loggedAfter(realm, after);
  return entries.flatMap((entry) => {
    if (entry.kind !== 'event' || entry.payload.type !== 'update_message_flags') return [];
    expect(entry.hearers).toEqual({ users: [userId] });
    return [entry.payload];
  });
}

const readStates = ({ outside, realm }: TestRealm, { userId }: Person): Promise<ReadState[]> =>
  loadReadStates(outside.table, realm, userId);

const unreadIds = (realm: TestRealm, as: Person): Promise<number[]> =>
  idsIn(realm, as, { narrow: [['is', 'unread']], num_before: 1_000 });

describe('POST /messages/flags: read', () => {
  it("marks as read and as unread again, and sends events to the caller's clients", async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { general } = realm.channels;
    const channel = await sent(realm, member, { to: general, topic: 'Tea' }, '@**Adam Admin**');
    const pair = await sent(realm, member, { people: [admin] });
    const three = await sent(realm, member, { people: [admin, owner] });
    const note = await sent(realm, admin, { people: [admin] });
    const ids = [channel, pair, three, note];
    const before = await lastNumber(realm);
    const asked = [note, channel, pair, three, pair];
    const added = await flagged(realm, admin, 'add', 'read', asked);
    const reply = { result: 'success', msg: '', ignored_because_not_subscribed_channels: [] };
    expect(added.body).toEqual({ ...reply, messages: asked });
    for (const id of ids) expect(await flagsFor(realm, admin, id)).toContain('read');
    expect(await flagsFor(realm, owner, channel)).toEqual([]);
    const removed = await flagged(realm, admin, 'remove', 'read', ids);
    expect(removed.body).toEqual({ ...reply, messages: ids });
    for (const id of ids) expect(await flagsFor(realm, admin, id)).not.toContain('read');
    const common = { type: 'update_message_flags', flag: 'read', messages: ids, all: false };
    expect(await flagEvents(realm, admin, before)).toEqual([
      { ...common, op: 'add', operation: 'add' },
      {
        ...common,
        op: 'remove',
        operation: 'remove',
        message_details: {
          [channel]: { type: 'stream', stream_id: general, topic: 'Tea', mentioned: true },
          [pair]: { type: 'private', user_ids: [member.userId] },
          [three]: { type: 'private', user_ids: [owner.userId, member.userId].sort((a, b) => a - b) },
          [note]: { type: 'private', user_ids: [] },
        },
      },
    ]);
  });

  it('returns all ids of the request, and sends other clients only those that changed', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const [a, b, c] = await sentMany(realm, member, { to: realm.channels.general }, 3);
    const ids = [a, b, c] as number[];
    const own = await sent(realm, admin, { people: [member] }, 'x', { read_by_sender: true });
    const before = await lastNumber(realm);
    for (const [op, some] of [
      ['add', ids.slice(0, 2)],
      ['add', [...ids, own]],
      ['add', ids],
      ['remove', ids.slice(1)],
      ['remove', ids],
    ] as const)
      expect((await flagged(realm, admin, op, 'read', some)).body.messages).toEqual(some);
    expect(await flagEvents(realm, admin, before)).toMatchObject([
      { op: 'add', messages: [a, b] },
      { op: 'add', messages: [c] },
      { op: 'remove', messages: [b, c] },
      { op: 'remove', messages: [a] },
    ]);
    expect(await unreadIds(realm, admin)).toEqual(ids);
  });

  it('names the empty topic as each client understands it, and sends no other user an event', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sent(realm, member, { to: realm.channels.general, topic: '' });
    await flagged(realm, admin, 'add', 'read', [id]);
    const knowing = await givenClient(realm, admin);
    const other = await givenClient(realm, admin, { client_capabilities: {} });
    const stranger = await givenClient(realm, member);
    await flagged(realm, admin, 'remove', 'read', [id]);
    expect(await knowing.poll()).toMatchObject([{ message_details: { [id]: { topic: '' } } }]);
    expect(await other.poll()).toMatchObject([{ message_details: { [id]: { topic: 'general chat' } } }]);
    expect(await stranger.poll()).toEqual([]);
  });

  it("can mark the caller's own message as unread, which was read from the beginning", async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sent(realm, member, { to: realm.channels.general }, 'x', { read_by_sender: true });
    await flagged(realm, member, 'remove', 'read', [id]);
    expect(await flagsFor(realm, member, id)).toEqual([]);
    await flagged(realm, member, 'add', 'read', [id]);
    expect(await flagsFor(realm, member, id)).toEqual(['read']);
  });

  it('leaves messages that the caller never received as they are', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const { channelId, name } = await givenChannel(realm, {}, [member]);
    const old = await sent(realm, member, { to: channelId });
    const hidden = await sent(realm, member, { people: [guest] });
    const before = await lastNumber(realm);
    const added = await flagged(realm, admin, 'add', 'read', [old, hidden, 999_999, 0, -1]);
    expect(added.body).toMatchObject({
      messages: [old, hidden, 999_999, 0, -1],
      ignored_because_not_subscribed_channels: [],
    });
    const removed = await flagged(realm, admin, 'remove', 'read', [old]);
    expect(removed.body).toMatchObject({
      messages: [old],
      ignored_because_not_subscribed_channels: [channelId],
    });
    expect(await flagEvents(realm, admin, before)).toEqual([]);
    await givenSubscription(realm, admin, channelId);
    const own = await sent(realm, member, { to: channelId });
    await flagged(realm, admin, 'add', 'read', [own]);
    const again = await flagged(realm, admin, 'remove', 'read', [old, own]);
    expect(again.body).toMatchObject({ messages: [old, own], ignored_because_not_subscribed_channels: [] });
    expect(await unreadIds(realm, admin)).toEqual([own]);
    await realm.call(unsubscribe, admin, { subscriptions: [name] });
    expect(await unreadIds(realm, admin)).toEqual([]);
    expect(await flagsFor(realm, admin, own)).toEqual(['read', 'historical']);
    await givenSubscription(realm, admin, channelId);
    expect(await unreadIds(realm, admin)).toEqual([]);
  });

  it('refuses hidden and missing messages in the same words, and changes nothing', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const seen = await sent(realm, member, { to: realm.channels.general });
    const hidden = await sent(realm, member, { people: [guest] });
    const secret = await givenChannel(realm, { isPrivate: true }, [member]);
    const secretId = await sent(realm, member, { to: secret.channelId });
    await flagged(realm, admin, 'add', 'read', [seen]);
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      [hidden, secretId, 999_999, 0, -1].flatMap((id) => [
        flagged(realm, admin, 'remove', 'read', [seen, id]),
        flagged(realm, admin, 'add', 'starred', [seen, id]),
      ]),
    );
    for (const { status, body } of replies) expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(new Set(replies.map(({ body }) => body.msg)).size).toBe(1);
    expect(await flagsFor(realm, admin, seen)).toEqual(['read']);
    expect(await flagEvents(realm, admin, before)).toEqual([]);
  });
});

describe('POST /messages/flags: starred', () => {
  it('stars any message that the caller may read, received or not, and removes stars', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const old = await sent(realm, member, { to: channelId });
    const own = await sent(realm, member, { to: realm.channels.general });
    const before = await lastNumber(realm);
    expect((await flagged(realm, admin, 'add', 'starred', [own, old])).body.messages).toEqual([own, old]);
    expect(await flagsFor(realm, admin, old)).toEqual(['read', 'starred', 'historical']);
    expect(await flagsFor(realm, admin, own)).toEqual(['starred']);
    expect(await flagsFor(realm, member, own)).not.toContain('starred');
    await flagged(realm, admin, 'add', 'starred', [own]);
    expect((await flagged(realm, admin, 'remove', 'starred', [own, 999_999, 0])).body).toMatchObject({
      messages: [own, 999_999, 0],
      ignored_because_not_subscribed_channels: [],
    });
    await flagged(realm, admin, 'remove', 'starred', [own]);
    expect(await flagsFor(realm, admin, own)).toEqual([]);
    expect(await flagEvents(realm, admin, before)).toMatchObject([
      { op: 'add', flag: 'starred', messages: [old, own] },
      { op: 'remove', flag: 'starred', messages: [own] },
    ]);
  });
});

describe('POST /messages/flags: bad input', () => {
  it.each([
    [{ op: 'add', flag: 'collapsed', messages: [1] }, 'BAD_REQUEST'],
    [{ op: 'add', flag: 'mentioned', messages: [1] }, 'BAD_REQUEST'],
    [{ op: 'set', flag: 'read', messages: [1] }, 'BAD_REQUEST'],
    [{ op: 'add', flag: 'read', messages: 1 }, 'BAD_REQUEST'],
    [{ op: 'add', flag: 'read', messages: ['1'] }, 'BAD_REQUEST'],
    [{ op: 'add', flag: 'read' }, 'REQUEST_VARIABLE_MISSING'],
    [{ op: 'add', messages: [1] }, 'REQUEST_VARIABLE_MISSING'],
    [{ flag: 'read', messages: [1] }, 'REQUEST_VARIABLE_MISSING'],
  ])('%j is refused', async (parameters, code) => {
    const realm = await newRealm();
    const { status, body } = await realm.call(updateFlags, realm.people.member, parameters);
    expect([status, body.code]).toEqual([400, code]);
  });

  it('too many messages and an empty list are refused', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const many = Array.from({ length: 5_001 }, (_, i) => i + 1);
    expect((await flagged(realm, member, 'add', 'read', many)).status).toBe(400);
    expect((await flagged(realm, member, 'add', 'read', [])).body).toMatchObject({
      result: 'success',
      messages: [],
    });
  });
});

describe('POST /messages/flags: many at once', () => {
  it('may be of more conversations than one transaction takes', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await givenMessages(realm, member, general, (i) => `topic ${i}`, 200);
    const left = ids.filter((_, i) => i % 10 === 0);
    const before = await lastNumber(realm);
    const marked = ids.filter((id) => !left.includes(id));
    const { body } = await flagged(realm, admin, 'add', 'read', marked);
    expect(body.messages).toEqual(marked);
    expect(await unreadIds(realm, admin)).toEqual(left);
    const told = await flagEvents(realm, admin, before);
    expect(told.flatMap(({ messages }) => messages as number[]).sort((a, b) => a - b)).toEqual(marked);
    await flagged(realm, admin, 'add', 'starred', marked);
    expect(await idsIn(realm, admin, { narrow: [['is', 'starred']], num_before: 1_000 })).toEqual(marked);
  });

  it('keep the read state of one conversation small, when marked again and again', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await givenMessages(realm, member, general, () => 'long', 1_200);
    realm.pass(120_000);
    const left = [ids[5], ids[700], ids[1_199]] as number[];
    const marked = ids.filter((id) => !left.includes(id));
    for (let start = 0; start < marked.length; start += 100) {
      const part = marked.slice(start, start + 100);
      expect((await flagged(realm, admin, 'add', 'read', part)).body.messages).toEqual(part);
    }
    expect(await unreadIds(realm, admin)).toEqual(left);
    const [state] = await readStates(realm, admin);
    expect(state?.floor).toBeGreaterThan(ids[600] as number);
    expect((state?.read?.size ?? 0) + (state?.unread?.size ?? 0)).toBeLessThan(400);
    await flagged(realm, admin, 'remove', 'read', [ids[3] as number]);
    expect(await unreadIds(realm, admin)).toEqual([ids[3], ...left]);
  });

  it('never raise a floor above fresh messages', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await givenMessages(realm, member, general, () => 'long', 600);
    for (let start = 0; start < 600; start += 200)
      await flagged(realm, admin, 'add', 'read', ids.slice(start, start + 200));
    const [state] = await readStates(realm, admin);
    expect(state?.floor ?? 0).toBeLessThan(ids[0] as number);
    expect(await unreadIds(realm, admin)).toEqual([]);
  });
});

describe('POST /messages/flags: two devices at once', () => {
  it('never undo the changes of the other', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids = await sentMany(realm, member, { to: realm.channels.general }, 24);
    const devices = [realm.container(), realm.container(), realm.container()];
    await Promise.all(ids.map((id, i) => flagged(devices[i % 3] as TestRealm, admin, 'add', 'read', [id])));
    expect(await unreadIds(realm, admin)).toEqual([]);
    await Promise.all([
      ...ids.slice(0, 12).map((id, i) => flagged(devices[i % 3] as TestRealm, admin, 'remove', 'read', [id])),
      ...ids.slice(0, 24).map((id, i) => flagged(devices[i % 3] as TestRealm, admin, 'add', 'starred', [id])),
    ]);
    expect(await unreadIds(realm, admin)).toEqual(ids.slice(0, 12));
    expect(await idsIn(realm, admin, { narrow: [['is', 'starred']] })).toEqual(ids);
  });

  it('leave what the last event says', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sent(realm, member, { to: realm.channels.general });
    const devices = [realm.container(), realm.container(), realm.container(), realm.container()];
    for (const flag of ['read', 'starred'] as const) {
      for (let round = 0; round < 4; round++) {
        const before = await lastNumber(realm);
        await Promise.all(
          devices.map((device, i) => flagged(device, admin, i % 2 === 0 ? 'add' : 'remove', flag, [id])),
        );
        const last = (await flagEvents(realm, admin, before)).at(-1);
        if (last) expect((await flagsFor(realm, admin, id))?.includes(flag)).toBe(last.op === 'add');
      }
    }
  });

  it('lose nothing while the read state is compacted', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids = await givenMessages(realm, member, realm.channels.general, () => 'long', 800);
    realm.pass(120_000);
    const devices = [realm.container(), realm.container(), realm.container()];
    for (let start = 0; start < 800; start += 240) {
      await Promise.all(
        devices.map((device, i) => {
          const part = ids.slice(start + i * 80, start + (i + 1) * 80);
          return part.length > 0 && flagged(device, admin, 'add', 'read', part);
        }),
      );
    }
    expect(await unreadIds(realm, admin)).toEqual([]);
  });
});

describe('POST /messages/flags: cost', () => {
  it('takes three round trips cold, two warm, and few write units, however long the history is', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const costs: number[][] = [];
    for (const count of [5, 300]) {
      const ids = await givenMessages(realm, member, general, () => 'topic', count);
      const container = realm.container();
      await flagged(container, admin, 'add', 'read', ids.slice(0, 2));
      expect(container.meter.roundTrips).toBe(3);
      for (const [op, flag] of [
        ['add', 'read'],
        ['remove', 'read'],
        ['add', 'starred'],
        ['remove', 'starred'],
      ] as const) {
        container.meter.reset();
        await flagged(container, admin, op, flag, ids.slice(2, 5));
        expect(container.meter.roundTrips).toBe(2);
        costs.push([container.meter.writeUnits, container.meter.calls.length]);
      }
    }
    expect(costs.slice(4)).toEqual(costs.slice(0, 4));
    for (const [units] of costs) expect(units).toBeLessThanOrEqual(9);
  });
});
