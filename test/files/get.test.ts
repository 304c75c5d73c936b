import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { handler as createLink } from '../../functions/files/createTemporaryLink.ts';
import { handler as download } from '../../functions/files/download.ts';
import { handler as getTemporary } from '../../functions/files/getTemporary.ts';
import { POLICY } from '../../shared/pages/style.ts';
import { prefersPicture } from '../../shared/serve/stored-file.ts';
import { gotten, linkTo, note, uploaded } from '../support/files.ts';
import { sent } from '../support/messages.ts';
import { picture } from '../support/pictures.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const HTML = Buffer.from('<html><script>alert(1)</script></html>');
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const IMAGE = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8';

const session = ({ email, apiKey }: Person): string =>
  `parlance-session=${Buffer.from(`${email}:${apiKey}`).toString('base64url')}`;

describe('GET /user_uploads/{realm_id}/{path} (companion facts 1.4)', () => {
  test.each([
    ['text/plain', note.bytes, 'inline'],
    ['image/png', undefined, 'inline'],
    ['application/pdf', Buffer.from('%PDF-1.7'), 'inline'],
    ['text/html', HTML, 'attachment'],
    ['image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'), 'attachment'],
    ['application/xml', Buffer.from('<x/>'), 'attachment'],
    ['application/xhtml+xml', HTML, 'attachment'],
    ['text/javascript', Buffer.from('alert(1)'), 'attachment'],
    ['application/octet-stream', Buffer.from([0, 1]), 'attachment'],
  ])('serves %s so that no script in it can run', async (type, given, disposition) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const bytes = given ?? (await picture('png'));
    const url = await uploaded(realm, member, { bytes, name: 'a "name".x', type });
    const { status, headers, bytes: served } = await gotten(realm, member, url);
    expect([status, served.equals(bytes)]).toEqual([200, true]);
    expect(headers).toMatchObject({
      'Content-Type': type,
      'Content-Disposition': `${disposition}; filename="a _name_.x"; filename*=UTF-8''a%20%22name%22.x`,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'private, max-age=3600, immutable',
    });
    expect(headers['Content-Security-Policy']).toContain("default-src 'none'");
    if (type !== 'application/pdf') expect(headers['Content-Security-Policy']).toMatch(/; sandbox$/);
    const stored = await gotten(realm, member, url, { handler: download });
    expect(stored.headers['Content-Disposition']).toMatch(/^attachment; /);
  });

  test('accepts the session of a browser too', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const url = await uploaded(realm, member);
    const as = (person: Person) => gotten(realm, undefined, url, { headers: { cookie: session(person) } });
    expect((await as(member)).status).toBe(200);
    expect((await as(admin)).status).toBe(403);
  });

  test('answers for a missing file with a page, or with a picture to requests for images', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const url = await uploaded(realm, member);
    for (const missing of [
      url.replace(/[\w-]{24}/, 'x'.repeat(24)),
      `${url}x`,
      url.replace('/1/', '/2/'),
      '/user_uploads/1/..%2f/x/y',
    ]) {
      const page = await gotten(realm, member, missing, { headers: { accept: BROWSER } });
      expect([page.status, page.headers['Content-Type'], page.headers.Vary]).toEqual([
        404,
        'text/html; charset=utf-8',
        'Accept',
      ]);
      // Otherwise a browser shows the page without its style.
      expect(page.headers['Content-Security-Policy']).toBe(POLICY);
      const image = await gotten(realm, member, missing, { headers: { accept: IMAGE } });
      expect([image.status, image.headers['Content-Type']]).toEqual([404, 'image/png']);
      expect((await sharp(image.bytes).metadata()).format).toBe('png');
    }
  });

  test('answers 403 to users who may not see it, and redirects others to the sign-in', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const url = await uploaded(realm, member);
    const get = (as: Person | undefined, accept: string) => gotten(realm, as, url, { headers: { accept } });
    expect((await get(owner, BROWSER)).status).toBe(403);
    expect((await get(owner, IMAGE)).headers['Content-Type']).toBe('image/png');
    const stranger = await get(undefined, BROWSER);
    expect([stranger.status, stranger.headers.Location]).toEqual([
      302,
      `http://${realm.host}/login/?next=${encodeURIComponent(url)}`,
    ]);
    expect([(await get(undefined, IMAGE)).status, (await get(undefined, IMAGE)).bytes.length > 0]).toEqual([
      403,
      true,
    ]);
    const wrong = await get({ ...member, apiKey: 'x'.repeat(32) }, BROWSER);
    expect([wrong.status, JSON.parse(wrong.bytes.toString()).code]).toEqual([401, 'UNAUTHORIZED']);
  });

  test('does not count for the rate limit', async () => {
    const realm = (await newRealm()).container(undefined, { environment: { API_RATE_LIMIT: '1' } });
    const { member } = realm.people;
    const url = await uploaded(realm, member);
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await gotten(realm, member, url);
      expect([status, headers['X-RateLimit-Limit']]).toEqual([200, undefined]);
    }
  });

  test('takes at most three round trips for a file that another user sent', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const url = await uploaded(realm, member);
    await sent(realm, member, { to: realm.channels.general }, linkTo(url));
    await gotten(realm, guest, url);
    realm.meter.reset();
    await gotten(realm, guest, url);
    expect(realm.meter.roundTrips).toBe(2);
  });

  test.each([
    ['', false],
    ['*/*', false],
    ['image/png', true],
    ['text/html, image/png', false],
    ['text/html;q=0.5, image/*', true],
    [BROWSER, false],
    [IMAGE, true],
    ['image/png;q=nonsense', false],
  ])('answers a request that accepts %j with a picture: %s', (accept, is) => {
    expect(prefersPicture(accept)).toBe(is);
  });
});

describe('GET /api/v1/user_uploads/{realm_id}/{path} (companion facts 1.5)', () => {
  const asking = (realm: TestRealm, as: Person, url: string) => {
    const [realm_id = '', shard = '', token = '', name = ''] = url.split('/').slice(-4);
    return realm.call(createLink, as, {}, { path: { realm_id, shard, token, name } });
  };
  const opened = async (realm: TestRealm, url: string) => {
    const [secret = '', filename = ''] = url.split('/').slice(-2);
    return realm.call(getTemporary, undefined, {}, { path: { secret, filename } });
  };

  test('returns a URL that works without credentials for a minute', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const url = await uploaded(realm, member, { ...note, name: 'my list.txt' });
    const { body } = await asking(realm, member, url);
    expect(body.url).toMatch(/^\/user_uploads\/temporary\/[0-9A-F]+\/my-list\.txt$/);
    const reply = await opened(realm, body.url);
    expect([reply.status, Buffer.from(reply.body, 'base64').toString()]).toEqual([200, 'milk, bread']);
    expect(reply.headers['Content-Type']).toBe('text/plain');
    const { body: other } = await opened(realm, body.url.replace('my-list', 'other'));
    expect(other).toMatchObject({ code: 'BAD_REQUEST' });
    realm.pass(61_000);
    expect(await opened(realm, body.url)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect((await opened(realm, '/user_uploads/temporary/FF/x')).status).toBe(400);
  });

  test('refuses users who may not see the file, and paths without a file', async () => {
    const realm = await newRealm();
    const url = await uploaded(realm, realm.people.member);
    expect((await asking(realm, realm.people.owner, url)).status).toBe(403);
    expect((await asking(realm, realm.people.member, `${url}x`)).status).toBe(404);
  });
});
