import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChannel, givenRealmSettings } from '../support/given.ts';
import { picture } from '../support/pictures.ts';
import type { TestRealm } from '../support/realm.ts';
import type { Recorder } from './recorder.ts';

/** An afternoon in an organization, in which every endpoint is asked for something at least once. */
export async function playThrough(realm: TestRealm, recorder: Recorder): Promise<void> {
  await talk(realm, recorder);
  await arrange(realm, recorder);
  await gather(realm, recorder);
  await govern(realm, recorder);
  await carry(realm, recorder);
}

/** Messages, and hearing of them. */
async function talk(realm: TestRealm, recorder: Recorder): Promise<void> {
  const { people, channels } = realm;
  const { member, admin } = people;
  const stream_id = channels.general;
  await recorder.ask('server.getSettings', undefined);
  const { queue_id, last_event_id } = await recorder.ask('events.register', member, {
    event_types: ['message', 'reaction'],
    fetch_event_types: ['message'],
    apply_markdown: true,
  });
  const { id: message_id } = await recorder.ask('messages.send', member, {
    type: 'channel',
    to: 'general',
    topic: 'lunch',
    content: 'Who comes *along*?',
  });
  await recorder.ask('reactions.add', admin, { message_id, emoji_name: 'tada' });
  await recorder.ask('events.get', member, { queue_id, last_event_id, dont_block: true });
  await recorder.ask('events.delete', member, { queue_id });
  await recorder.ask('messages.list', member, {
    anchor: 'newest',
    num_before: 10,
    num_after: 0,
    narrow: [
      { operator: 'channel', operand: 'general' },
      { operator: 'topic', operand: 'lunch' },
    ],
  });
  await recorder.ask('messages.matchesNarrow', admin, {
    msg_ids: [message_id],
    narrow: [{ operator: 'has', operand: 'reaction' }],
  });
  await recorder.ask('messages.render', member, { content: 'Who comes *along*?' });
  await recorder.ask('messages.get', member, { message_id });
  await recorder.ask('messages.updateFlags', member, { messages: [message_id], op: 'add', flag: 'starred' });
  await recorder.ask('messages.update', member, { message_id, content: 'Who comes along at **noon**?' });
  await recorder.ask('messages.getHistory', member, { message_id });
  await recorder.ask('typing.send', member, { type: 'channel', op: 'start', stream_id, topic: 'lunch' });
  await recorder.ask('typing.sendEdit', member, { message_id, op: 'start' });
  await recorder.ask('reactions.remove', admin, { message_id, emoji_name: 'tada' });
  await recorder.ask('realm.update', people.owner, { enable_read_receipts: true });
  await recorder.ask('messages.updateFlagsForNarrow', admin, {
    anchor: 'oldest',
    num_before: 0,
    num_after: 100,
    narrow: [{ operator: 'is', operand: 'unread' }],
    op: 'add',
    flag: 'read',
  });
  await recorder.ask('messages.markAllAsRead', admin);
  await recorder.ask('messages.markChannelAsRead', admin, { stream_id });
  await recorder.ask('messages.markTopicAsRead', admin, { stream_id, topic_name: 'lunch' });
  const { id: poll } = await recorder.ask('messages.send', member, {
    type: 'channel',
    to: 'general',
    topic: 'lunch',
    content: '/poll When?\n- Noon\n- One',
  });
  await recorder.ask('submessages.add', admin, {
    message_id: poll,
    msg_type: 'widget',
    content: '{"type":"vote","key":"canned,0","vote":1}',
  });
  const { reminder_id } = await recorder.ask('reminders.create', member, {
    message_id,
    scheduled_delivery_timestamp: 2_000_000_000,
    note: 'Who brings the bread?',
  });
  await recorder.ask('reminders.list', member);
  await recorder.ask('reminders.delete', member, { reminder_id });
  await recorder.ask('messages.getReadReceipts', member, { message_id });
  const { channelId } = await givenChannel(realm, { isPrivate: true }, [people.moderator]);
  await givenRealmSettings(realm, { moderation_request_channel_id: channelId });
  await recorder.ask('messages.report', member, { message_id, report_type: 'spam' });
  await recorder.ask('topics.list', member, { stream_id });
  await recorder.ask('topics.setVisibility', member, { stream_id, topic: 'lunch', visibility_policy: 3 });
  await recorder.ask('topics.mute', member, { stream_id, topic: 'lunch', op: 'add' });
  await recorder.ask('topics.delete', people.owner, { stream_id, topic_name: 'dinner' });
  await recorder.ask('messages.delete', people.owner, { message_id });
}

/** Channels, subscriptions and folders. */
async function arrange({ people, channels }: TestRealm, recorder: Recorder): Promise<void> {
  const { owner, admin, member } = people;
  const stream_id = channels.general;
  await recorder.ask('subscriptions.add', member, {
    subscriptions: [{ name: 'design', description: 'How it looks' }],
    principals: [member.userId, admin.userId],
  });
  await recorder.ask('channels.create', member, { name: 'sales', subscribers: [admin.userId] });
  const { stream_id: design } = await recorder.ask('channels.getId', member, { stream: 'design' });
  await recorder.ask('subscriptions.list', member, { include_subscribers: true });
  const subscription_data = [{ stream_id: design, property: 'color', value: '#76ce90' }];
  await recorder.ask('subscriptions.setProperties', member, { subscription_data });
  await recorder.ask('subscriptions.setProperty', member, {
    stream_id: design,
    property: 'is_muted',
    value: true,
  });
  await recorder.ask('users.isSubscribed', admin, { user: member.userId, stream_id: design });
  await recorder.ask('subscriptions.change', member, { add: [{ name: 'paper' }], delete: ['random'] });
  await recorder.ask('channels.list', member);
  await recorder.ask('channels.get', member, { stream_id });
  await recorder.ask('channels.listMembers', member, { stream_id });
  await recorder.ask('channels.getEmailAddress', member, { stream_id });
  const { channel_folder_id } = await recorder.ask('channelFolders.create', owner, {
    name: 'Product',
    description: 'What we *make*',
  });
  await recorder.ask('channels.update', owner, {
    stream_id: design,
    description: 'How it looks and feels',
    folder_id: channel_folder_id,
    can_send_message_group: { new: { direct_members: [member.userId], direct_subgroups: [] } },
  });
  await recorder.ask('channelFolders.list', member);
  await recorder.ask('channelFolders.update', owner, { channel_folder_id, name: 'Our product' });
  await recorder.ask('channelFolders.reorder', owner, { order: [channel_folder_id] });
  await recorder.ask('channels.addDefault', owner, { stream_id: design });
  await recorder.ask('channels.removeDefault', owner, { stream_id: design });
  const { id: group_id } = await recorder.ask('defaultChannelGroups.create', owner, {
    group_name: 'Makers',
    description: 'For those who make our product',
    stream_names: ['design'],
  });
  await recorder.ask('defaultChannelGroups.update', owner, {
    group_id,
    new_description: 'For all who make it',
  });
  await recorder.ask('defaultChannelGroups.updateChannels', owner, {
    group_id,
    op: 'remove',
    stream_names: ['design'],
  });
  await recorder.ask('defaultChannelGroups.delete', owner, { group_id });
  await recorder.ask('subscriptions.remove', member, { subscriptions: ['design'] });
  await recorder.ask('channels.archive', owner, { stream_id: design });
}

/** People, bots and groups. */
async function gather({ people }: TestRealm, recorder: Recorder): Promise<void> {
  const { owner, admin, member } = people;
  await recorder.ask('users.getOwn', member);
  await recorder.ask('users.list', member, { user_ids: [member.userId, admin.userId] });
  const { user_id } = await recorder.ask('users.create', admin, {
    email: 'ada@example.com',
    full_name: 'Ada Adams',
  });
  await recorder.ask('users.get', member, { user: 'ada@example.com' });
  await recorder.ask('users.update', owner, { user: user_id, role: 300 });
  await recorder.ask('users.setStatus', member, { status_text: 'at lunch', emoji_name: 'pizza' });
  await recorder.ask('users.getStatus', admin, { user: member.userId });
  await recorder.ask('users.setStatusOf', admin, { user: member.userId, status_text: 'on leave' });
  await recorder.ask('users.listChannels', admin, { user: member.userId });
  await recorder.ask('presence.update', member, { status: 'active', slim_presence: true });
  await recorder.ask('presence.get', admin, { user: member.userId });
  await recorder.ask('presence.list', admin);
  await recorder.ask('settings.update', member, { color_scheme: 2, enter_sends: true });
  const { scheduled_message_id } = await recorder.ask('scheduledMessages.create', member, {
    type: 'direct',
    to: [admin.userId],
    content: 'Good morning!',
    scheduled_delivery_timestamp: 2_000_000_000,
  });
  await recorder.ask('scheduledMessages.list', member);
  await recorder.ask('scheduledMessages.update', member, {
    scheduled_message_id,
    content: 'Good *morning*!',
  });
  await recorder.ask('scheduledMessages.delete', member, { scheduled_message_id });
  await recorder.ask('users.addAlertWords', member, { alert_words: ['Tea', 'lunch'] });
  await recorder.ask('users.listAlertWords', member);
  await recorder.ask('users.removeAlertWords', member, { alert_words: ['tea', 'lunch'] });
  await recorder.ask('users.mute', member, { muted_user_id: admin.userId });
  await recorder.ask('users.unmute', member, { muted_user_id: admin.userId });
  const draft = { type: 'private', to: [admin.userId], topic: '', content: 'Shall we?' };
  const { ids: drafts } = await recorder.ask('drafts.create', member, { drafts: [draft] });
  await recorder.ask('drafts.list', member);
  await recorder.ask('drafts.replace', member, { draft_id: drafts[0], draft });
  await recorder.ask('drafts.delete', member, { draft_id: drafts[0] });
  const fragment = 'narrow/is/alerted';
  await recorder.ask('navigationViews.add', member, { fragment, is_pinned: true, name: 'Alerts' });
  await recorder.ask('navigationViews.list', member);
  await recorder.ask('navigationViews.update', member, { fragment, is_pinned: false });
  await recorder.ask('navigationViews.remove', member, { fragment });
  const { saved_snippet_id } = await recorder.ask('savedSnippets.create', member, {
    title: 'Welcome',
    content: 'Nice to *see* you here!',
  });
  await recorder.ask('savedSnippets.list', member);
  await recorder.ask('savedSnippets.update', member, { saved_snippet_id, title: 'Hello' });
  await recorder.ask('savedSnippets.delete', member, { saved_snippet_id });
  const { user_id: bot_id } = await recorder.ask('bots.create', member, {
    full_name: 'Weather Bot',
    short_name: 'weather',
  });
  await recorder.ask('bots.list', member);
  await recorder.ask('bots.updateStorage', people.bot, { storage: { last_seen: '117' } });
  await recorder.ask('bots.getStorage', people.bot);
  await recorder.ask('bots.removeStorage', people.bot, { keys: ['last_seen'] });
  await recorder.ask('bots.regenerateKey', member, { bot_id });
  await recorder.ask('bots.deactivate', member, { bot_id });
  const { group_id: user_group_id } = await recorder.ask('userGroups.create', owner, {
    name: 'cooks',
    description: 'Who cook on Fridays',
    members: [member.userId],
  });
  const { group_id: helpers } = await recorder.ask('userGroups.create', owner, {
    name: 'helpers',
    description: '',
    members: [],
  });
  await recorder.ask('userGroups.updateMembers', owner, { user_group_id, add: [admin.userId] });
  await recorder.ask('userGroups.updateSubgroups', owner, { user_group_id, add: [helpers] });
  await recorder.ask('userGroups.update', owner, {
    user_group_id,
    name: 'chefs',
    can_mention_group: { new: systemGroups.members.id, old: systemGroups.everyone.id },
  });
  await recorder.ask('userGroups.list', member);
  await recorder.ask('userGroups.listMembers', member, { user_group_id });
  await recorder.ask('userGroups.isMember', member, { user_group_id, user_id: member.userId });
  await recorder.ask('userGroups.listSubgroups', member, { user_group_id });
  await recorder.ask('userGroups.deactivate', owner, { user_group_id });
  await recorder.ask('users.deactivate', admin, { user: user_id });
  await recorder.ask('users.reactivate', admin, { user: user_id });
}

/** The organization: its settings, profile fields, domains, emoji and files. */
async function govern({ people }: TestRealm, recorder: Recorder): Promise<void> {
  const { owner, member } = people;
  await recorder.ask('realm.update', owner, {
    description: 'Those who *make* it',
    message_content_edit_limit_seconds: '3600',
    send_channel_events_messages: true,
  });
  await recorder.ask('realm.testWelcome', owner, { welcome_message_custom_text: 'Nice that *you* are here' });
  await recorder.ask('realm.updateNewUserSettings', owner, { color_scheme: 2, presence_enabled: true });
  const { id: field_id } = await recorder.ask('profileFields.create', owner, {
    field_type: 1,
    name: 'Languages',
    hint: 'Which ones do you speak?',
  });
  await recorder.ask('profileFields.list', member);
  await recorder.ask('profileFields.update', owner, { field_id, display_in_profile_summary: true });
  await recorder.ask('profileFields.reorder', owner, { order: [field_id] });
  await recorder.ask('users.updateProfileData', member, { data: [{ id: field_id, value: 'Latin' }] });
  await recorder.ask('users.removeProfileData', member, { data: [field_id] });
  await recorder.ask('profileFields.delete', owner, { field_id });
  const linkifier = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://issues.example.org/{id}' };
  const { id: filter_id } = await recorder.ask('linkifiers.create', owner, linkifier);
  await recorder.ask('linkifiers.list', member);
  await recorder.ask('linkifiers.update', owner, { filter_id, ...linkifier, example_input: '#7' });
  await recorder.ask('linkifiers.reorder', owner, { ordered_linkifier_ids: [filter_id] });
  await recorder.ask('linkifiers.delete', owner, { filter_id });
  const { id: playground_id } = await recorder.ask('playgrounds.create', owner, {
    name: 'Try it',
    pygments_language: 'Rust',
    url_template: 'https://play.example.org/?code={code}',
  });
  await recorder.ask('playgrounds.delete', owner, { playground_id });
  await recorder.ask('domains.add', owner, { domain: 'example.org', allow_subdomains: false });
  await recorder.ask('domains.list', member);
  await recorder.ask('domains.update', owner, { domain: 'example.org', allow_subdomains: true });
  await recorder.ask('domains.remove', owner, { domain: 'example.org' });
  const image = [await picture('png', 20, 20)];
  await recorder.ask('users.setAvatar', member, {}, image);
  await recorder.ask('users.removeAvatar', member);
  await recorder.ask('realm.setIcon', owner, {}, image);
  await recorder.ask('realm.removeIcon', owner);
  await recorder.ask('realm.setLogo', owner, { night: false }, image);
  await recorder.ask('realm.removeLogo', owner, { night: false });
  await recorder.ask('emoji.add', owner, { emoji_name: 'party' }, image);
  await recorder.ask('emoji.list', member);
  await recorder.ask('emoji.deactivate', owner, { emoji_name: 'party' });
  await recorder.ask('files.upload', member, {}, [Buffer.from('milk, bread')]);
  const { attachments } = await recorder.ask('files.list', member);
  const [realm_id, shard, token, name] = attachments[0].path_id.split('/');
  await recorder.ask('files.createTemporaryLink', member, { realm_id, shard, token, name });
  await recorder.ask('files.getThumbnailStatus', member, { realm_id, shard, token, name });
  await recorder.ask('files.remove', member, { attachment_id: attachments[0].id });
}

/** What leaves the organization: exports and notifications. The last thing is a key that is replaced. */
async function carry(realm: TestRealm, recorder: Recorder): Promise<void> {
  const { owner, moderator, member } = realm.people;
  await recorder.ask('exports.create', owner, { export_type: 'public' });
  await recorder.ask('exports.list', owner);
  await recorder.ask('exports.listConsents', owner);
  const { device_id } = await recorder.ask('push.registerDevice', member);
  await recorder.ask('push.removeDevice', member, { device_id });
  await recorder.ask('push.addApnsToken', member, { token: 'YXBwbGU=', appid: 'org.example.chat' });
  await recorder.ask('push.removeApnsToken', member, { token: 'YXBwbGU=' });
  await recorder.ask('push.addFcmToken', member, { token: 'android' });
  await recorder.ask('push.removeFcmToken', member, { token: 'android' });
  await invitePeople(realm, recorder);
  await recorder.ask('users.regenerateKey', member);
  const password = 'twelve grey herons';
  await recorder.ask('settings.update', owner, { new_password: password });
  await recorder.ask('signIn.fetchApiKey', undefined, { username: owner.email, password });
  await recorder.ask('signIn.devListUsers', undefined);
  await recorder.ask('signIn.devFetchApiKey', undefined, { username: owner.email });
  await recorder.ask('users.deactivateOwn', realm.people.guest);
  await recorder.ask('apiKeys.list', moderator);
  await recorder.ask('apiKeys.revoke', moderator, { key: 'first' });
  await recorder.ask('realm.deactivate', owner);
}

/** Invitations by mail and by link. */
async function invitePeople({ people, channels }: TestRealm, recorder: Recorder): Promise<void> {
  const { admin, member } = people;
  const stream_ids = [channels.general];
  await recorder.ask('invites.create', member, { invitee_emails: 'grace@example.com', stream_ids });
  await recorder.ask('invites.createLink', admin, { stream_ids, invite_expires_in_minutes: null });
  const { invites } = await recorder.ask('invites.list', admin);
  const idOf = (isMultiuse: boolean) => ({
    invite_id: invites.find((each: { is_multiuse: boolean }) => each.is_multiuse === isMultiuse).id,
  });
  await recorder.ask('invites.resend', member, idOf(false));
  await recorder.ask('invites.revoke', member, idOf(false));
  await recorder.ask('invites.revokeLink', admin, idOf(true));
}
