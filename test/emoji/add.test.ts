import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { handler as add } from '../../functions/emoji/add.ts';
import { handler as deactivate } from '../../functions/emoji/deactivate.ts';
import { handler as react } from '../../functions/reactions/add.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { fetched, listed, upload } from '../support/emoji.ts';
import { sent } from '../support/messages.ts';
import { movingPicture, picture, pngThatSays, seen, tinyFrames } from '../support/pictures.ts';
import { newRealm } from '../support/realm.ts';

describe('POST /realm/emoji/{emoji_name} (wire facts 11)', () => {
  test.each(['png', 'jpeg', 'gif', 'webp'] as const)(
    'accepts a still %s and serves it 64 by 64 (2.8/source_url, 2.8/still_url, 2.8/author_id)',
    async (format) => {
      const realm = await newRealm();
      expect((await upload(realm, realm.people.member, 'party', [await picture(format)])).body.result).toBe(
        'success',
      );
      const [emoji] = await listed(realm);
      expect(emoji).toEqual({
        id: expect.stringMatching(/^\d+$/),
        name: 'party',
        source_url: expect.stringMatching(/^\/user_avatars\/[^/]+\/emoji\/images\/[0-9a-f]{32}\.png$/),
        still_url: null,
        deactivated: false,
        author_id: realm.people.member.userId,
      });
      const image = await fetched(realm, emoji?.source_url ?? '');
      expect(image.status).toBe(200);
      expect(image.headers).toMatchObject({
        'Content-Type': 'image/png',
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
      });
      expect(await seen(image.bytes)).toEqual({ kind: 'png', size: '64x64', middles: ['red'] });
    },
  );

  test.each(['gif', 'webp'] as const)(
    'keeps a moving %s moving, and makes a still image of its first frame (2.8/still_url)',
    async (format) => {
      const realm = await newRealm();
      expect((await upload(realm, realm.people.member, 'dance', [await movingPicture(format)])).status).toBe(
        200,
      );
      const [emoji] = await listed(realm);
      const [moving, still] = await Promise.all([
        fetched(realm, emoji?.source_url ?? ''),
        fetched(realm, emoji?.still_url ?? ''),
      ]);
      expect(moving.headers['Content-Type']).toBe(`image/${format}`);
      expect(await seen(moving.bytes)).toEqual({
        kind: format,
        size: '64x64',
        middles: ['red', 'green', 'blue'],
      });
      expect(await seen(still.bytes)).toEqual({ kind: 'png', size: '64x64', middles: ['red'] });
    },
  );

  test('removes the metadata of a photo, and rotates it upright', async () => {
    const realm = await newRealm();
    const wide = sharp({ create: { width: 90, height: 30, channels: 3, background: '#d33' } });
    const sideways = await wide
      .withExif({ IFD0: { Copyright: 'secret place' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    await upload(realm, realm.people.member, 'photo', [sideways]);
    const [emoji] = await listed(realm);
    const { bytes } = await fetched(realm, emoji?.source_url ?? '');
    expect(bytes.toString('latin1')).not.toContain('secret place');
    const alpha = await sharp(bytes).extractChannel('alpha').raw().toBuffer();
    // Turned upright it is high and narrow: the middle of the left edge is empty, that of the upper edge is not.
    expect([alpha[32 * 64], alpha[32]]).toEqual([0, 255]);
  });

  const broken: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
    ['text', async () => Buffer.from('not an image')],
    ['nothing', async () => new Uint8Array()],
    ['SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    [
      'a kind of image that is not taken',
      async () => picture('png').then((png) => sharp(png).tiff().toBuffer()),
    ],
    ['a file that is cut short', async () => (await picture('jpeg', 400, 400)).subarray(0, 900)],
    ['a GIF that is cut short', async () => (await movingPicture('gif')).subarray(0, 60)],
    [
      'the beginning of a PNG, and then SVG',
      async () => Buffer.concat([(await picture('png')).subarray(0, 8), Buffer.from('<svg/>')]),
    ],
  ];
  test.each(broken)('refuses %s', async (_, file) => {
    const realm = await newRealm();
    const { status, body } = await upload(realm, realm.people.member, 'party', [await file()]);
    expect([status, body.code]).toEqual([400, 'BAD_IMAGE']);
    expect(body.msg).toBe('The file is not a PNG, GIF, WebP or JPEG image that can be read.');
    expect(await listed(realm)).toEqual([]);
  });

  test('refuses an image whose header has too many pixels, still or moving', async () => {
    const realm = await newRealm();
    const still = await pngThatSays(8_000, 6_000);
    const { status, body } = await upload(realm, realm.people.member, 'huge', [still]);
    expect([status, body.code]).toEqual([400, 'BAD_IMAGE']);
    expect(body.msg).toContain('too many pixels');
    const moving = await upload(realm, realm.people.member, 'huge', [tinyFrames(11, 2_000)]);
    expect([moving.status, moving.body.msg]).toEqual([400, expect.stringContaining('too many pixels')]);
  });

  test('refuses an image of too many frames early, however small they are', async () => {
    const realm = await newRealm();
    for (const frames of [501, 20_000]) {
      const file = tinyFrames(frames);
      expect(file.length).toBeLessThan(5_000_000);
      const { status, body } = await upload(realm, realm.people.member, 'our_film', [file]);
      expect([status, body.code]).toEqual([400, 'BAD_IMAGE']);
      expect(body.msg).toBe('The image has too many frames: at most 500.');
    }
    expect(await listed(realm)).toEqual([]);
    expect((await upload(realm, realm.people.member, 'our_film', [tinyFrames(500)])).status).toBe(200);
  });

  test('accepts exactly one file, of at most 5 MiB (wire facts 2)', async () => {
    const realm = await newRealm();
    const png = await picture('png');
    for (const files of [[], [png, png], [new Uint8Array(5 * 1024 * 1024 + 1)]]) {
      const { status, body } = await upload(realm, realm.people.member, 'party', files);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
    const form = await realm.call(
      add,
      realm.people.member,
      { file: 'text' },
      { path: { emoji_name: 'party' } },
    );
    expect([form.status, form.body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test.each([
    ['  two words ', 'two_words'],
    ['a-b_9', 'a-b_9'],
  ])('stores the name "%s" as %s', async (given, kept) => {
    const realm = await newRealm();
    await upload(realm, realm.people.member, given);
    expect((await listed(realm)).map(({ name }) => name)).toEqual([kept]);
  });

  test.each(['Party', 'pärty', 'a:b', 'ends_', 'ends-', ' ', 'a/b', 'x'.repeat(101)])(
    'refuses the name "%s"',
    async (name) => {
      const realm = await newRealm();
      const { status, body } = await upload(realm, realm.people.member, name);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(await listed(realm)).toEqual([]);
    },
  );

  test('refuses a name that is longer than a key of the table', async () => {
    const realm = await newRealm();
    const { status, body } = await upload(realm, realm.people.member, 'é'.repeat(3_000));
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('lets only administrators override a built-in emoji', async () => {
    const realm = await newRealm();
    for (const name of ['smile', 'zulip']) {
      expect((await upload(realm, realm.people.member, name)).status).toBe(400);
      expect((await upload(realm, realm.people.admin, name)).status).toBe(200);
    }
  });

  test('is allowed to members by the setting, and never to guests', async () => {
    const realm = await newRealm({ can_add_custom_emoji_group: systemGroups.moderators.id });
    for (const [name, status] of [
      ['guest', 400],
      ['member', 400],
      ['moderator', 200],
    ] as const) {
      expect((await upload(realm, realm.people[name], `by_${name}`)).status, name).toBe(status);
    }
  });

  test('gives a name to one of six concurrent requests, and deletes the images of the others', async () => {
    const realm = await newRealm();
    const file = await picture('png');
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => upload(realm.container(), realm.people.member, 'party', [file])),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
    const lost = replies.filter(({ status }) => status === 400).map(({ body }) => body.msg);
    expect(new Set(lost)).toEqual(new Set(["There is already an emoji named 'party'."]));
    expect(await listed(realm)).toHaveLength(1);
  });

  test('gives a name that was freed to a new emoji with a new id (wire facts 11)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await upload(realm, member, 'party');
    await realm.call(deactivate, member, {}, { path: { emoji_name: 'party' } });
    await upload(realm, member, 'party', [await movingPicture('gif')]);
    const [first, second] = await listed(realm);
    expect([first?.deactivated, second?.deactivated]).toEqual([true, false]);
    expect(Number(second?.id)).toBeGreaterThan(Number(first?.id));
    // What is reacted with now is the new one.
    const message = await sent(realm, member, { to: realm.channels.general });
    const reaction = { emoji_name: 'party', emoji_code: second?.id, reaction_type: 'realm_emoji' };
    const path = { message_id: message };
    expect((await realm.call(react, member, { ...reaction, emoji_code: first?.id }, { path })).status).toBe(
      400,
    );
    expect((await realm.call(react, member, reaction, { path })).status).toBe(200);
  });
});
