import { describe, expect, it } from 'vitest';
import { handler as get } from '../../functions/users/get.ts';
import { newRealm } from '../support/realm.ts';

describe('GET /users/{id or email}', () => {
  it('finds users by id and by address, in any case', async () => {
    const { call, people } = await newRealm();
    const names = [people.member.userId, 'member@example.com', 'Member@EXAMPLE.com', ' member@example.com '];
    for (const user of names) {
      const { status, body } = await call(get, people.guest, {}, { path: { user } });
      expect(status, String(user)).toBe(200);
      expect(body.user).toMatchObject({ user_id: people.member.userId, full_name: 'Max Member' });
    }
  });

  it('adds requested fields', async () => {
    const { call, people } = await newRealm();
    const query = { client_gravatar: false, include_custom_profile_fields: true };
    const { body } = await call(get, people.guest, {}, { path: { user: people.owner.userId }, query });
    expect(body.user).toMatchObject({
      profile_data: {},
      avatar_url: expect.stringMatching(/^https:/),
      is_owner: true,
      is_admin: true,
    });
  });

  it('returns the service bot, whose messages users may have', async () => {
    const { call, people, outside, realm } = await newRealm();
    const stored = await outside.table.get('realm', { realm });
    const { body } = await call(get, people.member, {}, { path: { user: stored?.noticeBotId ?? 0 } });
    expect(body.user).toMatchObject({ is_bot: true, is_system_bot: true, bot_type: 1, bot_owner_id: null });
  });

  it.each([
    '0',
    '999999',
    '999999999999999999999',
    '-1',
    '1.5',
    'nobody@example.com',
    'x',
    '%',
    'a/b@example.com',
    `${'a'.repeat(300)}@example.com`,
  ])('refuses %s', async (user) => {
    const { call, people } = await newRealm();
    const { status, body } = await call(get, people.member, {}, { path: { user } });
    expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'There is no such user.']);
  });
});
