import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as get } from '../../functions/users/get.ts';
import { handler as list } from '../../functions/users/list.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenBot, givenChannel, givenUser } from '../support/given.ts';
import { newRealm, type Reply } from '../support/realm.ts';

const idsIn = ({ body }: Reply): number[] => body.members.map(({ user_id }: { user_id: number }) => user_id);

describe('GET /users', () => {
  it('lists all users, deactivated ones too, but not the service bot', async () => {
    const { call, people } = await newRealm();
    await call(deactivate, people.owner, {}, { path: { user: people.moderator.userId } });
    const { body } = await call(list, people.guest);
    const emails = body.members.map(({ email }: { email: string }) => email);
    expect(emails.sort()).toEqual(
      Object.values(people)
        .map(({ email }) => email)
        .sort(),
    );
    const member = body.members.find(({ email }: { email: string }) => email === people.member.email);
    expect(member).toEqual({
      user_id: people.member.userId,
      email: 'member@example.com',
      delivery_email: 'member@example.com',
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
      avatar_url: null,
      avatar_version: 1,
      timezone: '',
    });
    const bot = body.members.find(({ email }: { email: string }) => email === people.bot.email);
    expect(bot).toMatchObject({ is_bot: true, bot_type: 1, bot_owner_id: people.member.userId });
    const moderator = body.members.find(
      ({ user_id }: { user_id: number }) => user_id === people.moderator.userId,
    );
    expect(moderator.is_active).toBe(false);
  });

  it('returns avatars and profile fields as requested', async () => {
    const { call, people } = await newRealm();
    const { body } = await call(
      list,
      people.member,
      {},
      {
        query: { client_gravatar: false, include_custom_profile_fields: true },
      },
    );
    for (const user of body.members) {
      expect(user.avatar_url).toMatch(/^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{64}\?/);
      expect(user.profile_data, user.email).toEqual(user.is_bot ? undefined : {});
    }
  });

  it('lists only the requested users, if they exist', async () => {
    const { call, people } = await newRealm();
    const user_ids = [people.bot.userId, 999_999, people.admin.userId, -1, 0, people.admin.userId, 2 ** 52];
    const reply = await call(list, people.member, {}, { query: { user_ids } });
    expect(idsIn(reply)).toEqual([people.admin.userId, people.bot.userId]);
    expect(idsIn(await call(list, people.member, {}, { query: { user_ids: [] } }))).toEqual([]);
  });

  it('lists the requested users, even if they are very many', async () => {
    const { call, people } = await newRealm();
    const user_ids = Array.from({ length: 200 }, (_, i) => i + 1);
    const reply = await call(list, people.member, { user_ids });
    expect(idsIn(reply)).toEqual(Object.values(people).map(({ userId }) => userId));
  });

  it.each(['x', '5', '["5"]', '[1.5]', '[9007199254740993]', 'null', '{}'])(
    'refuses the ids %s',
    async (user_ids) => {
      const { call, people } = await newRealm();
      const { status, body } = await call(list, people.member, {}, { query: { user_ids } });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );

  it('shows a guest who may not see everyone the users they know, and bots', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { call, people } = realm;
    const [guest, friend, penFriend, stranger] = await Promise.all([
      givenUser(realm, { role: 600 }),
      givenUser(realm),
      givenUser(realm),
      givenUser(realm),
    ]);
    await givenChannel(realm, { isPrivate: true }, [guest, friend]);
    await call(send, penFriend, { type: 'direct', to: [guest.userId], content: 'hi' });
    const bot = await givenBot(realm, stranger);
    const known = [guest, friend, penFriend, people.bot, bot].map(({ userId }) => userId);
    const container = realm.container();
    expect(idsIn(await container.call(list, guest))).toEqual(known.sort((a, b) => a - b));
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    await container.call(list, guest);
    expect(container.meter.roundTrips).toBe(2);
    for (const [person, status] of [
      [friend, 200],
      [penFriend, 200],
      [bot, 200],
      [guest, 200],
      [stranger, 400],
      [people.owner, 400],
    ] as const) {
      const path = { user: person.userId };
      expect((await call(get, guest, {}, { path })).status, person.email).toBe(status);
    }
    expect(idsIn(await call(list, friend))).toContain(stranger.userId);
  });
});
