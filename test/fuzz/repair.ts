import { handler as updateChannel } from '../../functions/channels/update.ts';
import { handler as updateRealm } from '../../functions/realm/update.ts';
import { handler as addSubscriptions } from '../../functions/subscriptions/add.ts';
import { handler as reactivate } from '../../functions/users/reactivate.ts';
import { handler as update } from '../../functions/users/update.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import type { Person, TestRealm } from '../support/realm.ts';
import type { Actor, Side } from './world.ts';

const { everyone, members } = systemGroups;

/** What lets people do things, so that requests get further than to the first permission that they lack. */
const PERMISSIVE = {
  topics_policy: 'allow_empty_topic',
  waiting_period_threshold: 0,
  emails_restricted_to_domains: false,
  name_changes_disabled: false,
  avatar_changes_disabled: false,
  allow_message_editing: true,
  enable_read_receipts: true,
  message_content_edit_limit_seconds: 'unlimited',
  message_content_delete_limit_seconds: 'unlimited',
  move_messages_within_stream_limit_seconds: 'unlimited',
  move_messages_between_streams_limit_seconds: 'unlimited',
  direct_message_initiator_group: { new: everyone.id },
  direct_message_permission_group: { new: everyone.id },
  can_create_public_channel_group: { new: members.id },
  can_create_private_channel_group: { new: members.id },
  can_create_groups: { new: members.id },
  can_create_bots_group: { new: members.id },
  can_add_custom_emoji_group: { new: members.id },
  can_add_subscribers_group: { new: members.id },
  can_manage_all_groups: { new: members.id },
  can_move_messages_between_topics_group: { new: everyone.id },
  can_move_messages_between_channels_group: { new: members.id },
  can_delete_own_message_group: { new: everyone.id },
};

/** Lets those who call go on: brings them back with their roles, and takes back settings that forbid everything. */
export async function repair({ realm, keys }: Side, actors: readonly Actor[]): Promise<void> {
  const { table } = realm.outside;
  const users = await table.all('user', { realm: realm.realm });
  const owner = users.find((user) => user.role === roles.owner && user.isActive && keys.has(user.userId));
  if (owner === undefined) throw new Error('nobody is left who could repair anything');
  const withKey = (user: typeof owner): Person => ({ ...user, apiKey: keys.get(user.userId) ?? '' });
  let as = withKey(owner);
  // The owner comes first and repairs the rest: a person who is an owner by chance loses that here.
  for (const { side, person, role } of actors.toSorted((one, other) => one.role - other.role)) {
    if (side.realm !== realm) continue;
    const path = { user: person.userId };
    const user = await table.get('user', { realm: realm.realm, userId: person.userId });
    if (user === undefined) continue;
    if (!user.isActive) await realm.call(reactivate, as, {}, { path });
    if (user.role !== role && !user.isBot) await realm.call(update, as, { role }, { path });
    if (role === roles.owner) as = withKey(user);
  }
  const { status, body } = await realm.call(updateRealm, as, PERMISSIVE);
  if (status !== 200) throw new Error(`the settings are as they were: ${body.msg}`);
  await openReports(realm, as);
  const people = actors.filter(({ side }) => side.realm === realm).map(({ person }) => person.userId);
  await reopen(realm, as, [...new Set(people)]);
}

/** Reports of messages have somewhere to go, unless a user has archived that channel. */
async function openReports(realm: TestRealm, as: Person): Promise<void> {
  await realm.call(addSubscriptions, as, { subscriptions: [{ name: 'reports' }], invite_only: true });
  const reports = await realm.outside.table.get('channelName', { realm: realm.realm, name: 'reports' });
  if (reports !== undefined)
    await realm.call(updateRealm, as, { moderation_request_channel_id: reports.channelId });
}

/** The two channels in which most of it happens stay what they were: in use, public, with all callers in them. */
async function reopen(realm: TestRealm, as: Person, principals: readonly number[]): Promise<void> {
  for (const channelId of Object.values(realm.channels)) {
    const at = key('channel', { realm: realm.realm, channelId });
    const channel = await realm.outside.table.get(at);
    if (channel === undefined) continue;
    const open = {
      is_archived: false,
      is_private: false,
      can_send_message_group: { new: everyone.id },
      can_delete_own_message_group: { new: everyone.id },
      can_move_messages_within_channel_group: { new: everyone.id },
    };
    await realm.call(updateChannel, as, open, { path: { stream_id: channelId } });
    await realm.call(addSubscriptions, as, { subscriptions: [{ name: channel.name }], principals });
  }
}
