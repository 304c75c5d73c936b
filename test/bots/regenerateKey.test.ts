import { describe, expect, it } from 'vitest';
import { handler as regenerateBotKey } from '../../functions/bots/regenerateKey.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { answer, withKey } from '../support/accounts.ts';
import { newRealm } from '../support/realm.ts';

describe('POST /bots/{id}/api_key/regenerate', () => {
  it('gives a bot a new key, for its owner and for administrators', async () => {
    const { call, people } = await newRealm();
    const path = { bot_id: people.bot.userId };
    const first = withKey(people.bot, await call(regenerateBotKey, people.member, {}, { path }));
    expect((await call(getOwn, people.bot)).status).toBe(401);
    expect((await call(getOwn, first)).status).toBe(200);
    const second = withKey(people.bot, await call(regenerateBotKey, people.admin, {}, { path }));
    expect((await call(getOwn, first)).status).toBe(401);
    expect((await call(getOwn, second)).body.user_id).toBe(people.bot.userId);
  });

  it('refuses other users, and accounts that are not bots', async () => {
    const { call, people } = await newRealm();
    const at = (bot_id: number | string) => ({ path: { bot_id } });
    const { member, moderator, owner, bot } = people;
    const refused = await call(regenerateBotKey, moderator, {}, at(bot.userId));
    expect(answer(refused)).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    for (const id of [member.userId, 0, 999_999, 2 ** 52]) {
      expect(answer(await call(regenerateBotKey, owner, {}, at(id))), String(id)).toEqual([
        400,
        'BAD_REQUEST',
      ]);
    }
    expect((await call(getOwn, bot)).status).toBe(200);
  });
});
