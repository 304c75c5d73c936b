import { describe, expect, test } from 'vitest';
import { handler as removeAttachment } from '../../functions/files/remove.ts';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as cleanup } from '../../functions/workers/retention.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { removeUnusedFiles } from '../../shared/domain/files/cleanup.ts';
import { objectKey, UPLOADS } from '../../shared/domain/files/file.ts';
import { unusedAt, unusedKey } from '../../shared/domain/files/unused.ts';
import { givenClient } from '../support/event-queue.ts';
import { linkTo, ownFiles, uploaded } from '../support/files.ts';
import { sent } from '../support/messages.ts';
import { workedOff } from '../support/outbox.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { DAY, runner } from '../support/retention-run.ts';
import { workOf } from '../support/work-queue.ts';
import { runSchedule } from '../support/worker-run.ts';

/** Runs the worker once; tells the container. */
async function run(realm: TestRealm): Promise<TestRealm> {
  const container = runner(realm);
  await runSchedule(container, cleanup);
  return container;
}

const tokenIn = (url: string): string => url.split('/')[4] ?? '';

const bytesOf = (realm: TestRealm, token: string) =>
  s3Objects(realm.outside.environment).get(UPLOADS, objectKey(realm.realm, token));

const entries = async ({ outside, realm }: TestRealm) =>
  (await outside.table.all('unusedFile', {})).filter((entry) => entry.realm === realm);

describe('cleanup of files (companion facts 1.3)', () => {
  test('removes a file that was never used after five weeks, not a day earlier, and tells its owner', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const url = await uploaded(realm, member);
    realm.pass(34 * DAY);
    await run(realm);
    expect((await ownFiles(realm, member)).attachments).toHaveLength(1);
    realm.pass(2 * DAY);
    const client = await givenClient(realm, member, { event_types: ['attachment'] });
    await run(realm);
    expect(await ownFiles(realm, member)).toMatchObject({ attachments: [], upload_space_used: 0 });
    expect(await bytesOf(realm, tokenIn(url))).toBeUndefined();
    expect(await client.poll()).toMatchObject([{ op: 'remove', upload_space_used: 0 }]);
    await run(realm);
    expect(await entries(realm)).toEqual([]);
  });

  test('keeps files that messages link, and removes them five weeks after the last one is deleted', async () => {
    const realm = await newRealm();
    await workOf(realm, 'outbox');
    const { member, owner } = realm.people;
    const url = await uploaded(realm, member);
    const to = { to: realm.channels.general };
    const ids = [await sent(realm, member, to, linkTo(url)), await sent(realm, member, to, linkTo(url))];
    realm.pass(100 * DAY);
    await run(realm);
    expect(await entries(realm)).toEqual([]);
    for (const message_id of ids) {
      await realm.call(deleteMessage, owner, {}, { path: { message_id } });
      await workedOff(realm);
      realm.pass(20 * DAY);
      await run(realm);
      expect((await ownFiles(realm, member)).attachments).toHaveLength(1);
    }
    realm.pass(16 * DAY);
    await run(realm);
    expect((await ownFiles(realm, member)).attachments).toEqual([]);
  });

  test('checks again whether the file was used in between', async () => {
    const realm = await newRealm();
    await workOf(realm, 'outbox');
    const { member, owner } = realm.people;
    const url = await uploaded(realm, member);
    realm.pass(30 * DAY);
    const message_id = await sent(realm, member, { to: realm.channels.general }, linkTo(url));
    await realm.call(deleteMessage, owner, {}, { path: { message_id } });
    await workedOff(realm);
    realm.pass(10 * DAY);
    await run(realm);
    expect((await ownFiles(realm, member)).attachments).toHaveLength(1);
    expect(await entries(realm)).toHaveLength(1);
    realm.pass(26 * DAY);
    await run(realm);
    expect((await ownFiles(realm, member)).attachments).toEqual([]);
  });

  test('removes bytes left by an interrupted upload or removal', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { table, environment, now } = realm.outside;
    const objects = s3Objects(environment);
    const entry = unusedAt(realm.realm, 'a'.repeat(24), now());
    await table.put(unusedKey(entry), { ...entry });
    await objects.put(UPLOADS, objectKey(realm.realm, entry.token), Buffer.from('x'), 'text/plain');
    const url = await uploaded(realm, member);
    const [file] = (await ownFiles(realm, member)).attachments;
    await realm.call(removeAttachment, member, {}, { path: { attachment_id: file?.id ?? 0 } });
    await objects.put(UPLOADS, objectKey(realm.realm, tokenIn(url)), Buffer.from('x'), 'text/plain');
    await run(realm);
    expect(await bytesOf(realm, tokenIn(url))).toBeUndefined();
    expect(await bytesOf(realm, entry.token)).toBeDefined();
    realm.pass(36 * DAY);
    await run(realm);
    expect(await bytesOf(realm, entry.token)).toBeUndefined();
    expect(await entries(realm)).toEqual([]);
  });

  test('costs one read while there is nothing to do', async () => {
    const realm = await newRealm();
    await uploaded(realm, realm.people.member);
    const { outside, meter } = runner(realm);
    await removeUnusedFiles(outside, s3Objects(outside.environment), outside.now() + 60_000);
    expect([meter.roundTrips, meter.writeUnits]).toEqual([1, 0]);
  });
});
