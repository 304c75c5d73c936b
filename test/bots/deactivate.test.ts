import { describe, expect, it } from 'vitest';
import { handler as deactivateBot } from '../../functions/bots/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { answer } from '../support/accounts.ts';
import { givenBot } from '../support/given.ts';
import { newRealm, type Person } from '../support/realm.ts';

describe('DELETE /bots/{id}', () => {
  it('deactivates a bot, for its owner and for administrators', async () => {
    const realm = await newRealm();
    const { call, people } = realm;
    const { member, moderator, admin, bot } = people;
    const other = await givenBot(realm, moderator);
    const at = ({ userId }: Person) => ({ path: { bot_id: userId } });
    expect(answer(await call(deactivateBot, moderator, {}, at(bot)))).toEqual([
      400,
      'UNAUTHORIZED_PRINCIPAL',
    ]);
    expect((await call(deactivateBot, member, {}, at(bot))).status).toBe(200);
    expect((await call(deactivateBot, admin, {}, at(other))).status).toBe(200);
    for (const person of [bot, other]) expect((await call(getOwn, person)).status).toBe(401);
    expect(answer(await call(deactivateBot, member, {}, at(bot)))).toEqual([400, 'BAD_REQUEST']);
    expect(answer(await call(deactivateBot, admin, {}, at(member)))).toEqual([400, 'BAD_REQUEST']);
    expect(answer(await call(deactivateBot, admin, {}, { path: { bot_id: 0 } }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
  });
});
