import { describe, expect, it } from 'vitest';
import { handler } from '../../functions/users/getOwn.ts';
import { newRealm } from '../support/realm.ts';

describe('GET /users/me', () => {
  it('returns the caller', async () => {
    const { call, people } = await newRealm();
    const { status, body } = await call(handler, people.guest);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      result: 'success',
      msg: '',
      user_id: people.guest.userId,
      role: 600,
      is_guest: true,
    });
  });

  it('returns all fields of a user, the owner of a bot, and a full avatar URL', async () => {
    const { call, people } = await newRealm();
    const { member, bot } = people;
    const own = {
      user_id: member.userId,
      email: member.email,
      delivery_email: member.email,
      full_name: 'Max Member',
      role: 400,
      is_owner: false,
      is_admin: false,
      is_guest: false,
      is_bot: false,
      bot_type: null,
      is_active: true,
      is_deleted: false,
      is_imported_stub: false,
      date_joined: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d\+00:00$/),
      avatar_url: expect.stringContaining('https://'),
      avatar_version: 1,
      timezone: '',
      max_message_id: expect.any(Number),
    };
    const { body } = await call(handler, member);
    expect(body).toEqual({ result: 'success', msg: '', ...own, profile_data: {} });
    const { body: told } = await call(handler, bot);
    expect(told).toMatchObject({ is_bot: true, bot_type: 1, bot_owner_id: member.userId });
    expect(told).not.toHaveProperty('profile_data');
  });
});
