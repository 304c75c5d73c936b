import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as getThumbnail } from '../../functions/files/getThumbnail.ts';
import { handler as getStatus } from '../../functions/files/getThumbnailStatus.ts';
import { handler as removeAttachment } from '../../functions/files/remove.ts';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as render } from '../../functions/messages/render.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { UPLOADS } from '../../shared/domain/files/file.ts';
import { ANIMATED, STILL, thumbnailKey } from '../../shared/domain/files/thumbnail.ts';
import { gotten, ownFiles, pathOf, uploaded } from '../support/files.ts';
import { givenRealmSettings } from '../support/given.ts';
import { update } from '../support/message-update.ts';
import { sent } from '../support/messages.ts';
import { movingPicture, picture, pngThatSays, tinyFrames } from '../support/pictures.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const uploadedImage = (realm: TestRealm, as: Person, bytes: Uint8Array, name = 'cat.png'): Promise<string> =>
  uploaded(realm, as, { bytes, name, type: 'image/png' });

const thumbnail = (realm: TestRealm, as: Person | undefined, url: string, format: string = STILL) =>
  gotten(realm, as, `/user_uploads/thumbnail${url.replace('/user_uploads', '')}`, {
    handler: getThumbnail,
    path: { ...pathOf(url), format },
  });

const hasThumbnail = async (realm: TestRealm, as: Person, url: string): Promise<boolean> => {
  const { status, body } = await realm.call(getStatus, as, {}, { path: pathOf(url) });
  expect(status, body.msg).toBe(200);
  return body.has_thumbnail;
};

const shapeOf = async (bytes: Uint8Array) => {
  const { format, width, height, pages } = await sharp(bytes).metadata();
  return [format, width, height, pages];
};

const contentOf = async (realm: TestRealm, as: Person, message_id: number): Promise<string> =>
  (await realm.call(getMessage, as, {}, { path: { message_id } })).body.message.content;

describe('thumbnails of uploaded images', () => {
  test.each(['png', 'jpeg', 'gif', 'webp'] as const)(
    'are made of %s, as large as the bounding box allows',
    async (format) => {
      const realm = await newRealm();
      const { member } = realm.people;
      const url = await uploadedImage(realm, member, await picture(format, 1000, 400));
      expect(await hasThumbnail(realm, member, url)).toBe(true);
      const { status, headers, bytes } = await thumbnail(realm, member, url);
      expect(status).toBe(200);
      expect(await shapeOf(bytes)).toEqual(['webp', 840, 336, undefined]);
      expect(headers).toMatchObject({
        'Content-Type': 'image/webp',
        'Content-Disposition': expect.stringMatching(/^inline; /),
        'Cache-Control': 'private, max-age=3600, immutable',
        'Content-Security-Policy': expect.stringMatching(/; sandbox$/),
      });
    },
  );

  test('are made of AVIF, upright and without metadata', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const avif = await sharp(await picture('png', 90, 30))
      .avif()
      .toBuffer();
    expect(
      await shapeOf((await thumbnail(realm, member, await uploadedImage(realm, member, avif))).bytes),
    ).toEqual(['webp', 90, 30, undefined]);
    const photo = await sharp(await picture('jpeg', 90, 30))
      .withExif({ IFD0: { Copyright: 'secret place' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const url = await uploadedImage(realm, member, photo);
    const { bytes } = await thumbnail(realm, member, url);
    expect(bytes.toString('latin1')).not.toContain('secret place');
    expect(await shapeOf(bytes)).toEqual(['webp', 30, 90, undefined]);
    const { body } = await realm.call(render, member, { content: `[a](${url})` });
    expect(body.rendered).toContain('data-original-dimensions="30x90"');
  });

  test('are animated if the image is, and can be requested still, animated, or in formats of other releases', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { body: state } = await realm.call(register, member, { fetch_event_types: ['realm'] });
    expect(state.server_thumbnail_formats).toEqual([
      { name: ANIMATED, max_width: 840, max_height: 560, format: 'webp', animated: true },
      { name: STILL, max_width: 840, max_height: 560, format: 'webp', animated: false },
    ]);
    const film = await uploadedImage(realm, member, await movingPicture('gif'));
    const photo = await uploadedImage(realm, member, await picture('png', 80, 80));
    for (const [url, format, frames] of [
      [film, ANIMATED, 3],
      [film, '300x200-anim.jpg', 3],
      [film, STILL, undefined],
      [film, '100x75.jpg', undefined],
      [photo, ANIMATED, undefined],
    ] as const) {
      expect(await shapeOf((await thumbnail(realm, member, url, format)).bytes)).toEqual([
        'webp',
        80,
        80,
        frames,
      ]);
    }
    for (const format of ['x', '840x560', '840x560.webp.exe', '..', '840x560-anim', '1'.repeat(99)]) {
      expect((await thumbnail(realm, member, film, format)).status, format).toBe(404);
    }
  });

  const noImages: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
    ['text', async () => Buffer.from('not an image')],
    ['SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ['an image that is cut short', async () => (await picture('jpeg', 400, 400)).subarray(0, 900)],
    ['a GIF that is cut short', async () => (await movingPicture('gif')).subarray(0, 60)],
    [
      'the beginning of a PNG, and then SVG',
      async () => Buffer.concat([(await picture('png')).subarray(0, 8), Buffer.from('<svg/>')]),
    ],
    ['a PNG that says it is huge', () => pngThatSays(8_000, 6_000)],
    [
      'the beginning of AVIF, and then nothing',
      async () => Buffer.from('\0\0\0\x1cftypavif\0\0\0\0', 'latin1'),
    ],
    ['the beginning of a WebP image', async () => Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1')],
  ];
  test.each(noImages)(
    'are not made of %s, whose file is stored and whose links stay links',
    async (_, file) => {
      const realm = await newRealm();
      const { member } = realm.people;
      const bytes = await file();
      const url = await uploadedImage(realm, member, bytes);
      expect((await gotten(realm, member, url)).bytes.equals(Buffer.from(bytes))).toBe(true);
      expect(await hasThumbnail(realm, member, url)).toBe(false);
      const missing = await thumbnail(realm, member, url);
      expect(missing.status).toBe(404);
      const { body } = await realm.call(render, member, { content: `[a](${url})` });
      expect(body.rendered).toBe(`<p><a href="${url}">a</a></p>`);
    },
  );

  test.each([
    ['of very many frames', 600, 1],
    ['whose frames have too many pixels together', 11, 2_000],
  ])('of an animation in %s show its first frame', async (_, frames, size) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const url = await uploadedImage(realm, member, tinyFrames(frames, size));
    const { bytes } = await thumbnail(realm, member, url, ANIMATED);
    expect((await shapeOf(bytes))[3]).toBeUndefined();
    const { body } = await realm.call(render, member, { content: `[a](${url})` });
    expect(body.rendered).toContain(`/${STILL}"`);
    expect(body.rendered).not.toContain('data-animated');
  });

  test('are served to users who may get the file, checked at each request', async () => {
    const realm = await newRealm();
    const { member, guest, owner } = realm.people;
    const url = await uploadedImage(realm, member, await picture('png'));
    const status = async (as: Person | undefined) => (await thumbnail(realm, as, url)).status;
    expect([await status(member), await status(guest), await status(owner)]).toEqual([200, 403, 403]);
    expect(await status(undefined)).toBe(302);
    expect((await realm.call(getStatus, guest, {}, { path: pathOf(url) })).status).toBe(403);
    const id = await sent(realm, member, { to: realm.channels.general }, `[a](${url})`);
    expect([await status(guest), await hasThumbnail(realm, guest, url)]).toEqual([200, true]);
    await update(realm, member, id, { content: 'gone' });
    expect(await status(guest)).toBe(403);
    expect((await thumbnail(realm, member, `${url}x`)).status).toBe(404);
  });

  test('are removed with the file', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const url = await uploadedImage(realm, member, await movingPicture('gif'));
    const objects = s3Objects(realm.outside.environment);
    const stored = () =>
      Promise.all(
        [STILL, ANIMATED].map(async (name) => {
          const key = thumbnailKey(realm.realm, pathOf(url).token, name);
          return (await objects.get(UPLOADS, key)) !== undefined;
        }),
      );
    expect(await stored()).toEqual([true, true]);
    const [file] = (await ownFiles(realm, member)).attachments;
    await realm.call(removeAttachment, member, {}, { path: { attachment_id: file?.id ?? 0 } });
    expect(await stored()).toEqual([false, false]);
    expect((await thumbnail(realm, member, url)).status).toBe(404);
  });
});

describe('a message that links to an image', () => {
  const previewOf = (url: string, format = STILL) =>
    `<div class="message_inline_image"><a href="${url}" title="cat">` +
    `<img data-original-content-type="image/png" data-original-dimensions="200x100" ` +
    `src="${url.replace('/user_uploads', '/user_uploads/thumbnail')}/${format}"></a></div>`;

  test('shows it, wherever the text is rendered', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const url = await uploadedImage(realm, member, await picture('png'));
    const content = `look: [cat](${url})`;
    const html = `<p>look: <a href="${url}">cat</a></p>\n${previewOf(url)}`;
    expect((await realm.call(render, member, { content })).body.rendered).toBe(html);
    const id = await sent(realm, member, { to: realm.channels.general }, content);
    expect(await contentOf(realm, member, id)).toBe(html);
    const direct = await sent(realm, member, { people: [realm.people.admin] }, 'nothing');
    await update(realm, member, direct, { content });
    expect(await contentOf(realm, realm.people.admin, direct)).toBe(html);
    await update(realm, member, direct, { content: 'nothing' });
    expect(await contentOf(realm, member, direct)).toBe('<p>nothing</p>');
  });

  test('does not show one that its sender may not get', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const url = await uploadedImage(realm, member, await picture('png'));
    const id = await sent(realm, admin, { to: realm.channels.general }, `[cat](${url})`);
    expect(await contentOf(realm, admin, id)).toBe(`<p><a href="${url}">cat</a></p>`);
    const { body } = await realm.call(render, admin, { content: `[cat](${url})` });
    expect(body.rendered).not.toContain('message_inline_image');
  });

  test('does not show it if the organization turned that off (`inline_image_preview`)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const url = await uploadedImage(realm, member, await picture('png'));
    await givenRealmSettings(realm, { inline_image_preview: false });
    const content = `[cat](${url})`;
    expect((await realm.call(render, member, { content })).body.rendered).not.toContain('<img');
    const id = await sent(realm, member, { to: realm.channels.general }, content);
    expect(await contentOf(realm, member, id)).not.toContain('<img');
    expect(await hasThumbnail(realm, member, url)).toBe(true);
  });
});
