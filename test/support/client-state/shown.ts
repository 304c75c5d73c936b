import { unreadOf } from './apply-messages.ts';
import { permissionsOf } from './apply-people.ts';
import { type Json, type Known, sorted } from './known.ts';

/*
 * What is compared between a client that followed the events and one that registers again: everything except the fields
 * that are named here.
 */

/** What is of one registration only. */
const ofRegistration = ['queue_id', 'last_event_id', 'server_timestamp'] as const;

/** Clients get presences in reply to their own pings; events only tell some of them early (`test/presence`). */
const ofPings = ['presences', 'presence_last_update_id'] as const;

/** A bound of message ids, which may be higher: it counts deleted messages, and events for other users. */
const bounds = ['max_message_id'] as const;

/** Older forms of settings, which a registration tells and no event (companion facts 4.9). */
export const deprecated: readonly string[] = [
  'realm_create_public_stream_policy',
  'realm_create_private_stream_policy',
  'realm_create_web_public_stream_policy',
  'realm_wildcard_mention_policy',
];

const excluded = new Set<string>([...ofRegistration, ...ofPings, ...bounds, ...deprecated]);

/** Lists whose order says nothing, with what they are sorted by. */
const orders: Readonly<Record<string, (each: Json) => string | number>> = {
  subscriptions: ({ stream_id }) => stream_id,
  unsubscribed: ({ stream_id }) => stream_id,
  never_subscribed: ({ stream_id }) => stream_id,
  streams: ({ stream_id }) => stream_id,
  realm_users: ({ user_id }) => user_id,
  realm_non_active_users: ({ user_id }) => user_id,
  cross_realm_bots: ({ user_id }) => user_id,
  realm_bots: ({ user_id }) => user_id,
  realm_user_groups: ({ id }) => id,
  realm_default_streams: (id) => id,
  realm_domains: ({ domain }) => domain,
  channel_folders: ({ order }) => order,
  starred_messages: (id) => id,
  recent_private_conversations: ({ max_message_id }) => max_message_id,
  user_topics: ({ stream_id, topic_name }) => `${stream_id} ${topic_name}`,
  muted_topics: ([name, topic]) => `${name} ${topic}`,
};

/** Clients get messages of channels that they are subscribed to, but cannot derive the state of other channels. */
const ofMessages = new Set(['first_message_id', 'is_recently_active']);

const without = (object: Json, names: ReadonlySet<string>): Json =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)));

/** The topics that are muted, by the name of their channel, as older clients keep them. */
function mutedTopicsOf({ state }: Known): Json[] {
  const names = new Map(
    [...state.subscriptions, ...state.unsubscribed, ...state.never_subscribed].map(({ stream_id, name }) => [
      stream_id,
      name,
    ]),
  );
  return state.user_topics.flatMap(({ stream_id, topic_name, visibility_policy, last_updated }: Json) =>
    visibility_policy === 1 && names.has(stream_id) ? [[names.get(stream_id), topic_name, last_updated]] : [],
  );
}

/** What people say of themselves is kept while they are away, and not shown. */
const statusesOf = ({ state }: Known): Json => {
  const active = new Set(state.realm_users.map(({ user_id }: Json) => String(user_id)));
  return Object.fromEntries(Object.entries(state.user_status).filter(([userId]) => active.has(userId)));
};

/** The state that the client has come to by events, with what it works out from the rest. */
export const followed = (known: Known): Json => ({
  ...known.state,
  ...permissionsOf(known),
  unread_msgs: unreadOf(known),
  muted_topics: mutedTopicsOf(known),
  user_status: statusesOf(known),
});

/** A state in the form in which two can be compared. */
export function comparable(state: Json): Json {
  const ids = new Set(state.subscriptions.map(({ stream_id }: Json) => stream_id));
  const channel = (each: Json): Json => ({
    ...(ids.has(each.stream_id) ? each : without(each, ofMessages)),
    ...(each.subscribers && { subscribers: sorted(each.subscribers) }),
  });
  const group = (each: Json): Json => ({
    ...each,
    members: sorted(each.members),
    direct_subgroup_ids: sorted(each.direct_subgroup_ids),
  });
  const each: Readonly<Record<string, (one: Json) => Json>> = {
    subscriptions: channel,
    unsubscribed: channel,
    never_subscribed: channel,
    streams: channel,
    realm_user_groups: group,
  };
  return Object.fromEntries(
    Object.entries(state)
      .filter(([name]) => !excluded.has(name))
      .map(([name, value]) => {
        if (name === 'unread_msgs') return [name, unreadInOrder(value)];
        const order = orders[name];
        if (order === undefined) return [name, value];
        const list = (value as Json[]).map(each[name] ?? ((one) => one));
        return [name, list.sort((a, b) => (order(a) < order(b) ? -1 : 1))];
      }),
  );
}

/** Conversations in the order of their first messages. */
const unreadInOrder = ({ pms, huddles, streams, ...rest }: Json): Json => {
  const inOrder = (list: Json[]): Json[] =>
    [...list].sort((a, b) => a.unread_message_ids[0] - b.unread_message_ids[0]);
  return { ...rest, pms: inOrder(pms), huddles: inOrder(huddles), streams: inOrder(streams) };
};
