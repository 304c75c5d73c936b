import { describe, expect, test } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as upload } from '../../functions/files/upload.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { objectKey, UPLOADS } from '../../shared/domain/files/file.ts';
import { givenClient } from '../support/event-queue.ts';
import { note, ownFiles, uploaded, uploading } from '../support/files.ts';
import { picture } from '../support/pictures.ts';
import { newRealm } from '../support/realm.ts';

const MIB = 1024 * 1024;
const MAX = 4 * MIB;

const PATH = /^\/user_uploads\/1\/[0-9a-f]{2}\/([\w-]{24})\/(.+)$/;

describe('POST /user_uploads (companion facts 1.1)', () => {
  test.each(['guest', 'member', 'bot'] as const)('accepts a file from a %s', async (who) => {
    const realm = await newRealm();
    const { status, body } = await uploading(realm, realm.people[who], note);
    expect(status).toBe(200);
    expect(body).toMatchObject({ filename: 'list.txt', url: expect.stringMatching(PATH), uri: body.url });
    const { attachments, upload_space_used } = await ownFiles(realm, realm.people[who]);
    expect(upload_space_used).toBe(11);
    expect(attachments).toEqual([
      {
        id: expect.any(Number),
        name: 'list.txt',
        path_id: body.url.replace('/user_uploads/', ''),
        size: 11,
        create_time: expect.any(Number),
        message_ids: [],
      },
    ]);
    expect(Math.abs((attachments[0]?.create_time ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });

  test('stores the bytes unchanged', async () => {
    const realm = await newRealm();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    const url = await uploaded(realm, realm.people.member, { bytes, name: 'all.bin' });
    const token = PATH.exec(url)?.[1] ?? '';
    const stored = await s3Objects(realm.outside.environment).get(UPLOADS, objectKey(realm.realm, token));
    expect(Buffer.from(stored?.bytes ?? [])).toEqual(bytes);
  });

  test('lists only the files of the caller, oldest first, and returns the space in use by all users', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await uploaded(realm, member, { ...note, name: 'a.txt' });
    await uploaded(realm, member, { ...note, name: 'b.txt' });
    await uploaded(realm, admin, { ...note, name: 'c.txt' });
    const own = await ownFiles(realm, member);
    expect(own.attachments.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
    expect(own.upload_space_used).toBe(33);
    expect((await ownFiles(realm, admin)).attachments.map(({ name }) => name)).toEqual(['c.txt']);
  });

  test('accepts an empty file, and one of exactly the limit, but not one byte more', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { body: state } = await realm.call(register, member, { fetch_event_types: ['realm'] });
    expect(state.max_file_upload_size_mib * MIB).toBe(MAX);
    await uploaded(realm, member, { bytes: new Uint8Array(), name: 'empty' });
    await uploaded(realm, member, { bytes: new Uint8Array(MAX), name: 'full' });
    const { status, body } = await uploading(realm, member, { bytes: new Uint8Array(MAX + 1), name: 'over' });
    expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'A file has at most 4 MiB.']);
    expect((await ownFiles(realm, member)).upload_space_used).toBe(MAX);
  });

  test('answers 413 to a file that is too large for Lambda', async () => {
    const realm = await newRealm();
    const huge = { bytes: new Uint8Array(5 * MIB), name: 'huge' };
    const { status, body } = await uploading(realm, realm.people.member, huge);
    expect([status, body.code]).toEqual([413, 'BAD_REQUEST']);
  });

  test('accepts exactly one file, and ignores other fields', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    expect((await uploading(realm, member)).body.msg).toBe('Send exactly one file.');
    expect((await uploading(realm, member, note, note)).body.msg).toBe('Send exactly one file.');
    const { status } = await realm.call(upload, member, { topic: 'lunch' }, { files: [note] });
    expect(status).toBe(200);
    expect((await ownFiles(realm, member)).attachments).toHaveLength(1);
  });

  const bodies: readonly (readonly [string, string, string])[] = [
    ['a form', 'application/x-www-form-urlencoded', 'file=text'],
    ['no boundary', 'multipart/form-data', '--x\r\n\r\nhello\r\n--x--'],
    ['a boundary that does not come', 'multipart/form-data; boundary=x', '--y\r\n\r\nhello\r\n--y--'],
    [
      'an end that does not come',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\nhello',
    ],
    ['JSON', 'application/json', '{"file":"hello"}'],
    ['nothing', 'multipart/form-data; boundary=x', ''],
  ];
  test.each(bodies)('refuses %s as a body', async (_, contentType, body) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const event = {
      headers: {
        host: realm.host,
        'content-type': contentType,
        authorization: `Basic ${Buffer.from(`${member.email}:${member.apiKey}`).toString('base64')}`,
      },
      body,
    };
    const reply = await upload.with(realm.outside)(event as never);
    expect([reply.statusCode, JSON.parse(reply.body).code]).toEqual([400, 'BAD_REQUEST']);
    expect((await ownFiles(realm, member)).attachments).toEqual([]);
  });

  const names: readonly (readonly [given: string, stored: string, inPath: string])[] = [
    ['photo of me.JPG', 'photo of me.JPG', 'photo-of-me.JPG'],
    ['../../etc/passwd', 'passwd', 'passwd'],
    ['C:\\Users\\me\\plan.doc', 'plan.doc', 'plan.doc'],
    ['..', '..', 'uploaded-file'],
    ['Zürich – straße.pdf', 'Zürich – straße.pdf', 'Zürich-straße.pdf'],
    ['一覧 表.txt', '一覧 表.txt', '一覧-表.txt'],
    ['a%20b.txt', 'a b.txt', 'a-b.txt'],
    ['100%.txt', '100%.txt', '100.txt'],
    ['bell\u0007tab\tname.txt', 'belltabname.txt', 'belltabname.txt'],
    ['invoice\u202Egpj.exe', 'invoicegpj.exe', 'invoicegpj.exe'],
    ['<script>alert(1)</script>.html', 'script>.html', 'script.html'],
    [' ', 'uploaded-file', 'uploaded-file'],
    ['/', 'uploaded-file', 'uploaded-file'],
    ['?#', '?#', 'uploaded-file'],
    [`${'x'.repeat(1000)}.tar.gz`, `${'x'.repeat(252)}.gz`, `${'x'.repeat(252)}.gz`],
    ['𝒳'.repeat(300), '𝒳'.repeat(255), 'X'.repeat(255)],
  ];
  test.each(names)('gives a file that was sent as %j a harmless name', async (given, stored, inPath) => {
    const realm = await newRealm();
    const { body } = await uploading(realm, realm.people.member, { ...note, name: given });
    expect([body.filename, PATH.exec(body.url)?.[2]]).toEqual([stored, inPath]);
  });

  test('detects the type from the bytes, and never displays files whose type they do not show', async () => {
    const realm = await newRealm();
    const png = await picture('png');
    const html = Buffer.from('<html><script>alert(1)</script></html>');
    const cases: readonly (readonly [bytes: Uint8Array, name: string, type: string, served: string])[] = [
      [png, 'a.png', 'image/png', 'image/png'],
      [png, 'a.html', 'text/html', 'image/png'],
      [Buffer.concat([png.subarray(0, 8), html]), 'a.html', 'text/html', 'image/png'],
      [html, 'a.png', 'image/png', 'application/octet-stream'],
      [html, 'a.html', 'text/html', 'text/html'],
      [html, 'a.html', '', 'text/html'],
      [Buffer.from('<svg/>'), 'a.svg', 'image/svg+xml', 'image/svg+xml'],
      [html, 'a.txt', 'text/plain; charset=utf-8', 'text/plain'],
      [html, 'a', 'no type\r\nX-Header: 1', 'application/octet-stream'],
      [Buffer.from('%PDF-1.7'), 'a.pdf', '', 'application/pdf'],
      [Buffer.from('xxxxftypM4A xx'), 'a.m4a', 'audio/x-m4a', 'audio/mp4'],
      [Buffer.from('xxxxftypisomxx'), 'a.mp4', 'video/mp4', 'video/mp4'],
      [Buffer.from('xxxxftypisomxx'), 'a.m4a', 'audio/mp4', 'audio/mp4'],
    ];
    for (const [bytes, name, type, served] of cases) {
      const url = await uploaded(realm, realm.people.member, { bytes, name, type });
      const file = await realm.outside.table.get('file', {
        realm: realm.realm,
        token: PATH.exec(url)?.[1] ?? '',
      });
      expect([name, type, file?.contentType]).toEqual([name, type, served]);
    }
  });

  test('respects the quota of the operator, also for two concurrent uploads', async () => {
    const environment = { UPLOAD_QUOTA_MIB: '1' };
    const realm = (await newRealm()).container(undefined, { environment });
    const { member } = realm.people;
    const { body: state } = await realm.call(register, member, { fetch_event_types: ['realm'] });
    expect(state.realm_upload_quota_mib).toBe(1);
    const half = { bytes: new Uint8Array(MIB / 2), name: 'half' };
    await uploaded(realm, member, half);
    const other = realm.container(undefined, { environment });
    const both = await Promise.all([uploading(realm, member, half), uploading(other, member, half)]);
    expect(both.map(({ body }) => body.code ?? 'taken').sort()).toEqual(['REALM_UPLOAD_QUOTA', 'taken']);
    const { attachments, upload_space_used } = await ownFiles(realm, member);
    expect([attachments.length, upload_space_used]).toEqual([2, MIB]);
    const { body } = await uploading(realm, member, { bytes: new Uint8Array(1), name: 'one' });
    expect(body).toMatchObject({ result: 'error', code: 'REALM_UPLOAD_QUOTA' });
  });

  test('has no quota unless the operator sets one', async () => {
    const realm = await newRealm();
    const { body } = await realm.call(register, realm.people.member, { fetch_event_types: ['realm'] });
    expect(body.realm_upload_quota_mib).toBeNull();
  });

  test('sends the owner of the file an event with the space in use (companion facts 1.6)', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const [mine, others] = [
      await givenClient(realm, member, { event_types: ['attachment'] }),
      await givenClient(realm, owner, { event_types: ['attachment'] }),
    ];
    await uploaded(realm, member);
    const [event] = await mine.poll();
    const { attachments } = await ownFiles(realm, member);
    expect(event).toMatchObject({
      type: 'attachment',
      op: 'add',
      attachment: attachments[0],
      upload_space_used: 11,
    });
    expect(await others.poll()).toEqual([]);
  });
});
