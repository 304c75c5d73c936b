import { describe, expect, test } from 'vitest';
import { handler as remove } from '../../functions/files/remove.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { objectKey, UPLOADS } from '../../shared/domain/files/file.ts';
import { givenClient } from '../support/event-queue.ts';
import { ownFiles, uploaded } from '../support/files.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const removing = (realm: TestRealm, as: Person, attachment_id: number | string) =>
  realm.call(remove, as, {}, { path: { attachment_id } });

describe('DELETE /attachments/{attachment_id} (companion facts 1.6)', () => {
  test('removes the file and its bytes, frees its space, and sends its owner an event', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const url = await uploaded(realm, member);
    const client = await givenClient(realm, member, { event_types: ['attachment'] });
    const [file] = (await ownFiles(realm, member)).attachments;
    const { status } = await removing(realm, member, file?.id ?? 0);
    expect(status).toBe(200);
    expect(await ownFiles(realm, member)).toMatchObject({ attachments: [], upload_space_used: 0 });
    const at = objectKey(realm.realm, url.split('/')[4] ?? '');
    expect(await s3Objects(realm.outside.environment).get(UPLOADS, at)).toBeUndefined();
    expect(await client.poll()).toMatchObject([
      { op: 'remove', attachment: { id: file?.id }, upload_space_used: 0 },
    ]);
  });

  test("refuses unknown ids and others' files alike, even to an owner of the organization", async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    await uploaded(realm, member);
    const [file] = (await ownFiles(realm, member)).attachments;
    for (const [who, id] of [
      [owner, file?.id ?? 0],
      [member, 999_999],
      [member, Number.MAX_SAFE_INTEGER],
    ] as const) {
      const { status, body } = await removing(realm, who, id);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
    expect((await removing(realm, member, 'x')).status).toBe(404);
    expect((await ownFiles(realm, member)).attachments).toHaveLength(1);
  });

  test('succeeds for one of two concurrent requests, and counts the space once', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await uploaded(realm, member);
    await uploaded(realm, member);
    const [file] = (await ownFiles(realm, member)).attachments;
    const id = file?.id ?? 0;
    const both = await Promise.all([removing(realm, member, id), removing(realm.container(), member, id)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await ownFiles(realm, member)).upload_space_used).toBe(11);
  });
});
