import sharp from 'sharp';
import { describe, expect, it, test } from 'vitest';
import { handler as getAvatar } from '../../functions/users/getAvatar.ts';
import { handler as getMedium } from '../../functions/users/getMediumAvatar.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as remove } from '../../functions/users/removeAvatar.ts';
import { handler as set } from '../../functions/users/setAvatar.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { fetched } from '../support/emoji.ts';
import { givenClient } from '../support/event-queue.ts';
import { mishaps } from '../support/faults.ts';
import { givenUser } from '../support/given.ts';
import { holdingToGrants } from '../support/grants.ts';
import { movingPicture, picture, pngThatSays, seen } from '../support/pictures.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const upload = async (realm: TestRealm, as: Person, file?: Uint8Array) =>
  realm.call(set, as, {}, { files: [file ?? (await picture('png'))] });

/** Uploads a picture, which must work, and returns its path. */
async function uploaded(realm: TestRealm, as: Person, file?: Uint8Array): Promise<string> {
  const { status, body } = await upload(realm, as, file);
  expect(status, body.msg).toBe(200);
  return body.avatar_url;
}

const medium = (url: string) => url.replace('.png', '-medium.png');

/** Where an address of an avatar leads. */
async function led(realm: TestRealm, handler: Served, user: number | string, as?: Person, headers = {}) {
  const credentials = as && Buffer.from(`${as.email}:${as.apiKey}`).toString('base64');
  const event = {
    path: `/avatar/${user}`,
    headers: { host: realm.host, ...(credentials && { authorization: `Basic ${credentials}` }), ...headers },
    pathParameters: { user: encodeURIComponent(user) },
  };
  const reply = await holdingToGrants(handler.endpoint, () => handler.with(realm.outside)(event as never));
  return { status: reply.statusCode, to: reply.headers?.Location as string | undefined };
}

describe('POST /users/me/avatar (companion facts 4.8)', () => {
  test.each(['png', 'jpeg', 'gif', 'webp'] as const)(
    'accepts a %s and makes two squares of it',
    async (format) => {
      const realm = await newRealm();
      const url = await uploaded(realm, realm.people.member, await picture(format, 600, 300));
      expect(url).toMatch(new RegExp(`^/user_avatars/${realm.realm}/[0-9a-f]{32}\\.png$`));
      const [small, large] = await Promise.all([fetched(realm, url), fetched(realm, medium(url))]);
      expect(small.headers).toMatchObject({ 'Content-Type': 'image/png' });
      expect(await seen(small.bytes)).toEqual({ kind: 'png', size: '100x100', middles: ['red'] });
      expect(await seen(large.bytes)).toEqual({ kind: 'png', size: '500x500', middles: ['red'] });
    },
  );

  it('uses the first frame of an animation', async () => {
    const realm = await newRealm();
    const url = await uploaded(realm, realm.people.member, await movingPicture('gif'));
    expect((await seen((await fetched(realm, url)).bytes)).middles).toEqual(['red']);
  });

  it('removes the metadata of a photo', async () => {
    const realm = await newRealm();
    const plain = sharp({ create: { width: 90, height: 90, channels: 3, background: '#d33' } });
    const file = await plain
      .withExif({ IFD0: { Copyright: 'secret place' } })
      .jpeg()
      .toBuffer();
    expect(file.toString('latin1')).toContain('secret place');
    const url = await uploaded(realm, realm.people.member, file);
    for (const path of [url, medium(url)])
      expect((await fetched(realm, path)).bytes.toString('latin1')).not.toContain('secret place');
  });

  it('sends everybody an event, once for a repeated request, and deletes the previous picture', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, admin);
    const file = await picture('png');
    const url = await uploaded(realm, member, file);
    expect(await uploaded(realm, member, file)).toBe(url);
    const person = {
      user_id: member.userId,
      avatar_source: 'U',
      avatar_url: url,
      avatar_url_medium: medium(url),
    };
    expect(await client.poll()).toMatchObject([
      { type: 'realm_user', op: 'update', person: { ...person, avatar_version: 2 } },
    ]);
    const next = await uploaded(realm, member, await picture('png', 30, 30));
    expect(next).not.toBe(url);
    for (const path of [url, medium(url)]) expect((await fetched(realm, path)).status).toBe(404);
    expect((await realm.call(getOwn, member)).body).toMatchObject({ avatar_url: next, avatar_version: 3 });
  });

  it('keeps one of two concurrent uploads, and only its files', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const before = await lastNumber(realm);
    let other = '';
    const overtaken = realm.container(
      mishaps({
        transact: [
          async (send) => {
            other = await uploaded(realm, member, await picture('png', 30, 30));
            return send();
          },
        ],
      }),
    );
    const url = await uploaded(overtaken, member);
    expect((await realm.call(getOwn, member)).body.avatar_url).toBe(url);
    expect((await fetched(realm, url)).status).toBe(200);
    expect((await fetched(realm, other)).status).toBe(404);
    expect(await loggedAfter(realm, before)).toHaveLength(2);
  });

  test.each<[string, () => Promise<readonly Uint8Array[]>, number, string]>([
    ['text', async () => [Buffer.from('no picture')], 400, 'BAD_IMAGE'],
    ['SVG', async () => [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')], 400, 'BAD_IMAGE'],
    ['too many pixels', async () => [await pngThatSays(30_000, 30_000)], 400, 'BAD_IMAGE'],
    ['more than 4 MiB', async () => [Buffer.alloc(4 * 1024 * 1024 + 1)], 400, 'BAD_REQUEST'],
    ['no file', async () => [], 400, 'BAD_REQUEST'],
    ['two files', async () => [await picture('png'), await picture('png')], 400, 'BAD_REQUEST'],
  ])('refuses %s, and changes nothing', async (_, files, status, code) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const reply = await realm.call(set, realm.people.member, {}, { files: await files() });
    expect([reply.status, reply.body.code]).toEqual([status, code]);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it('is allowed only to administrators if avatar changes are off, like the removal', async () => {
    const realm = await newRealm({ avatar_changes_disabled: true });
    const { member, admin } = realm.people;
    for (const reply of [await upload(realm, member), await realm.call(remove, member)])
      expect([reply.status, reply.body.code]).toEqual([400, 'BAD_REQUEST']);
    await uploaded(realm, admin);
    expect((await realm.call(remove, admin)).status).toBe(200);
  });
});

describe('DELETE /users/me/avatar (companion facts 4.8)', () => {
  it('restores the Gravatar, deletes the files, and sends one event', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const url = await uploaded(realm, member);
    const client = await givenClient(realm, admin, { client_gravatar: true });
    const { body } = await realm.call(remove, member);
    expect(body.avatar_url).toMatch(/^https:\/\/secure\.gravatar\.com\/.*version=3$/);
    expect((await realm.call(remove, member)).body).toEqual(body);
    const person = { user_id: member.userId, avatar_source: 'G', avatar_url: body.avatar_url };
    expect(await client.poll()).toMatchObject([{ person: { ...person, avatar_version: 3 } }]);
    for (const path of [url, medium(url)]) expect((await fetched(realm, path)).status).toBe(404);
    expect((await realm.call(getOwn, member)).body.avatar_url).toBe(body.avatar_url);
  });
});

describe('GET /avatar/{user} and /avatar/{user}/medium (companion facts 4.8)', () => {
  it('redirect to an uploaded picture or to Gravatar, by the ID or the address of the user', async () => {
    const realm = await newRealm();
    const { member, guest, bot } = realm.people;
    const url = await uploaded(realm, member);
    for (const user of [member.userId, member.email]) {
      expect((await led(realm, getAvatar, user, guest)).to).toMatch(new RegExp(`^https?://[^/]+${url}$`));
      expect((await led(realm, getMedium, user, bot)).to).toMatch(
        new RegExp(`^https?://[^/]+${medium(url)}$`),
      );
    }
    expect((await led(realm, getAvatar, guest.userId, guest)).to).toMatch(/^https:\/\/secure\.gravatar\.com/);
    expect((await led(realm, getMedium, guest.userId, guest)).to).toMatch(/&s=500$/);
  });

  it('refuse a user who does not exist and one whom a guest may not see in the same words', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const stranger = await givenUser(realm);
    for (const user of [stranger.userId, 999_999, 'nobody@example.com'])
      expect((await led(realm, getAvatar, user, realm.people.guest)).status).toBe(400);
  });

  it('redirect callers who are not signed in to the sign-in', async () => {
    const realm = await newRealm();
    const { status, to } = await led(realm, getAvatar, realm.people.member.userId, undefined, {
      accept: 'text/html',
    });
    expect([status, to]).toEqual([302, expect.stringContaining('/login/')]);
  });
});
