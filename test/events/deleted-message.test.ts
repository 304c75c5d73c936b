import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { KEPT } from '../../shared/log/slot.ts';
import { type Client, type Event, givenClient, sendTo } from '../support/event-queue.ts';
import { exported } from '../support/export-request.ts';
import { givenChannel } from '../support/given.ts';
import { update } from '../support/message-update.ts';
import { givenMessages, idsIn } from '../support/messages.ts';
import { react, unreact } from '../support/reactions.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const TYPES = { event_types: ['message', 'reaction', 'update_message', 'delete_message'] };

/** The events about one message that a client gets until there are no more. */
async function toldOf(realm: TestRealm, client: Client, id: number): Promise<Event[]> {
  const told: Event[] = [];
  for (let quiet = 0; quiet < 2; ) {
    const before = client.last;
    const events = await client.poll();
    told.push(...events.filter(({ type }) => type !== 'heartbeat'));
    if (client.last === before) quiet++;
    // Entries that depend on other items are delivered a moment after they become visible.
    realm.pass(200);
  }
  return told.filter((event) =>
    [event.message?.id, event.message_id, ...(event.message_ids ?? [])].includes(id),
  );
}

const typesOf = (events: readonly Event[]): string[] => events.map(({ type }) => type);
const remove = (realm: TestRealm, id: number) =>
  realm.call(deleteMessage, realm.people.admin, {}, { path: { message_id: id } });

describe('a message that was deleted before a client heard of it', () => {
  it.each([
    ['in a channel', false],
    ['to people', true],
  ])('%s is sent with everything that happened to it', async (_, isDirect) => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member, { ...TYPES, apply_markdown: true });
    const id = await sendTo(realm, admin, isDirect ? [member.userId] : realm.channels.general, 'hello');
    await react(realm, admin, id);
    await unreact(realm, admin, id);
    await update(realm, admin, id, { content: 'hello *you*' });
    expect(await remove(realm, id)).toMatchObject({ status: 200 });
    const told = await toldOf(realm, client, id);
    expect(told).toMatchObject([
      {
        type: 'message',
        id: expect.any(Number),
        message: { id, sender_id: admin.userId, content: '<p>hello <em>you</em></p>', reactions: [] },
        flags: [],
      },
      { type: 'reaction', op: 'add', message_id: id },
      { type: 'reaction', op: 'remove', message_id: id },
      { type: 'update_message', message_id: id },
      { type: 'delete_message', message_id: id },
    ]);
    expect(
      Object.keys(told[0].message).filter((name) => /Key|Sort|kind|width|commit|echo/.test(name)),
    ).toEqual([]);
  });

  it.each([1, 2, 3])(
    'is sent once and in order if polls come in between, the first one after %d changes',
    async (first) => {
      const realm = await newRealm();
      const { admin, member } = realm.people;
      const client = await givenClient(realm, member, TYPES);
      let id = 0;
      const things = [
        async () => {
          id = await sendTo(realm, admin, realm.channels.general, 'hello');
        },
        () => react(realm, admin, id),
        () => update(realm, admin, id, { content: 'bye' }),
        () => remove(realm, id),
      ];
      for (const thing of things.slice(0, first)) await thing();
      const told = await toldOf(realm, client, id);
      expect(told).toHaveLength(first);
      for (const thing of things.slice(first)) await thing();
      told.push(...(await toldOf(realm, client, id)));
      expect(typesOf(told)).toEqual(['message', 'reaction', 'update_message', 'delete_message']);
    },
  );

  it('is sent with all its changes if much else happened in between', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member, TYPES);
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    const elsewhere = await givenChannel(realm, {}, [admin]);
    const pages = () => givenMessages(realm, admin, elsewhere.channelId, () => 'tea', 250);
    await pages();
    await react(realm, admin, id);
    await pages();
    await remove(realm, id);
    expect(typesOf(await toldOf(realm, client, id))).toEqual(['message', 'reaction', 'delete_message']);
  });

  it('is sent to no user who could not read it', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [admin]);
    const outsiders = await Promise.all([member, guest].map((each) => givenClient(realm, each, TYPES)));
    const ids = [
      await sendTo(realm, admin, channelId, 'secret'),
      await sendTo(realm, admin, [admin.userId], 'x'),
    ];
    for (const id of ids) {
      await react(realm, admin, id);
      expect(await remove(realm, id)).toMatchObject({ status: 200 });
      for (const client of outsiders) expect(await toldOf(realm, client, id)).toEqual([]);
    }
  });

  it('appears nowhere else', async () => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const id = await sendTo(realm, admin, realm.channels.general, 'gone for good');
    await remove(realm, id);
    expect(await realm.call(getMessage, admin, {}, { path: { message_id: id } })).toMatchObject({
      status: 400,
    });
    expect(await idsIn(realm, admin)).not.toContain(id);
    expect(await idsIn(realm, admin, { message_ids: [id] })).toEqual([]);
    expect(await idsIn(realm, owner, { narrow: JSON.stringify([['channel', 'general']]) })).not.toContain(id);
    expect((await exported(realm, 'full_without_consent')).text).not.toContain('gone for good');
  });

  it('is kept only while a queue may still need it', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const stored = (seq: number) => realm.outside.table.get('slot', { realm: realm.realm, seq });
    const [young, old] = [
      await sendTo(realm, admin, realm.channels.general, 'young'),
      await sendTo(realm, admin, realm.channels.general, 'old'),
    ];
    await remove(realm, young);
    expect(await stored(young)).toMatchObject({
      kind: 'tombstone',
      message: { content: 'young' },
      expires: expect.any(Number),
    });
    expect(await stored(young)).not.toHaveProperty('channelKey');
    realm.pass(KEPT);
    await remove(realm, old);
    expect(await stored(old)).toMatchObject({ kind: 'tombstone', expires: expect.any(Number) });
    expect(await stored(old)).not.toHaveProperty('message');
  });
});
