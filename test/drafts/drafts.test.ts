import { describe, expect, it } from 'vitest';
import { handler as create } from '../../functions/drafts/create.ts';
import { handler as remove } from '../../functions/drafts/delete.ts';
import { handler as list } from '../../functions/drafts/list.ts';
import { handler as replace } from '../../functions/drafts/replace.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { MAX_DRAFTS } from '../../shared/domain/drafts/draft.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile } from '../support/faults.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const at = (draft_id: number | string) => ({ path: { draft_id } });
const draft = { type: '', to: [], topic: '', content: 'text' };

async function saved(realm: TestRealm, as: Person, ...drafts: readonly object[]): Promise<number[]> {
  const { status, body } = await realm.call(create, as, { drafts });
  expect([status, body.msg]).toEqual([200, '']);
  return body.ids;
}

const listed = async (realm: TestRealm, as: Person) => (await realm.call(list, as)).body.drafts;

describe('drafts (companion facts 2.1)', () => {
  it('can be saved, replaced, deleted and registered, with events only for their owner', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, member);
    const other = await givenClient(realm, admin);
    const to = [realm.channels.general];
    const given = [
      { type: 'stream', to, topic: ' lunch ', content: '\nSoup?\n', timestamp: 1_700_000_000.7 },
      { type: 'private', to: [admin.userId, member.userId], topic: 'x', content: 'Hi', timestamp: 5 },
    ];
    const ids = await saved(realm, member, ...given);
    const [first = 0, second = 0] = ids;
    const inChannel = {
      id: first,
      type: 'stream',
      to,
      topic: 'lunch',
      content: 'Soup?',
      timestamp: 1_700_000_000,
    };
    const direct = {
      id: second,
      type: 'private',
      to: [admin.userId],
      topic: '',
      content: 'Hi',
      timestamp: 5,
    };
    expect(await listed(realm, member)).toEqual([inChannel, direct]);
    expect(await listed(realm, admin)).toEqual([]);
    const asked = { fetch_event_types: ['drafts'] };
    expect((await realm.call(register, member, asked)).body.drafts).toEqual([inChannel, direct]);
    await realm.call(replace, member, { draft: { ...given[0], content: 'Stew?' } }, at(first));
    await realm.call(remove, member, {}, at(second));
    expect(await listed(realm, member)).toEqual([{ ...inChannel, content: 'Stew?' }]);
    const event = { type: 'drafts', id: expect.any(Number) };
    expect(await client.poll()).toEqual([
      { ...event, op: 'add', drafts: [inChannel] },
      { ...event, op: 'add', drafts: [direct] },
      { ...event, op: 'update', draft: { ...inChannel, content: 'Stew?' } },
      { ...event, op: 'remove', draft_id: second },
    ]);
    expect(await other.poll()).toEqual([]);
  });

  it('keep the user of a note to self and no recipient if there is none, and get the present time by default', async () => {
    const realm = await newRealm();
    const { bot } = realm.people;
    const before = Math.floor(realm.outside.now() / 1000);
    const [note, nowhere] = await saved(
      realm,
      bot,
      { ...draft, type: 'private', to: [bot.userId, bot.userId] },
      { ...draft, to: [7], topic: 'x' },
    );
    const drafts = await listed(realm, bot);
    expect(drafts.map(({ id }: { id: number }) => id)).toEqual([nowhere, note]);
    expect(drafts).toMatchObject([
      { to: [], topic: '' },
      { to: [bot.userId], topic: '' },
    ]);
    expect(drafts[0].timestamp).toBeGreaterThanOrEqual(before);
  });

  it('are truncated like messages if they are too long', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await saved(realm, member, { ...draft, content: '😀'.repeat(10_001) });
    expect([...(await listed(realm, member))[0].content]).toHaveLength(10_000);
  });

  it.each([
    ['a key that drafts do not have', { id: 7 }],
    ['a type of newer names', { type: 'direct' }],
    ['no channel', { type: 'stream', to: [] }],
    ['two channels', { type: 'stream', to: [1, 2] }],
    ['an unknown channel', { type: 'stream', to: [999_999] }],
    ['an impossible channel', { type: 'stream', to: [-1] }],
    ['an unknown user', { type: 'private', to: [999_999] }],
    ['an impossible user', { type: 'private', to: [0] }],
    ['blank content', { content: ' \n ' }],
    ['a negative time', { timestamp: -1 }],
    ['a NUL in the topic', { type: 'stream', topic: 'a\0b' }],
  ])('are refused with %s, and nothing is saved', async (_, given) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const [id = 0] = await saved(realm, member, draft);
    const before = await lastNumber(realm);
    const bad = { ...draft, ...given };
    for (const { status, body } of [
      await realm.call(create, member, { drafts: [draft, bad] }),
      await realm.call(replace, member, { draft: bad }, at(id)),
    ])
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(await loggedAfter(realm, before)).toEqual([]);
    expect(await listed(realm, member)).toHaveLength(1);
  });

  it('are refused for a channel that the caller cannot read, like an unknown one', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
    const refused = async (id: number) => {
      const { status, body } = await realm.call(create, member, {
        drafts: [{ ...draft, type: 'stream', to: [id] }],
      });
      return [status, body.code, body.msg];
    };
    expect(await refused(channelId)).toEqual(await refused(999_999));
    expect(await refused(channelId)).toEqual([400, 'BAD_REQUEST', expect.any(String)]);
  });

  it('get a 404 if they are unknown or belong to another user, and nothing changes', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const [id = 0] = await saved(realm, member, draft);
    const before = await lastNumber(realm);
    for (const unknown of [id, 999_999, 0, '9'.repeat(15)]) {
      for (const handler of [replace, remove]) {
        const { status, body } = await realm.call(handler, admin, { draft }, at(unknown));
        expect([status, body.code]).toEqual([404, 'BAD_REQUEST']);
      }
    }
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it('are deleted without an event when the user turns synchronization off, and every call is refused', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const [id = 0] = await saved(realm, member, draft, draft);
    const client = await givenClient(realm, member);
    const set = async (value: boolean) =>
      expect(
        (await realm.call(updateSettings, member, { enable_drafts_synchronization: value })).status,
      ).toBe(200);
    await set(false);
    const calls = [
      await realm.call(list, member),
      await realm.call(create, member, { drafts: [draft] }),
      await realm.call(replace, member, { draft }, at(id)),
      await realm.call(remove, member, {}, at(id)),
    ];
    expect(calls.map(({ status, body }) => [status, body.code])).toEqual(
      calls.map(() => [400, 'BAD_REQUEST']),
    );
    const asked = { fetch_event_types: ['drafts'] };
    expect((await realm.call(register, member, asked)).body.drafts).toEqual([]);
    await set(true);
    expect(await listed(realm, member)).toEqual([]);
    expect((await client.poll()).map(({ type }) => type)).toEqual(['user_settings', 'user_settings']);
    await saved(realm, member, ...Array(MAX_DRAFTS).fill(draft));
  });

  it('are deleted or refused if they are saved while synchronization is turned off', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const off = { enable_drafts_synchronization: false };
    const slow = realm.container(meanwhile(() => realm.call(updateSettings, member, off)));
    expect((await slow.call(create, member, { drafts: [draft] })).status).toBe(400);
    await realm.call(updateSettings, member, { enable_drafts_synchronization: true });
    const late = realm.container(meanwhile(() => saved(realm, member, draft)));
    expect((await late.call(updateSettings, member, off)).status).toBe(200);
    await realm.call(updateSettings, member, { enable_drafts_synchronization: true });
    expect(await listed(realm, member)).toEqual([]);
  });

  it('are limited to 80 for each user, even for two requests at the same time', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const ids = await saved(realm, member, ...Array(MAX_DRAFTS - 1).fill(draft));
    const slow = realm.container(meanwhile(() => saved(realm, member, draft)));
    const { status, body } = await slow.call(create, member, { drafts: [draft] });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    await realm.call(remove, member, {}, at(ids[0] as number));
    await saved(realm, member, draft);
  });

  it('stay deleted in spite of a concurrent replacement', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const [id = 0] = await saved(realm, member, draft);
    const late = realm.container(meanwhile(() => realm.call(remove, member, {}, at(id))));
    expect((await late.call(replace, member, { draft }, at(id))).status).toBe(404);
    expect(await listed(realm, member)).toEqual([]);
  });
});
