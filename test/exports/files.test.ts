import { expect, test } from 'vitest';
import { MAX_UPLOADS } from '../../shared/domain/export/request.ts';
import { key } from '../../shared/table/keys.ts';
import { asked, exported } from '../support/export-request.ts';
import { linkTo, uploaded } from '../support/files.ts';
import { givenChannel } from '../support/given.ts';
import { update } from '../support/message-update.ts';
import { sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';
import { workOf } from '../support/work-queue.ts';

/** An organization with files in a public and in a private channel, and one that nobody sent. */
async function givenFiles() {
  const realm = await newRealm();
  await Promise.all([workOf(realm, 'outbox'), workOf(realm, 'export')]);
  const { member, owner } = realm.people;
  const secret = await givenChannel(realm, { isPrivate: true }, [member]);
  const file = (name: string) => uploaded(realm, member, { bytes: Buffer.from(`the ${name}`), name });
  const [open, closed, dropped] = [await file('../open.txt'), await file('closed'), await file('dropped')];
  await file('unsent');
  const id = await sent(realm, member, { to: realm.channels.general }, linkTo(open, dropped));
  const other = await sent(realm, owner, { to: realm.channels.general }, linkTo(open));
  await sent(realm, member, { to: secret.channelId }, linkTo(closed, open));
  await update(realm, member, id, { content: linkTo(open) });
  return { realm, id, other, open };
}

test('a public export holds the files of public messages, under harmless names (4.8/public)', async () => {
  const { realm, id, other, open } = await givenFiles();
  const { records, others, text } = await exported(realm, 'public');
  expect(records.attachments).toEqual([
    {
      id: expect.any(Number),
      user_id: realm.people.member.userId,
      name: 'open.txt',
      path_id: open.replace('/user_uploads/', ''),
      size: 15,
      content_type: 'text/plain',
      create_time: expect.any(Number),
      message_ids: [id, other],
      file: expect.stringMatching(/^attachments\/files\/\d+$/),
    },
  ]);
  expect(others.get(String(records.attachments?.[0]?.file))?.toString()).toBe('the ../open.txt');
  for (const hidden of ['the closed', 'the dropped', 'the unsent']) expect(text).not.toContain(hidden);
});

test('a full export holds all files', async () => {
  const { realm } = await givenFiles();
  const { records, others } = await exported(realm, 'full_without_consent');
  expect(records.attachments?.map(({ name }) => name)).toEqual(['open.txt', 'closed', 'dropped', 'unsent']);
  const texts = records.attachments?.map(({ file }) => others.get(String(file))?.toString());
  expect(texts).toEqual(['the ../open.txt', 'the closed', 'the dropped', 'the unsent']);
});

test('too many bytes of files make an export too large (4.8/too-large, wire facts 2)', async () => {
  const realm = await newRealm();
  await workOf(realm, 'export');
  const space = key('uploadSpace', { realm: realm.realm });
  await realm.outside.table.update(space, { set: { used: MAX_UPLOADS } });
  expect((await asked(realm, realm.people.admin)).status).toBe(200);
  await realm.outside.table.update(space, { add: { used: 1 } });
  const { status, body } = await asked(realm, realm.people.admin);
  expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', expect.stringContaining('manual')]);
});
