import { describe, expect, it } from 'vitest';
import { handler as getStatus } from '../../functions/users/getStatus.ts';
import { handler as setStatusOf } from '../../functions/users/setStatusOf.ts';
import { givenClient } from '../support/event-queue.ts';
import { newRealm, type Person } from '../support/realm.ts';

describe('POST /users/{user_id}/status (companion facts 3.5)', () => {
  it('lets administrators set the status of others, and sends everybody the event', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const client = await givenClient(realm, guest, { fetch_event_types: ['user_status'] });
    const path = { user: member.userId };
    expect((await realm.call(setStatusOf, admin, { status_text: ' away ' }, { path })).status).toBe(200);
    expect(await client.poll()).toMatchObject([
      { type: 'user_status', user_id: member.userId, status_text: 'away' },
    ]);
    expect((await realm.call(getStatus, guest, {}, { path })).body.status).toEqual({ status_text: 'away' });
  });

  it('refuses other users, and bots, unknown users and bad input', async () => {
    const realm = await newRealm();
    const { admin, member, moderator, bot } = realm.people;
    const refused = async (as: Person, user: number, parameters: object) => {
      const { status, body } = await realm.call(setStatusOf, as, { ...parameters }, { path: { user } });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    };
    for (const as of [member, moderator]) await refused(as, admin.userId, { status_text: 'x' });
    for (const user of [bot.userId, 999_999, 0]) await refused(admin, user, { status_text: 'x' });
    for (const bad of [{}, { status_text: 'x'.repeat(61) }, { emoji_code: '1f6e0' }])
      await refused(admin, member.userId, bad);
  });
});
