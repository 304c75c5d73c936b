import { describe, expect, test } from 'vitest';
import { handler as deactivate } from '../../functions/emoji/deactivate.ts';
import { handler as list } from '../../functions/emoji/list.ts';
import { fetched, listed, upload } from '../support/emoji.ts';
import { newRealm } from '../support/realm.ts';

describe('GET /realm/emoji (4.10)', () => {
  test('lists nothing if there are no custom emoji (4.10/parameters)', async () => {
    const realm = await newRealm();
    expect((await realm.call(list, realm.people.guest)).body).toEqual({
      result: 'success',
      msg: '',
      emoji: {},
    });
  });

  test('lists all emoji by their ids, deactivated ones too, to any user of the organization (4.10/emoji, 2.8/id, 2.8/deactivated)', async () => {
    const realm = await newRealm();
    const other = await newRealm();
    await upload(realm, realm.people.member, 'earliest');
    await upload(realm, realm.people.admin, 'second');
    await realm.call(deactivate, realm.people.member, {}, { path: { emoji_name: 'earliest' } });
    const { emoji } = (await realm.call(list, realm.people.bot)).body;
    const [one, two] = await listed(realm);
    expect(emoji).toEqual({ [one?.id ?? '']: one, [two?.id ?? '']: two });
    expect([one?.name, one?.deactivated, two?.name, two?.deactivated]).toEqual([
      'earliest',
      true,
      'second',
      false,
    ]);
    expect(await listed(other)).toEqual([]);
    expect((await realm.call(list, undefined)).status).toBe(401);
  });
});

describe('the images (2.8)', () => {
  test('answer 404 for an organization whose name is longer than a key of the bucket', async () => {
    const path = `/user_avatars/${'a'.repeat(2_000)}/emoji/images/${'0'.repeat(32)}.png`;
    expect((await fetched(await newRealm(), path)).status).toBe(404);
  });

  test.each([
    ['a file that is not there', `${'0'.repeat(32)}.png`],
    ['another kind of file', `${'0'.repeat(32)}.svg`],
    ['a way out of the folder', '../../../secret.png'],
  ])('answer 404 in the envelope for %s', async (_, file) => {
    const realm = await newRealm();
    const answer = await fetched(
      realm,
      `/user_avatars/${realm.realm}/emoji/images/${encodeURIComponent(file)}`,
    );
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.bytes.toString())).toMatchObject({ result: 'error', code: 'BAD_REQUEST' });
  });
});
