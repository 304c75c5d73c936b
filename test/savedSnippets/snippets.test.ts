import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as create } from '../../functions/savedSnippets/create.ts';
import { handler as remove } from '../../functions/savedSnippets/delete.ts';
import { handler as list } from '../../functions/savedSnippets/list.ts';
import { handler as update } from '../../functions/savedSnippets/update.ts';
import { MAX_SNIPPETS } from '../../shared/domain/snippets/snippet.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile } from '../support/faults.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const at = (saved_snippet_id: number | string) => ({ path: { saved_snippet_id } });

async function saved(realm: TestRealm, as: Person, title: string, content = 'text'): Promise<number> {
  const { status, body } = await realm.call(create, as, { title, content });
  expect([status, body.msg]).toEqual([200, '']);
  return body.saved_snippet_id;
}

const listed = async (realm: TestRealm, as: Person) => (await realm.call(list, as)).body.saved_snippets;

describe('saved snippets (companion facts 2.2)', () => {
  it('can be saved, changed, deleted and registered, with events only for their owner', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const client = await givenClient(realm, member);
    const other = await givenClient(realm, guest);
    const id = await saved(realm, member, '  Hello ', ' Dear *all*\n');
    const snippet = { id, title: 'Hello', content: 'Dear *all*', date_created: expect.any(Number) };
    expect(await listed(realm, member)).toEqual([snippet]);
    expect(await listed(realm, guest)).toEqual([]);
    const asked = { fetch_event_types: ['saved_snippets'] };
    expect((await realm.call(register, member, asked)).body.saved_snippets).toEqual([snippet]);
    await realm.call(update, member, { title: 'Hi' }, at(id));
    await realm.call(update, member, { content: 'Dear friends' }, at(id));
    await realm.call(update, member, {}, at(id));
    expect((await realm.call(remove, member, {}, at(id))).status).toBe(200);
    expect(await listed(realm, member)).toEqual([]);
    const event = { type: 'saved_snippets', id: expect.any(Number) };
    expect(await client.poll()).toEqual([
      { ...event, op: 'add', saved_snippet: snippet },
      { ...event, op: 'update', saved_snippet: { ...snippet, title: 'Hi' } },
      { ...event, op: 'update', saved_snippet: { ...snippet, title: 'Hi', content: 'Dear friends' } },
      { ...event, op: 'remove', saved_snippet_id: id },
    ]);
    expect(await other.poll()).toEqual([]);
  });

  it('can belong to bots and guests too, and may have the same title', async () => {
    const realm = await newRealm();
    const { bot, guest } = realm.people;
    for (const person of [bot, guest]) {
      const ids = [await saved(realm, person, 'same'), await saved(realm, person, 'same')];
      expect((await listed(realm, person)).map(({ id }: { id: number }) => id)).toEqual(ids);
    }
  });

  it('get a 404 if they are unknown or belong to another user, and nothing changes', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await saved(realm, member, 'mine');
    const before = await lastNumber(realm);
    for (const unknown of [id, 999_999, 0, '9'.repeat(15)]) {
      for (const handler of [update, remove]) {
        const { status, body } = await realm.call(handler, admin, { title: 'x' }, at(unknown));
        expect([status, body.code, body.msg]).toEqual([
          404,
          'BAD_REQUEST',
          'There is no such saved snippet.',
        ]);
      }
    }
    expect((await realm.call(update, member, { title: 'x' }, at('first'))).status).toBe(404);
    expect(await loggedAfter(realm, before)).toEqual([]);
    expect(await listed(realm, member)).toHaveLength(1);
  });

  it.each([
    ['no title', { content: 'x' }, 'REQUEST_VARIABLE_MISSING'],
    ['no content', { title: 'x' }, 'REQUEST_VARIABLE_MISSING'],
    ['a blank title', { title: ' \n', content: 'x' }, 'BAD_REQUEST'],
    ['blank content', { title: 'x', content: '\t ' }, 'BAD_REQUEST'],
    ['a title of 61 characters', { title: '😀'.repeat(61), content: 'x' }, 'BAD_REQUEST'],
    ['content of 10,001 characters', { title: 'x', content: 'x'.repeat(10_001) }, 'BAD_REQUEST'],
  ])('are refused with %s, also in a change', async (_, given, code) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await saved(realm, member, '😀'.repeat(60), 'x'.repeat(10_000));
    const before = await lastNumber(realm);
    const { status, body } = await realm.call(create, member, given);
    expect([status, body.code]).toEqual([400, code]);
    if (code === 'BAD_REQUEST') expect((await realm.call(update, member, given, at(id))).status).toBe(400);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it('are limited to 100 for each user (docs/LIMITS.md)', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids: number[] = [];
    for (let i = 0; i < MAX_SNIPPETS; i++) ids.push(await saved(realm, member, `${i}`));
    const { status, body } = await realm.call(create, member, { title: 'x', content: 'x' });
    expect([status, body.msg]).toEqual([400, 'You have 100 saved snippets: delete one of them first.']);
    await saved(realm, admin, 'x');
    await realm.call(remove, member, {}, at(ids[0] as number));
    await saved(realm, member, 'x');
  });

  it('keep both of two concurrent changes, and stay deleted in spite of a concurrent change', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await saved(realm, member, 'a', 'a');
    const client = await givenClient(realm, member);
    const slow = realm.container(meanwhile(() => realm.call(update, member, { title: 'b' }, at(id))));
    expect((await slow.call(update, member, { content: 'b' }, at(id))).status).toBe(200);
    expect(await listed(realm, member)).toMatchObject([{ title: 'b', content: 'b' }]);
    expect((await client.poll()).at(-1)).toMatchObject({ saved_snippet: { title: 'b', content: 'b' } });
    const late = realm.container(meanwhile(() => realm.call(remove, member, {}, at(id))));
    expect((await late.call(update, member, { content: 'c' }, at(id))).status).toBe(404);
    expect(await listed(realm, member)).toEqual([]);
  });
});
