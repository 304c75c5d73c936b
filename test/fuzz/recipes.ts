import fc from 'fast-check';
import { hostileText as hostileMarkdown } from '../support/hostile-text.ts';
import { type Draft, PASSWORD, Pick, type PoolName, pick } from './draft.ts';
import {
  channelName,
  description,
  fragment,
  listOf,
  mostly,
  name,
  narrow,
  oneMessage,
  topic,
  userId,
} from './plausible.ts';

type Fields = (readonly [string, Draft])[];

/** Fields whose values must fit together for a request to get anywhere; some of them may be left out. */
const together = (
  needed: Readonly<Record<string, fc.Arbitrary<Draft>>>,
  others: Readonly<Record<string, fc.Arbitrary<Draft>>> = {},
): fc.Arbitrary<Fields> =>
  fc
    .record({ ...needed, ...others }, { requiredKeys: Object.keys(needed) })
    .map((fields): Fields => Object.entries(fields));

/** Fields of one thing: each holds what is at the same place of its pool. */
const partsOf = (pools: Readonly<Record<string, PoolName>>): fc.Arbitrary<Fields> =>
  fc
    .tuple(fc.nat(10_000), fc.nat(19))
    .map(
      ([place, chance]): Fields =>
        Object.entries(pools).map(([field, pool]) => [field, new Pick(pool, place, chance === 0)]),
    );

/** The address of a file, and what else a request about one has. */
const fileAddress = (more: Readonly<Record<string, fc.Arbitrary<Draft>>> = {}): fc.Arbitrary<Fields> =>
  fc
    .tuple(
      partsOf({ shard: 'fileShard', token: 'fileToken', name: 'fileName' }),
      together({ realm_id: mostly(word('1'), word('2')), ...more }),
    )
    .map(([parts, others]): Fields => [...parts, ...others]);

const word = (...words: readonly Draft[]): fc.Arbitrary<Draft> => fc.constantFrom(...words);
const content = fc.oneof(
  hostileMarkdown,
  name,
  word('@**all** hello', '@**Max Member** :tada:', '/me waves', '/poll Lunch?\nsoup\nbread', '/todo'),
  pick('fileLink'),
);
const oneOf = (arbitrary: fc.Arbitrary<Draft>): fc.Arbitrary<Draft> =>
  fc.array(arbitrary, { minLength: 1, maxLength: 2 });
const echo = { queue_id: pick('queueId'), local_id: fc.nat(5).map(String) };

const emoji: readonly Fields[] = [
  [['emoji_name', 'smile']],
  [
    ['emoji_name', 'tada'],
    ['emoji_code', '1f389'],
  ],
  [
    ['emoji_name', 'zulip'],
    ['reaction_type', 'zulip_extra_emoji'],
  ],
];
/** Base64 of so many bytes; the first one is always the same. */
const bytes = (first: number, count: number): fc.Arbitrary<Draft> =>
  fc
    .uint8Array({ minLength: count - 1, maxLength: count - 1 })
    .map((rest) => Buffer.from([first, ...rest]).toString('base64'));
/** What a telephone registers with: a key, a token, or both. */
const pushKey = { push_key: bytes(0x31, 33), push_key_id: fc.nat(1_000) };
const pushToken = {
  token_kind: word('apns', 'fcm'),
  token_id: bytes(1, 8),
  bouncer_public_key: word('key-of-the-relay'),
  encrypted_push_registration: name,
};
/** The token of an older telephone; few, so that one to be removed is there. */
const deviceToken = word('YXBwbGU=', 'cGVhcg==');
const provider = word('zoom', 'webex');

/** One of a few, so that some are there already. */
const numbered = (text: (n: number) => string): fc.Arbitrary<Draft> => fc.nat(60).map(text);

const draft: fc.Arbitrary<Draft> = fc.oneof(
  fc.record({ type: word('stream'), to: fc.tuple(pick('channelId')), topic, content }),
  fc.record({ type: word('private'), to: listOf(userId), topic: word(''), content }),
  fc.record({ type: word(''), to: word([]), topic: word(''), content, timestamp: fc.nat(2_000_000_000) }),
);
/** Soon enough that the clock gets there, or later. */
const inFuture = mostly(fc.integer({ min: 2_000_000_000, max: 2_000_000_100 }));
const linkifier = {
  pattern: numbered((n) => `#${n}-(?P<id>[0-9]+)`),
  url_template: word('https://a.example/{id}'),
};
const linkifierMore = {
  alternative_url_templates: word(['https://b.example/{id}'], []),
  example_input: word(''),
};
const vote = word(
  '{"type":"vote","key":"canned,0","vote":1}',
  '{"type":"new_option","idx":1,"option":"rice"}',
  '{"type":"new_task","key":1,"task":"bread","desc":"","completed":false}',
  '[]',
);
const subscriptionChange = fc.oneof(
  together({ stream_id: pick('homeId'), property: word('is_muted', 'pin_to_top'), value: fc.boolean() }),
  together({ stream_id: pick('homeId'), property: word('color'), value: word('#76ce90', 'red') }),
);

const reaction = fc
  .tuple(oneMessage, fc.oneof(fc.constantFrom(...emoji), together({ emoji_name: pick('emojiName') })))
  .map(([message, fields]): Fields => [['message_id', message], ...fields]);

/** Whole requests to endpoints at which parameters that were chosen one by one would seldom succeed. */
export const recipes: Readonly<Record<string, fc.Arbitrary<Fields>>> = {
  'messages.send': fc.oneof(
    together(
      { type: word('channel', 'stream'), to: channelName, topic, content },
      { read_by_sender: fc.boolean() },
    ),
    together({ type: word('channel'), to: pick('channelId'), topic, content, ...echo }),
    together({ type: word('direct', 'private'), to: listOf(userId), content }),
    together({ type: word('direct'), to: listOf(pick('email'), 2), content, ...echo }),
  ),
  'messages.update': fc.oneof(
    together({ message_id: oneMessage, content }),
    together(
      { message_id: oneMessage, topic, propagate_mode: word('change_one', 'change_later', 'change_all') },
      { send_notification_to_old_thread: fc.boolean(), send_notification_to_new_thread: fc.boolean() },
    ),
    together(
      { message_id: oneMessage, stream_id: pick('channelId') },
      { topic, propagate_mode: word('change_all') },
    ),
  ),
  'messages.list': fc.oneof(
    together(
      { anchor: word('newest', 'oldest', 'first_unread'), num_before: fc.nat(20), num_after: fc.nat(20) },
      { narrow, apply_markdown: fc.boolean() },
    ),
    together({ anchor: oneMessage, num_before: fc.nat(5), num_after: fc.nat(5) }, { narrow }),
    together({ message_ids: listOf(oneMessage) }),
  ),
  'messages.matchesNarrow': together({ msg_ids: listOf(oneMessage), narrow }),
  'messages.render': together({ content }),
  'messages.updateFlags': together({
    messages: listOf(oneMessage),
    op: word('add', 'remove'),
    flag: word('read', 'starred'),
  }),
  'messages.markTopicAsRead': together({
    stream_id: pick('homeId'),
    topic_name: word('t0', 't1', 't2', 't3'),
  }),
  'reactions.add': fc.oneof(
    { weight: 1, arbitrary: reaction },
    { weight: 2, arbitrary: together({ message_id: oneMessage, emoji_name: word('smile') }) },
  ),
  'reactions.remove': fc.oneof(
    { weight: 1, arbitrary: reaction },
    { weight: 4, arbitrary: together({ message_id: pick('smiledId'), emoji_name: word('smile') }) },
  ),
  'events.get': together({
    queue_id: pick('queueId'),
    last_event_id: pick('eventId'),
    dont_block: fc.constant(true),
  }),
  'bots.create': together({ full_name: name, short_name: fc.nat(60).map((n) => `bot${n}`) }),
  'users.create': together({
    email: fc.nat(60).map((n) => `new${n}@example.com`),
    full_name: name,
  }),
  'userGroups.create': together({ name, description: name, members: listOf(userId) }),
  'userGroups.updateMembers': fc.oneof(
    together(
      { user_group_id: pick('groupId'), add: oneOf(userId) },
      { add_subgroups: oneOf(pick('groupId')) },
    ),
    together({ user_group_id: pick('groupId'), delete: oneOf(userId) }),
  ),
  'userGroups.updateSubgroups': fc.oneof(
    together({ user_group_id: pick('groupId'), add: oneOf(pick('groupId')) }),
    together({ user_group_id: pick('groupId'), delete: oneOf(pick('groupId')) }),
  ),
  'userGroups.update': together({ user_group_id: pick('groupId'), description }),
  'channels.update': together({ stream_id: pick('channelId'), description }, { is_private: fc.boolean() }),
  'channelFolders.reorder': together({ order: pick('folderOrder') }),
  'push.removeDevice': together({ device_id: pick('ownDeviceId') }),
  'push.register': fc.oneof(
    together({ device_id: pick('ownDeviceId'), ...pushKey, ...pushToken }),
    together({ device_id: pick('ownDeviceId'), ...pushKey }),
  ),
  'push.sendTest': together({}, { device_id: pick('ownDeviceId') }),
  'calls.create': together({ provider }, { is_video_call: fc.boolean() }),
  'calls.register': together({ provider }),
  'calls.complete': together({ provider, state: pick('callState'), code: word('good', 'good', 'bad') }),
  'submessages.add': together({
    message_id: mostly(pick('pollId'), oneMessage),
    msg_type: word('widget'),
    content: mostly(vote, name),
  }),
  'files.get': fileAddress(),
  'files.download': fileAddress(),
  'files.getThumbnail': fileAddress({
    format: mostly(word('840x560.webp', '840x560-anim.webp', '1x1.jpg'), word('x', '..')),
  }),
  'files.getThumbnailStatus': fileAddress(),
  'files.createTemporaryLink': fileAddress(),
  'files.getTemporary': partsOf({ secret: 'linkSecret', filename: 'linkName' }),
  'files.remove': together({ attachment_id: mostly(pick('ownFileId')) }),
  'emoji.image': together({ realm: pick('realmId'), file: pick('file') }),
  'drafts.create': together({ drafts: oneOf(draft) }),
  'drafts.replace': together({ draft_id: pick('ownDraftId'), draft }),
  'scheduledMessages.create': fc.oneof(
    together({
      ...{ type: word('channel', 'stream'), to: pick('channelId') },
      ...{ topic, content, scheduled_delivery_timestamp: inFuture },
    }),
    together({
      ...{ type: word('direct', 'private'), to: oneOf(userId) },
      ...{ content, scheduled_delivery_timestamp: inFuture },
    }),
  ),
  'scheduledMessages.update': fc.oneof(
    together({ scheduled_message_id: pick('ownScheduledId'), content }),
    together({
      ...{ scheduled_message_id: pick('ownScheduledId'), type: word('channel') },
      ...{ to: pick('channelId'), topic },
    }),
  ),
  'navigationViews.add': fc.oneof(
    together({ fragment: word('inbox', 'recent', 'narrow/is/starred'), is_pinned: fc.boolean() }),
    together({ fragment: word('narrow/is/alerted', 'narrow/x'), is_pinned: fc.boolean(), name }),
  ),
  'navigationViews.update': together({ fragment, is_pinned: fc.boolean() }),
  'linkifiers.create': together(linkifier, linkifierMore),
  'linkifiers.update': together({ filter_id: pick('linkifierId'), ...linkifier }, linkifierMore),
  'playgrounds.create': together({
    ...{ name, pygments_language: word('Rust', 'C++', 'Python 3') },
    url_template: word('https://a.example/?code={code}', 'https://a.example/'),
  }),
  'defaultChannelGroups.create': together({
    ...{ group_name: name, description },
    stream_names: listOf(channelName, 2),
  }),
  'defaultChannelGroups.update': together(
    { group_id: pick('defaultGroupId'), new_description: description },
    { new_group_name: name },
  ),
  'invites.create': together({
    invitee_emails: numbered((n) => `guest${n}@example.com`),
    stream_ids: listOf(pick('channelId'), 1),
  }),
  'invites.createLink': together({}, { stream_ids: listOf(pick('channelId'), 1) }),
  'subscriptions.change': together(
    { add: oneOf(fc.record({ name })) },
    { delete: listOf(word('general', 'random'), 1) },
  ),
  'subscriptions.setProperty': subscriptionChange,
  'topics.mute': together({ topic, op: word('add', 'remove'), stream_id: pick('channelId') }),
  'typing.send': fc.oneof(
    together({ op: word('start', 'stop'), to: oneOf(userId) }),
    together({ type: word('channel'), op: word('start'), stream_id: pick('channelId'), topic }),
  ),
  'users.setStatusOf': together({ user: userId, status_text: name }, { emoji_name: word('smile') }),
  'messages.report': together({ message_id: oneMessage, report_type: word('spam', 'norms') }),
  'signIn.fetchApiKey': together({ username: pick('passwordEmail'), password: word(PASSWORD) }),
  'signIn.devFetchApiKey': together({ username: pick('email') }),
  'apiKeys.revoke': together({ key: pick('ownKeyId') }),
  'bots.updateStorage': together({ storage: fc.dictionary(fc.string({ maxLength: 3 }), name) }),
  'push.addApnsToken': together({ token: deviceToken, appid: word('org.example.chat') }),
  'push.removeApnsToken': together({ token: deviceToken }),
  'push.addFcmToken': together({ token: deviceToken }),
  'push.removeFcmToken': together({ token: deviceToken }),
  'exports.delete': together({ export_id: pick('exportId') }),
};
