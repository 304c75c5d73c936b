import { describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as getHistory } from '../../functions/messages/getHistory.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as updateMessage } from '../../functions/messages/update.ts';
import { handler as getServerSettings } from '../../functions/server/getSettings.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as createGroup } from '../../functions/userGroups/create.ts';
import { handler as listUsers } from '../../functions/users/list.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { edit, edited, noticesAfter, storedChannel } from '../support/channel-state.ts';
import { sendTo } from '../support/event-queue.ts';
import { givenChannel, givenCrowd, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { badRequest, changed, payloadsAfter, storedRealm } from '../support/realm-state.ts';
import { lastNumber, storedCount } from '../support/stored.ts';

/*
 * The rules that read the settings follow a change of them on the very next request, in containers that are warm.
 */

const { nobody, owners, administrators, members, everyone } = systemGroups;
const unlimited = 'unlimited';

/** Creates a channel. */
const make = (realm: TestRealm, as: Person, name: string, settings: object = {}) =>
  realm.call(subscribe, as, { subscriptions: [{ name }], ...settings });

const at = (message_id: number) => ({ path: { message_id } });

describe('a change of a setting', () => {
  it('enables web-public channels only if both settings allow it (specification 4.2)', async () => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin]);
    const open = () => edit(realm, admin, channelId, { is_web_public: true });
    expect(await open()).toMatchObject(badRequest);
    await changed(realm, owner, { enable_spectator_access: true });
    expect(await open()).toMatchObject(badRequest);
    await changed(realm, owner, { can_create_web_public_channel_group: { new: administrators.id } });
    expect((await open()).status).toBe(200);
    await changed(realm, owner, { enable_spectator_access: false });
    expect(await make(realm, admin, 'second', { is_web_public: true })).toMatchObject(badRequest);
  });

  it('decides who may create channels of each kind, groups and bots', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const tries = {
      can_create_public_channel_group: (n: number) => make(realm, member, `public ${n}`),
      can_create_private_channel_group: (n: number) =>
        make(realm, member, `private ${n}`, { invite_only: true }),
      can_create_groups: (n: number) =>
        realm.call(createGroup, member, { name: `group ${n}`, description: '', members: [] }),
      can_create_bots_group: (n: number) =>
        realm.call(createBot, member, { full_name: `Bot ${n}`, short_name: `bot${n}` }),
    };
    for (const [name, attempt] of Object.entries(tries)) {
      expect((await attempt(1)).status, name).toBe(200);
      await changed(realm, owner, { [name]: { new: owners.id } });
      expect(await attempt(2), name).toMatchObject(badRequest);
      await changed(realm, owner, {
        [name]: { new: { direct_members: [member.userId], direct_subgroups: [] } },
      });
      expect((await attempt(3)).status, name).toBe(200);
    }
  });

  it('decides who may notify many users (specification 4.1, wire facts 3.7)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    await givenCrowd(realm, channelId, 20);
    const shout = () =>
      realm.call(send, member, { type: 'channel', to: channelId, topic: 't', content: '@**all** hi' });
    expect((await shout()).body.code).toBe('STREAM_WILDCARD_MENTION_NOT_ALLOWED');
    await changed(realm, admin, { can_mention_many_users_group: { new: members.id } });
    expect((await shout()).status).toBe(200);
  });

  it('decides who may send direct messages to whom (wire facts 3.8)', async () => {
    const realm = await newRealm();
    const { admin, member, guest, moderator } = realm.people;
    const write = (to: Person) => realm.call(send, member, { type: 'direct', to: [to.userId], content: 'x' });
    expect((await write(guest)).status).toBe(200);
    await changed(realm, admin, { direct_message_initiator_group: { new: administrators.id } });
    expect((await write(guest)).status).toBe(200);
    expect(await write(moderator)).toMatchObject(badRequest);
    await changed(realm, admin, { direct_message_permission_group: { new: nobody.id } });
    expect(await write(guest)).toMatchObject(badRequest);
  });

  it('decides whether a topic needs a name (specification 3)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const post = () =>
      realm.call(send, member, { type: 'channel', to: realm.channels.general, topic: '', content: 'x' });
    expect((await post()).status).toBe(200);
    await changed(realm, admin, { topics_policy: 'disable_empty_topic' });
    expect(await post()).toMatchObject(badRequest);
  });

  it('decides whether and how long messages can be edited, moved and deleted', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'one');
    const rewrite = (content: string) => realm.call(updateMessage, member, { content }, at(id));
    const move = (topic: string) => realm.call(updateMessage, member, { topic }, at(id));
    realm.pass(3_600_000);
    expect(await rewrite('two')).toMatchObject(badRequest);
    await changed(realm, admin, { message_content_edit_limit_seconds: unlimited });
    expect((await rewrite('two')).status).toBe(200);
    await changed(realm, admin, { allow_message_editing: false });
    expect(await rewrite('three')).toMatchObject(badRequest);

    expect((await move('there')).status).toBe(200);
    await changed(realm, admin, { move_messages_within_stream_limit_seconds: '60' });
    expect(await move('back')).toMatchObject(badRequest);
    await changed(realm, admin, { can_move_messages_between_topics_group: { new: nobody.id } });

    const remove = () => realm.call(deleteMessage, member, {}, at(id));
    expect(await remove()).toMatchObject(badRequest);
    await changed(realm, admin, {
      message_content_delete_limit_seconds: unlimited,
      can_delete_own_message_group: { new: nobody.id },
    });
    expect(await remove()).toMatchObject(badRequest);
    await changed(realm, admin, { can_delete_own_message_group: { new: everyone.id } });
    expect((await remove()).status).toBe(200);
  });

  it('makes the retention worker process organizations with a limit, and no others', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const listed = () => realm.outside.table.get('retention', { realm: realm.realm });
    expect(await listed()).toBeUndefined();
    await changed(realm, owner, { message_retention_days: '30' });
    expect(await listed()).toMatchObject({ version: (await storedRealm(realm)).version });
    await changed(realm, owner, { message_retention_days: 'unlimited' });
    expect(await listed()).toBeUndefined();
  });

  it('decides which earlier versions of messages are shown', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'one');
    await realm.call(updateMessage, member, { content: 'two', topic: 'there' }, at(id));
    await realm.call(updateMessage, member, { content: 'three' }, at(id));
    const seen = async () => {
      const { body } = await realm.call(getMessage, member, {}, at(id));
      const history = await realm.call(getHistory, member, {}, at(id));
      return { listed: body.message.edit_history, history };
    };
    const all = await seen();
    expect(all.listed).toHaveLength(2);
    expect(all.history.body.message_history).toHaveLength(3);

    await changed(realm, admin, { message_edit_history_visibility_policy: 'moves' });
    const moves = await seen();
    expect(moves.listed).toMatchObject([{ prev_topic: 'hi', topic: 'there' }]);
    expect(moves.history.body.message_history).toMatchObject([
      { topic: 'hi', content: 'three' },
      { topic: 'there', content: 'three' },
    ]);
    expect(JSON.stringify(moves.history.body)).not.toMatch(/prev_content|one|two/);

    await changed(realm, admin, { message_edit_history_visibility_policy: 'none' });
    const none = await seen();
    expect(none.listed).toBeUndefined();
    expect(none.history).toMatchObject(badRequest);
  });

  it('decides whether guests can see all users (wire facts 3.8)', async () => {
    const realm = await newRealm();
    const { admin, guest } = realm.people;
    const stranger = await givenUser(realm);
    const knows = async () =>
      (await realm.call(listUsers, guest)).body.members.some(
        ({ user_id }: { user_id: number }) => user_id === stranger.userId,
      );
    expect(await knows()).toBe(true);
    await changed(realm, admin, { can_access_all_users_group: { new: members.id } });
    expect(await knows()).toBe(false);
    await changed(realm, admin, { can_access_all_users_group: { new: everyone.id } });
    expect(await knows()).toBe(true);
  });

  it('decides whether channels get notices of their changes (wire facts 4.7)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin]);
    await changed(realm, admin, { send_channel_events_messages: false });
    const before = await lastNumber(realm);
    // The policy is still checked and stored, even without a notice in the same commit.
    await edited(realm, admin, channelId, { description: 'x', topics_policy: 'empty_topic_only' });
    expect((await storedCount(realm, channelId))?.onlyEmptyTopic).toBe(true);
    const post = { type: 'channel', to: channelId, topic: 'named', content: 'x' };
    expect(await realm.call(send, member, post)).toMatchObject(badRequest);
    await edited(realm, admin, channelId, { topics_policy: 'inherit' });
    expect((await realm.call(send, member, post)).status).toBe(200);
    expect(await edit(realm, admin, channelId, { topics_policy: 'empty_topic_only' })).toMatchObject(
      badRequest,
    );
    expect(await noticesAfter(realm, before)).toEqual([]);
    await changed(realm, admin, { send_channel_events_messages: true });
    await edited(realm, admin, channelId, { description: 'y' });
    expect(await noticesAfter(realm, before)).toHaveLength(1);
  });

  it('lets a private channel be unarchived without a notice, unless it has no subscribers', async () => {
    const realm = await newRealm({ send_channel_events_messages: false });
    const { admin } = realm.people;
    const full = await givenChannel(realm, { isPrivate: true, isArchived: true }, [admin]);
    await edited(realm, admin, full.channelId, { is_archived: false });
    const empty = await givenChannel(realm, { isPrivate: true, isArchived: true });
    expect(await edit(realm, admin, empty.channelId, { is_archived: false })).toMatchObject(badRequest);
  });

  it('changes how the organization appears on the sign-in page', async () => {
    const realm = await newRealm();
    await changed(realm, realm.people.admin, { name: 'Ants', description: 'We *carry*.' });
    const { body } = await realm.call(getServerSettings, undefined);
    expect(body).toMatchObject({ realm_name: 'Ants', realm_description: '<p>We <em>carry</em>.</p>' });
  });
});

describe('the moderation request channel', () => {
  it('cannot be made public (specification 4.2)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
    await changed(realm, owner, { moderation_request_channel_id: channelId });
    expect(await edit(realm, owner, channelId, { is_private: false })).toMatchObject(badRequest);
    await changed(realm, owner, { moderation_request_channel_id: -1 });
    await edited(realm, owner, channelId, { is_private: false });
  });

  it('is unset when it is archived, and everyone gets an event', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
    const names = ['moderation_request_channel_id', 'new_stream_announcements_stream_id'];
    await changed(realm, owner, Object.fromEntries(names.map((name) => [name, channelId])));
    const before = await lastNumber(realm);
    const reply = await realm.call(archive, owner, {}, { path: { stream_id: channelId } });
    expect(reply.status).toBe(200);
    expect((await storedChannel(realm, channelId)).isArchived).toBe(true);
    expect((await storedRealm(realm)).settings).toMatchObject({ [names[0] ?? '']: -1, [names[1] ?? '']: -1 });
    expect((await payloadsAfter(realm, before)).filter(({ type }) => type === 'realm')).toEqual(
      names.map((property) => ({ type: 'realm', op: 'update', property, value: -1 })),
    );
  });
});
