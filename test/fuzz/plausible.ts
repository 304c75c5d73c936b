import fc from 'fast-check';
import * as z from 'zod/mini';
import type { Parameter } from '../../shared/endpoints/parameter.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { hostileText as hostileMarkdown } from '../support/hostile-text.ts';
import { type Draft, pick } from './draft.ts';

type Arbitrary = fc.Arbitrary<Draft>;
type Schema = z.core.JSONSchema.BaseSchema;

/** Words that are names of something now and then, so that names collide. */
export const name: Arbitrary = fc.oneof(
  fc.constantFrom<Draft[]>(
    'alpha',
    'Alpha',
    ' alpha ',
    'beta',
    'ÉTÉ',
    'e\u0301te\u0301',
    'a/b',
    '50%',
    '🙂',
    '',
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.nat(40).map((n) => `name ${n}`),
);

const id: Arbitrary = fc.oneof(
  fc.constantFrom<Draft[]>(0, -1, 1, 7, 999_999_999_999, 1_000_000_000_000, Number.MAX_SAFE_INTEGER),
  fc.nat(300),
);

/** Mostly something that is there. */
export const mostly = (arbitrary: Arbitrary, otherwise: Arbitrary = id): Arbitrary =>
  fc.oneof({ weight: 14, arbitrary }, { weight: 1, arbitrary: otherwise });

export const listOf = (arbitrary: Arbitrary, maxLength = 4): Arbitrary => fc.array(arbitrary, { maxLength });

export const groupId: Arbitrary = mostly(
  fc.oneof(
    fc.constantFrom<Draft[]>(...Object.values(systemGroups).map((group) => group.id)),
    pick('groupId'),
  ),
);
export const userId = mostly(pick('userId'));
const groupSetting: Arbitrary = fc.oneof(
  groupId,
  fc.record({ direct_members: listOf(userId, 3), direct_subgroups: listOf(groupId, 3) }),
);
const user: Arbitrary = fc.oneof(userId, pick('email'), fc.constant('me'));
export const channelName = mostly(pick('channelName'), name);
export const topic = mostly(pick('topic'), name);
const seconds: Arbitrary = fc.constantFrom<Draft[]>('unlimited', '1', '600', '0', '100000', '-1', 'x');

const operator: Arbitrary = fc.constantFrom<Draft[]>(
  ...[
    'channel',
    'stream',
    'topic',
    'dm',
    'dm-including',
    'sender',
    'id',
    'is',
    'near',
    'with',
    'search',
    'has',
    'in',
    'mentions',
  ],
  ...['channels', 'group-pm-with', 'pm-with', 'x'],
);
const operand: Arbitrary = fc.oneof(
  fc.constantFrom<Draft[]>(
    'dm',
    'starred',
    'unread',
    'mentioned',
    'followed',
    'muted',
    'public',
    'archived',
    'home',
    'link',
    'attachment',
    'reaction',
    'me',
    'resolved',
  ),
  ...[channelName, topic, userId, pick('email'), pick('messageId'), pick('channelId'), listOf(userId)],
);
export const narrow: Arbitrary = listOf(
  fc.oneof(fc.tuple(operator, operand), fc.record({ operator, operand, negated: fc.boolean() })),
  3,
);
export const oneMessage = mostly(pick('messageId'));
const eventTypes: Arbitrary = listOf(
  fc.constantFrom<Draft[]>('message', 'subscription', 'realm_user', 'stream', 'user_group', 'realm', 'x'),
);
const fieldValue: Arbitrary = fc.oneof(
  name,
  listOf(userId),
  fc.constantFrom<Draft[]>('2026-01-01', 'https://a.b/'),
);
export const description: Arbitrary = fc.oneof(name, hostileMarkdown);

/** Views that every client has, and two that need a name. */
export const fragment: Arbitrary = fc.constantFrom<Draft[]>(
  ...['inbox', 'recent', 'narrow/is/starred', 'narrow/is/alerted', 'narrow/x'],
);

/** What a parameter, or a field in one, of this name is usually given. */
const byName: Readonly<Record<string, Arbitrary>> = {
  to: fc.oneof(channelName, pick('channelId'), listOf(userId), listOf(pick('email')), userId),
  content: fc.oneof(hostileMarkdown, fc.string({ unit: 'grapheme' }), name),
  topic,
  subject: topic,
  topic_name: topic,
  queue_id: mostly(pick('queueId'), name),
  local_id: fc.nat(20).map(String),
  device_id: mostly(pick('deviceId')),
  last_event_id: fc.oneof(pick('eventId'), id),
  // A poll that waits takes the clock on by its time; a few of them do.
  dont_block: fc.nat(9).map((n) => n > 0),
  anchor: fc.oneof(fc.constantFrom<Draft[]>('newest', 'oldest', 'first_unread', 'date'), oneMessage),
  num_before: fc.oneof(fc.nat(20), id),
  num_after: fc.oneof(fc.nat(20), id),
  narrow,
  message_ids: listOf(oneMessage),
  msg_ids: listOf(oneMessage),
  anchor_date: fc.constantFrom<Draft[]>('2026-01-01', '2026-11-22T10:00', '2026-11-22T10:00:00+01:00', 'x'),
  message_id: oneMessage,
  messages: listOf(oneMessage),
  stream_id: mostly(pick('channelId')),
  emoji_name: mostly(
    fc.oneof(pick('emojiName'), fc.constantFrom<Draft[]>('smile', 'tada', '+1', 'zulip')),
    name,
  ),
  emoji_code: fc.oneof(pick('emojiId'), fc.constantFrom<Draft[]>('1f604', '1f389', 'zulip', '1F604')),
  prev_content_sha256: fc.constantFrom<Draft[]>('0'.repeat(64), 'x'),
  user,
  user_id: userId,
  user_ids: listOf(userId),
  muted_user_id: userId,
  sender_id: userId,
  bot_id: mostly(pick('botId'), userId),
  email: fc.oneof(
    pick('email'),
    fc.nat(60).map((n) => `new${n}@example.com`),
  ),
  full_name: fc.oneof(name, pick('fullName')),
  short_name: fc.nat(60).map((n) => `bot${n}`),
  bot_type: fc.constantFrom<Draft[]>(1, 2, 3, 4),
  role: fc.constantFrom<Draft[]>(100, 200, 300, 400, 600, 500),
  event_types: eventTypes,
  fetch_event_types: eventTypes,
  idle_queue_timeout: fc.constantFrom<Draft[]>('600', 'mobile', '0', '99999999', 'x'),
  default_sending_stream: channelName,
  default_events_register_stream: channelName,
  stream: channelName,
  name: mostly(fc.oneof(name, pick('channelName'), pick('groupName')), name),
  new_name: mostly(name, pick('channelName')),
  description,
  color: fc.constantFrom<Draft[]>('#76ce90', '#fff', 'red', '', '#76CE90'),
  subscribers: listOf(userId),
  principals: fc.oneof(listOf(userId), listOf(pick('email'))),
  folder_id: fc.oneof(pick('folderId'), fc.constant(null), id),
  channel_folder_id: mostly(pick('folderId')),
  message_retention_days: fc.constantFrom<Draft[]>('unlimited', 'realm_default', '30', '0', '-1', 'x'),
  topics_policy: fc.constantFrom<Draft[]>(
    ...['inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only', 'x'],
  ),
  field_id: mostly(pick('fieldId')),
  filter_id: mostly(pick('linkifierId')),
  playground_id: mostly(pick('playgroundId')),
  group_id: mostly(pick('defaultGroupId')),
  invite_id: mostly(pick('inviteId')),
  draft_id: mostly(pick('ownDraftId')),
  saved_snippet_id: mostly(pick('ownSnippetId')),
  scheduled_message_id: mostly(pick('ownScheduledId')),
  reminder_id: mostly(pick('ownReminderId')),
  scheduled_delivery_timestamp: mostly(fc.integer({ min: 2_000_000_000, max: 2_000_000_100 })),
  fragment: mostly(fragment, name),
  stream_ids: listOf(pick('channelId')),
  stream_names: listOf(channelName),
  id: fc.oneof(pick('fieldId'), id),
  field_type: fc.integer({ min: 0, max: 9 }),
  value: fieldValue,
  property: fc.constantFrom<Draft[]>('color', 'is_muted', 'pin_to_top', 'desktop_notifications', 'x'),
  domain: fc.oneof(pick('domain'), fc.constantFrom<Draft[]>('example.com', 'x', 'a.b.example.org')),
  members: listOf(userId),
  subgroups: listOf(groupId),
  user_group_id: groupId,
  add_subgroups: listOf(groupId),
  delete_subgroups: listOf(groupId),
  provider: fc.constantFrom<Draft[]>('zoom', 'webex', 'x'),
  timezone: fc.constantFrom<Draft[]>('Europe/Berlin', 'UTC', 'Mars/Base'),
  moderation_request_channel_id: fc.oneof(pick('channelId'), fc.constant(-1)),
  new_stream_announcements_stream_id: fc.oneof(pick('channelId'), fc.constant(-1)),
  message_edit_history_visibility_policy: fc.constantFrom<Draft[]>('all', 'moves', 'none'),
  file: pick('file'),
  realm: pick('realmId'),
  export_id: mostly(pick('exportId')),
  state: mostly(pick('callState'), name),
};

/** The same where one endpoint means something else by a name. */
const byEndpoint: Readonly<Record<string, Readonly<Record<string, Arbitrary>>>> = {
  'users.getStatus': { user: userId },
  'users.setStatusOf': { user: userId },
  'users.isSubscribed': { user: userId },
  'users.listChannels': { user: userId },
  'subscriptions.remove': { subscriptions: listOf(channelName) },
  'channelFolders.reorder': { order: listOf(pick('folderId')) },
  'profileFields.reorder': { order: listOf(pick('fieldId')) },
  'linkifiers.reorder': { ordered_linkifier_ids: pick('linkifierOrder') },
  'invites.revokeLink': { invite_id: mostly(pick('joinLinkId')) },
  'users.unmute': { muted_user_id: mostly(pick('ownMutedId')) },
  'userGroups.updateMembers': { add: listOf(userId), delete: listOf(userId) },
  'userGroups.updateSubgroups': { add: listOf(groupId), delete: listOf(groupId) },
};

/** A value for a parameter as a client might send it: by its name where that says something, else by its schema. */
export function plausible(endpointId: string, parameterName: string, parameter: Parameter): Arbitrary {
  const said = byEndpoint[endpointId]?.[parameterName];
  return said ?? named(parameterName, z.toJSONSchema(parameter.schema, { io: 'input' }));
}

function named(parameterName: string, schema: Schema): Arbitrary {
  if (/_group$|^can_.*_groups$/.test(parameterName)) {
    const change = fc.record({ new: groupSetting, old: groupSetting }, { requiredKeys: ['new'] });
    return schema.type === 'object' ? change : groupSetting;
  }
  if (/_seconds$/.test(parameterName) && schema.type === 'string') return seconds;
  return (schema.enum ? undefined : byName[parameterName]) ?? fromSchema(schema);
}

/** Any value that the schema allows, small ones rather than large ones. */
export function fromSchema(schema: Schema): Arbitrary {
  if (schema.const !== undefined) return fc.constant(schema.const as Draft);
  if (schema.enum) return fc.constantFrom(...(schema.enum as Draft[]));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => fromSchema(choice as Schema)));
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type) => fromSchema({ ...schema, type } as Schema)));
  }
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'integer':
    case 'number':
      return fc.oneof(
        id,
        fc.integer({
          min: Math.max(schema.minimum ?? -5, -1_000_000),
          max: Math.min(schema.maximum ?? 100, 1_000_000),
        }),
      );
    case 'string':
      return schema.maxLength === undefined ? name : fc.string({ maxLength: schema.maxLength + 1 });
    case 'array':
      return arrayOf(schema);
    case 'object':
      return objectOf(schema);
    default:
      return fc.jsonValue() as Arbitrary;
  }
}

function arrayOf({ prefixItems, items }: Schema): Arbitrary {
  if (prefixItems) return fc.tuple(...prefixItems.map((part) => fromSchema(part as Schema)));
  return listOf(typeof items === 'object' && !Array.isArray(items) ? fromSchema(items as Schema) : name);
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): Arbitrary {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => [field, named(field, schema as Schema)]),
  );
  const known = fc.record(fields, { requiredKeys: required });
  if (typeof additionalProperties !== 'object') return known;
  const more = fc.dictionary(fc.string({ maxLength: 8 }), fromSchema(additionalProperties as Schema), {
    maxKeys: 3,
  });
  return fc.tuple(known, more).map(([one, other]) => ({ ...one, ...other }));
}
