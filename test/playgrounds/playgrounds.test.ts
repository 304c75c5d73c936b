import { describe, expect, it } from 'vitest';
import { handler as create } from '../../functions/playgrounds/create.ts';
import { handler as remove } from '../../functions/playgrounds/delete.ts';
import { newRealm } from '../support/realm.ts';
import { badRequest, notPermitted, payloadsAfter } from '../support/realm-state.ts';
import { lastNumber } from '../support/stored.ts';

const rust = { name: 'Try it', pygments_language: 'Rust', url_template: 'https://play.example/?code={code}' };

describe('playgrounds (companion facts 4.2)', () => {
  it('are added and removed, with the whole list in an event for everybody', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const before = await lastNumber(realm);
    const { body: first } = await realm.call(create, admin, rust);
    const { body: second } = await realm.call(create, admin, { ...rust, pygments_language: 'C++' });
    await realm.call(remove, admin, {}, { path: { playground_id: first.id } });
    const told = (await payloadsAfter(realm, before)).map((payload) => payload.realm_playgrounds);
    const list = [
      { id: first.id, ...rust },
      { id: second.id, ...rust, pygments_language: 'C++' },
    ];
    expect(told).toEqual([[list[0]], list, [list[1]]]);
  });

  it.each([
    [{ name: ' ' }, 'name'],
    [{ pygments_language: '' }, 'pygments_language'],
    [{ pygments_language: 'x'.repeat(41) }, 'pygments_language'],
    [{ pygments_language: 'a:b' }, 'pygments_language'],
    [{ url_template: 'https://play.example/' }, 'url_template'],
    [{ url_template: 'https://play.example/{code}{x}' }, 'url_template'],
    [{ url_template: 'https://play.example/{text}' }, 'url_template'],
    [{ url_template: 'https://play.example/{code' }, 'url_template'],
  ])('refuse %j, and name the field', async (wrong, field) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const reply = await realm.call(create, realm.people.admin, { ...rust, ...wrong });
    expect(reply).toMatchObject(badRequest);
    expect(reply.body.errors).toEqual({ [field]: [reply.body.msg] });
    expect(await payloadsAfter(realm, before)).toEqual([]);
  });

  it('have a unique name for each language, and can be changed only by administrators', async () => {
    const realm = await newRealm();
    const { body } = await realm.call(create, realm.people.admin, rust);
    expect(await realm.call(create, realm.people.admin, rust)).toMatchObject(badRequest);
    expect(await realm.call(create, realm.people.member, rust)).toMatchObject(notPermitted);
    const path = { playground_id: body.id };
    expect(await realm.call(remove, realm.people.moderator, {}, { path })).toMatchObject(notPermitted);
    const unknown = { path: { playground_id: 999_999 } };
    expect(await realm.call(remove, realm.people.admin, {}, unknown)).toMatchObject(badRequest);
  });
});
