import { describe, expect, it } from 'vitest';
import { handler as create } from '../../functions/linkifiers/create.ts';
import { handler as remove } from '../../functions/linkifiers/delete.ts';
import { handler as list } from '../../functions/linkifiers/list.ts';
import { handler as reorder } from '../../functions/linkifiers/reorder.ts';
import { handler as update } from '../../functions/linkifiers/update.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { badRequest, notPermitted, payloadsAfter } from '../support/realm-state.ts';
import { lastNumber } from '../support/stored.ts';

const issue = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://x.example/{id}' };
const ticket = { pattern: 'T(?P<id>[0-9]+)', url_template: 'https://t.example/{id}' };

async function given(realm: TestRealm, parameters: object): Promise<number> {
  const { status, body } = await realm.call(create, realm.people.admin, { ...parameters });
  expect({ status, msg: body.msg }).toEqual({ status: 200, msg: '' });
  return body.id;
}

const linkifiersOf = async (realm: TestRealm, as = realm.people.guest) =>
  (await realm.call(list, as)).body.linkifiers;

const idsOf = async (realm: TestRealm): Promise<number[]> =>
  (await linkifiersOf(realm)).map(({ id }: { id: number }) => id);

describe('linkifiers (companion facts 4.1)', () => {
  it('are listed to every user in order, with the whole list in the event of each change', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    expect(await linkifiersOf(realm)).toEqual([]);
    const before = await lastNumber(realm);
    const first = await given(realm, { pattern: ` ${issue.pattern} `, url_template: issue.url_template });
    const second = await given(realm, { ...ticket, example_input: 'T7', reverse_template: 'T{id}' });
    const none = { example_input: null, reverse_template: null, alternative_url_templates: [] };
    const stored = [
      { id: first, ...issue, ...none },
      { id: second, ...ticket, ...none, example_input: 'T7', reverse_template: 'T{id}' },
    ];
    for (const person of Object.values(realm.people))
      expect(await linkifiersOf(realm, person)).toEqual(stored);
    const path = { filter_id: second };
    const alternative_url_templates = ['https://old.example/{id}'];
    const change = { ...ticket, reverse_template: '', alternative_url_templates };
    expect((await realm.call(update, admin, change, { path })).status).toBe(200);
    await realm.call(reorder, admin, { ordered_linkifier_ids: [second, first] });
    const changed = { ...stored[1], reverse_template: null, alternative_url_templates };
    expect(await linkifiersOf(realm)).toEqual([changed, stored[0]]);
    await realm.call(remove, admin, {}, { path });
    expect(await linkifiersOf(realm)).toEqual([stored[0]]);
    const told = (await payloadsAfter(realm, before)).map((payload) => payload.realm_linkifiers);
    expect(told).toEqual([[stored[0]], stored, [stored[0], changed], [changed, stored[0]], [stored[0]]]);
  });

  it.each<[string, object, string]>([
    ['an empty pattern', { pattern: ' ' }, 'pattern'],
    ['a pattern that looks ahead', { pattern: '#(?P<id>[0-9]+)(?=x)' }, 'pattern'],
    ['a pattern with a back reference', { pattern: '(?P<id>a)\\1' }, 'pattern'],
    ['a pattern that closes what surrounds it', { pattern: '(?P<id>a))|((?P<x>b)' }, 'pattern'],
    ['a pattern that would take much work', { pattern: '(?P<id>((a{10}){10}){10})' }, 'pattern'],
    ['a long pattern', { pattern: `(?P<id>${'a'.repeat(1_000)})` }, 'pattern'],
    ['an empty template', { url_template: '' }, 'url_template'],
    ['a template that is not RFC 6570', { url_template: 'https://x.example/{id' }, 'url_template'],
    ['a template without the group', { url_template: 'https://x.example/' }, '__all__'],
    ['a template with another variable', { url_template: 'https://x.example/{id}/{a}' }, '__all__'],
    ['another template without the group', { alternative_url_templates: ['https://x/'] }, '__all__'],
    ['a reverse template without an example', { reverse_template: '#{id}' }, '__all__'],
    ['an example that does not match', { example_input: '#x' }, '__all__'],
    [
      'a reverse template that makes something else',
      { example_input: '#7', reverse_template: '{id}' },
      '__all__',
    ],
    [
      'a reverse template with an unknown name',
      { example_input: '#7', reverse_template: '#{toString}' },
      '__all__',
    ],
  ])('refuse %s, and name the field', async (_, wrong, field) => {
    const realm = await newRealm();
    const reply = await realm.call(create, realm.people.admin, { ...issue, ...wrong });
    expect(reply).toMatchObject(badRequest);
    expect(reply.body.errors).toEqual({ [field]: [reply.body.msg] });
    expect(await linkifiersOf(realm)).toEqual([]);
  });

  it('accept doubled braces in a reverse template as literal braces', async () => {
    const realm = await newRealm();
    await given(realm, {
      pattern: '\\{(?P<id>[0-9]+)\\}',
      url_template: 'https://x.example/{id}',
      example_input: '{7}',
      reverse_template: '{{{id}}}',
    });
  });

  it('refuse the pattern of another linkifier', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    await given(realm, issue);
    const second = await given(realm, ticket);
    expect(await realm.call(create, admin, issue)).toMatchObject(badRequest);
    const path = { filter_id: second };
    expect(await realm.call(update, admin, issue, { path })).toMatchObject(badRequest);
    expect(await realm.call(update, admin, ticket, { path })).toMatchObject({ status: 200 });
  });

  it('are reordered only by a list with every ID once, which may be empty if there are none', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const ask = (ordered_linkifier_ids: unknown) => realm.call(reorder, admin, { ordered_linkifier_ids });
    const before = await lastNumber(realm);
    expect(await ask([])).toMatchObject({ status: 200 });
    expect(await payloadsAfter(realm, before)).toEqual([]);
    const ids = [await given(realm, issue), await given(realm, ticket)];
    for (const wrong of [[], [ids[0]], [ids[0], ids[0]], [...ids, 999_999], 'x'])
      expect(await ask(wrong)).toMatchObject(badRequest);
    expect(await idsOf(realm)).toEqual(ids);
  });

  it('can be changed only by administrators, and an unknown ID is refused', async () => {
    const realm = await newRealm();
    const filter_id = await given(realm, issue);
    for (const as of ['moderator', 'member', 'guest', 'bot'] as const) {
      const who = realm.people[as];
      expect(await realm.call(create, who, ticket)).toMatchObject(notPermitted);
      expect(await realm.call(update, who, ticket, { path: { filter_id } })).toMatchObject(notPermitted);
      expect(await realm.call(remove, who, {}, { path: { filter_id } })).toMatchObject(notPermitted);
      expect(await realm.call(reorder, who, { ordered_linkifier_ids: [filter_id] })).toMatchObject(
        notPermitted,
      );
    }
    const path = { filter_id: 999_999 };
    expect(await realm.call(remove, realm.people.admin, {}, { path })).toMatchObject(badRequest);
    expect(await realm.call(update, realm.people.admin, ticket, { path })).toMatchObject(badRequest);
    expect(await idsOf(realm)).toEqual([filter_id]);
  });

  it('are all kept if they are added at the same time', async () => {
    const realm = await newRealm();
    const patterns = ['a', 'b', 'c', 'd'].map((letter) => ({ ...issue, pattern: `${letter}(?P<id>[0-9]+)` }));
    const replies = await Promise.all(
      patterns.map((each) => realm.container().call(create, realm.people.admin, each)),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await idsOf(realm)).toHaveLength(4);
  });
});
