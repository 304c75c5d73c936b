import { describe, expect, it } from 'vitest';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as regenerate } from '../../functions/users/regenerateKey.ts';
import { answer, withKey } from '../support/accounts.ts';
import { lost, mishaps, unheard } from '../support/faults.ts';
import { newRealm, type Reply } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

describe('POST /users/me/api_key/regenerate', () => {
  it('returns a new key, and the old one stops working at once, in a warm container too', async () => {
    const { call, people } = await newRealm();
    expect((await call(getOwn, people.member)).status).toBe(200);
    const reply = await call(regenerate, people.member);
    expect(reply.body).toEqual({
      result: 'success',
      msg: '',
      api_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
    });
    expect(answer(await call(getOwn, people.member))).toEqual([401, 'UNAUTHORIZED']);
    expect(answer(await call(regenerate, people.member))).toEqual([401, 'UNAUTHORIZED']);
    expect((await call(getOwn, withKey(people.member, reply))).status).toBe(200);
  });

  it('refuses bots', async () => {
    const { call, people } = await newRealm();
    expect(answer(await call(regenerate, people.bot))).toEqual([400, 'BAD_REQUEST']);
    expect((await call(getOwn, people.bot)).status).toBe(200);
  });

  it('returns one key for two concurrent requests, and the other is unauthorized', async () => {
    const realm = await newRealm();
    const { guest } = realm.people;
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => realm.container().call(regenerate, guest)),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    const winner = replies.find(({ status }) => status === 200) as Reply;
    expect((await realm.call(getOwn, withKey(guest, winner))).status).toBe(200);
  });

  it.each([
    ['is lost', [lost]],
    ['works unheard', [unheard]],
    ['works unheard twice', [unheard, unheard]],
  ])('returns the key that is stored when the first try %s', async (_, transact) => {
    const realm = await newRealm();
    const reply = await realm.container(mishaps({ transact })).call(regenerate, realm.people.owner);
    expect(reply.status).toBe(200);
    expect((await realm.call(getOwn, withKey(realm.people.owner, reply))).status).toBe(200);
  });

  it('takes one number of the log, which wakes the waiting polls of the account', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    await realm.call(regenerate, realm.people.owner);
    expect(await lastNumber(realm)).toBe(before + 1);
  });
});
