import { describe, expect, it } from 'vitest';
import { handler as addApns } from '../../functions/push/addApnsToken.ts';
import { handler as addFcm } from '../../functions/push/addFcmToken.ts';
import { handler as removeApns } from '../../functions/push/removeApnsToken.ts';
import { handler as removeFcm } from '../../functions/push/removeFcmToken.ts';
import { doAddLegacyToken, MAX_LEGACY_TOKENS } from '../../shared/domain/push/legacy-token.ts';
import { meanwhile } from '../support/faults.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const TOKEN = 'YXBwbGU=';
const apple = { token: TOKEN, appid: 'org.example.chat' };

const stored = async ({ realm, outside, people }: TestRealm) =>
  (await outside.table.get('legacyTokens', { realm, userId: people.member.userId }))?.tokens ?? [];

describe('tokens of older clients (companion facts 3.11)', () => {
  it('are kept as digests, once, until they are removed', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (const handler of [addApns, addApns, addFcm]) {
      expect((await realm.call(handler, member, apple)).status).toBe(200);
    }
    expect(await stored(realm)).toEqual([
      expect.stringMatching(/^apns:[\w-]{43}$/),
      expect.stringMatching(/^fcm:[\w-]{43}$/),
    ]);
    expect((await realm.call(removeApns, member, { token: TOKEN })).status).toBe(200);
    const again = await realm.call(removeApns, member, { token: TOKEN });
    expect([again.status, again.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect((await realm.call(removeFcm, member, { token: TOKEN })).status).toBe(200);
    expect(await stored(realm)).toEqual([]);
  });

  it.each([
    ['an empty token', addFcm, { token: '' }, 'BAD_REQUEST'],
    ['a token that is too long', addFcm, { token: 'x'.repeat(4_097) }, 'BAD_REQUEST'],
    ['a token of Apple that is not base64', addApns, { ...apple, token: 'a b' }, 'BAD_REQUEST'],
    ['no app', addApns, { token: TOKEN }, 'REQUEST_VARIABLE_MISSING'],
    ['another form of app', addApns, { ...apple, appid: 'a/b' }, 'BAD_REQUEST'],
    ['an unknown token', removeFcm, { token: TOKEN }, 'BAD_REQUEST'],
  ] as const)('are refused: %s', async (_, handler, given, code) => {
    const realm = await newRealm();
    const { status, body } = await realm.call(handler, realm.people.member, given);
    expect([status, body.code]).toEqual([400, code]);
    expect(await stored(realm)).toEqual([]);
  });

  it('are refused for bots', async () => {
    const realm = await newRealm();
    expect((await realm.call(addFcm, realm.people.bot, { token: TOKEN })).body.code).toBe('BAD_REQUEST');
  });

  it('are both kept if two are added at the same time', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const slow = realm.container(meanwhile(() => realm.call(addFcm, member, { token: 'one' })));
    expect((await slow.call(addFcm, member, { token: 'two' })).status).toBe(200);
    expect(await stored(realm)).toHaveLength(2);
  });

  it('are at most 100, and the oldest makes room (docs/LIMITS.md)', () => {
    const tokens = Array.from({ length: MAX_LEGACY_TOKENS }, (_, i) => `fcm:${i}`);
    const [write] = doAddLegacyToken('x', 7, { tokens, version: 1 }, 'fcm:new');
    expect(write).toMatchObject({ item: { tokens: [...tokens.slice(1), 'fcm:new'] } });
  });
});
