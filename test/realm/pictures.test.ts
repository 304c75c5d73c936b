import { describe, expect, it, test } from 'vitest';
import { handler as getIcon } from '../../functions/realm/getIcon.ts';
import { handler as getLogo } from '../../functions/realm/getLogo.ts';
import { handler as removeIcon } from '../../functions/realm/removeIcon.ts';
import { handler as removeLogo } from '../../functions/realm/removeLogo.ts';
import { handler as setIcon } from '../../functions/realm/setIcon.ts';
import { handler as setLogo } from '../../functions/realm/setLogo.ts';
import { handler as getSettings } from '../../functions/server/getSettings.ts';
import { fetched } from '../support/emoji.ts';
import { givenClient } from '../support/event-queue.ts';
import { picture, seen } from '../support/pictures.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const stateOf = async (realm: TestRealm, as: Person) =>
  (await givenClient(realm, as, { fetch_event_types: ['realm'] })).state;

/** Where a request is sent on to. */
const ledTo = async (reply: Promise<{ readonly status: number; readonly headers: object }>) => {
  const { status, headers } = await reply;
  expect(status).toBe(302);
  return (headers as { readonly Location?: string }).Location;
};

describe('the icon of an organization (companion facts 4.8)', () => {
  it('is set, replaced and removed, with an event each time, once for a repeated request', async () => {
    const realm = await newRealm();
    const { admin, guest } = realm.people;
    const client = await givenClient(realm, guest);
    const initial = (await stateOf(realm, guest)).realm_icon_url;
    const files = [await picture('webp', 300, 200)];
    const { body } = await realm.call(setIcon, admin, {}, { files });
    expect((await realm.call(setIcon, admin, {}, { files })).body).toEqual(body);
    const { icon_url } = body;
    expect(icon_url).toMatch(new RegExp(`^/user_avatars/${realm.realm}/realm/[0-9a-f]{32}\\.png$`));
    const data = { icon_url, icon_source: 'U' };
    expect(await client.poll()).toEqual([
      { id: expect.any(Number), type: 'realm', op: 'update_dict', property: 'icon', data },
    ]);
    const image = await fetched(realm, icon_url);
    expect(await seen(image.bytes)).toEqual({ kind: 'png', size: '100x100', middles: ['red'] });
    expect(await stateOf(realm, guest)).toMatchObject({ realm_icon_url: icon_url, realm_icon_source: 'U' });
    expect((await realm.call(getSettings, undefined)).body.realm_icon).toBe(icon_url);
    expect(await ledTo(realm.call(getIcon, guest))).toMatch(new RegExp(`^https?://[^/]+${icon_url}$`));
    const next = (await realm.call(setIcon, admin, {}, { files: [await picture('png')] })).body.icon_url;
    expect((await fetched(realm, icon_url)).status).toBe(404);
    await client.poll();
    for (let i = 0; i < 2; i++)
      expect((await realm.call(removeIcon, admin)).body).toMatchObject({ icon_url: initial });
    expect(await client.poll()).toMatchObject([{ data: { icon_url: initial, icon_source: 'G' } }]);
    expect((await fetched(realm, next)).status).toBe(404);
    expect(await ledTo(realm.call(getIcon, guest))).toBe(initial);
  });
});

describe('the logos of an organization (companion facts 4.8)', () => {
  it('are two images, not cropped and at most 100 pixels high', async () => {
    const realm = await newRealm();
    const { owner, guest } = realm.people;
    const client = await givenClient(realm, guest);
    const set = async (night: boolean, file: Uint8Array) =>
      expect((await realm.call(setLogo, owner, { night }, { files: [file] })).status).toBe(200);
    await set(false, await picture('png', 60, 20));
    const replaced = (await stateOf(realm, guest)).realm_logo_url;
    await client.poll();
    await set(false, await picture('png', 600, 200));
    expect((await fetched(realm, replaced)).status).toBe(404);
    await set(true, await picture('png', 2_000, 100));
    const state = await stateOf(realm, guest);
    const { realm_logo_url: day, realm_night_logo_url: night } = state;
    expect(state).toMatchObject({
      realm_logo_source: 'U',
      realm_night_logo_source: 'U',
      realm_icon_source: 'G',
    });
    expect((await client.poll()).map(({ property, data }) => [property, data])).toEqual([
      ['logo', { logo_url: day, logo_source: 'U' }],
      ['night_logo', { night_logo_url: night, night_logo_source: 'U' }],
    ]);
    expect((await seen((await fetched(realm, day)).bytes)).size).toBe('300x100');
    expect((await fetched(realm, night)).status).toBe(200);
    expect(await ledTo(realm.call(getLogo, guest, { night: true }))).toMatch(new RegExp(`${night}$`));
    expect((await realm.call(removeLogo, owner, { night: true })).status).toBe(200);
    expect(await client.poll()).toMatchObject([{ data: { night_logo_url: '', night_logo_source: 'D' } }]);
    const gone = await realm.call(getLogo, guest, { night: true });
    expect([gone.status, gone.body.code]).toEqual([404, 'BAD_REQUEST']);
    expect(await stateOf(realm, guest)).toMatchObject({ realm_logo_url: day, realm_night_logo_url: '' });
  });
});

test('only administrators can change pictures, and a file that is not an image changes nothing', async () => {
  const realm = await newRealm();
  const { moderator, admin } = realm.people;
  const before = await lastNumber(realm);
  const files = [await picture('png')];
  for (const [handler, parameters] of [
    [setIcon, {}],
    [removeIcon, {}],
    [setLogo, { night: false }],
    [removeLogo, { night: false }],
  ] as const) {
    const { status, body } = await realm.call(handler, moderator, parameters, { files });
    expect([status, body.code]).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
  }
  const bad = await realm.call(setIcon, admin, {}, { files: [Buffer.from('GIF89a')] });
  expect([bad.status, bad.body.code]).toEqual([400, 'BAD_IMAGE']);
  const large = await realm.call(
    setLogo,
    admin,
    { night: true },
    { files: [Buffer.alloc(4 * 1024 * 1024 + 1)] },
  );
  expect([large.status, large.body.code]).toEqual([400, 'BAD_REQUEST']);
  const missing = await realm.call(setLogo, admin, {}, { files });
  expect([missing.status, missing.body.code]).toEqual([400, 'REQUEST_VARIABLE_MISSING']);
  expect(await loggedAfter(realm, before)).toEqual([]);
});
