import { subscriptionFields } from '../../../shared/endpoints/objects.ts';
import type { Event } from '../event-queue.ts';
import {
  type Applying,
  channelsIn,
  dropChannels,
  everyList,
  type Json,
  type Known,
  subscribableIn,
  withIds,
  withoutIds,
} from './known.ts';

const idsOf = (channels: readonly Json[]): number[] => channels.map(({ stream_id }) => stream_id);

/** A channel of an event, without known subscribers unless the event has them. */
function discover(known: Known, { subscribers, ...channel }: Json): void {
  const { state, kind } = known;
  const present = channelsIn(known, channel.stream_id);
  for (const each of present) Object.assign(each, channel);
  if (present.length > 0) return;
  state.streams.push({ ...channel });
  const own = known.formerly.get(channel.stream_id);
  const list = own === undefined ? state.never_subscribed : state.unsubscribed;
  list.push({ ...channel, ...own, ...(kind.subscribers && { subscribers: subscribers ?? [] }) });
}

function forget(known: Known, ids: readonly number[]): void {
  const { state } = known;
  for (const subscription of [...state.subscriptions, ...state.unsubscribed]) {
    if (ids.includes(subscription.stream_id))
      known.formerly.set(subscription.stream_id, chosenIn(subscription));
  }
  dropChannels(known, ids, everyList);
  state.realm_default_streams = withoutIds(state.realm_default_streams, ids);
  leaveUnread(known, ids);
}

const chosenIn = (subscription: Json): Json =>
  Object.fromEntries(Object.keys(subscriptionFields).map((name) => [name, subscription[name]]));

/** What is unread is kept for those who are subscribed. */
function leaveUnread({ unread }: Known, ids: readonly number[]): void {
  for (const [id, { channelId }] of unread) {
    if (channelId !== undefined && ids.includes(channelId)) unread.delete(id);
  }
}

function update(known: Known, event: Event): void {
  const { stream_id, property, value, history_public_to_subscribers, is_web_public, rendered_description } =
    event;
  for (const channel of channelsIn(known, stream_id)) {
    if (!(property in channel)) throw new Error(`channels have no ${property}`);
    channel[property] = value;
    if (property === 'invite_only') Object.assign(channel, { history_public_to_subscribers, is_web_public });
    if (property === 'description') Object.assign(channel, { rendered_description });
  }
  if (property !== 'name') return;
  for (const bot of known.state.realm_bots) {
    for (const setting of ['default_sending_stream', 'default_events_register_stream']) {
      if (bot[setting] === event.name) bot[setting] = value;
    }
  }
}

function subscribe(known: Known, { subscriptions }: Event): void {
  const { state, kind } = known;
  dropChannels(known, idsOf(subscriptions), ['subscriptions', 'unsubscribed', 'never_subscribed']);
  for (const { subscribers, ...subscription } of subscriptions) {
    if (kind.subscribers !== (subscribers !== undefined)) {
      throw new Error(`subscribers ${kind.subscribers ? 'are missing' : 'were not asked for'}`);
    }
    state.subscriptions.push({ ...subscription, ...(kind.subscribers && { subscribers }) });
    // What was not read in a channel that comes back from the archive: clients for which it was gone fetch it.
    if (!kind.archivedChannels && known.formerly.has(subscription.stream_id)) known.stale.add('unread_msgs');
    // The event has the fields that changed while the channel was archived.
    const { subscriber_count, first_message_id, is_recently_active } = subscription;
    for (const channel of channelsIn(known, subscription.stream_id)) {
      Object.assign(channel, { subscriber_count, first_message_id, is_recently_active });
    }
  }
}

/** Clients keep what they chose for a channel, for when they come back. */
function unsubscribe(known: Known, { subscriptions }: Event): void {
  const { state, me } = known;
  const ids = idsOf(subscriptions);
  const left = state.subscriptions.filter(({ stream_id }: Json) => ids.includes(stream_id));
  dropChannels(known, ids, ['subscriptions']);
  state.unsubscribed.push(...left);
  for (const id of ids) count(known, id, [me], -1);
  leaveUnread(known, ids);
}

/** Adds people to a channel or takes them out, each once. Clients that know no names count. */
function count(known: Known, channelId: number, people: readonly number[], by: 1 | -1): void {
  const { kind } = known;
  const [told] = subscribableIn(known, channelId);
  if (told === undefined) return;
  if (kind.subscribers && told.subscribers === undefined) {
    throw new Error(`subscribers of ${channelId} come and go, and it was not told who they are`);
  }
  const before: number[] = told.subscribers ?? [];
  const after = by === 1 ? withIds(before, people) : withoutIds(before, people);
  const change = kind.subscribers ? after.length - before.length : by * people.length;
  for (const each of channelsIn(known, channelId)) each.subscriber_count += change;
  if (kind.subscribers) told.subscribers = after;
}

const peers =
  (by: 1 | -1) =>
  (known: Known, { stream_ids, user_ids }: Event): void => {
    for (const id of stream_ids) count(known, id, user_ids, by);
  };

function change(known: Known, { stream_id, property, value }: Event): void {
  const { state } = known;
  const subscription = state.subscriptions.find((each: Json) => each.stream_id === stream_id);
  if (!(property in subscription)) throw new Error(`subscriptions have no ${property}`);
  subscription[property] = value;
}

function folder({ state }: Known, id: number): Json {
  const found = state.channel_folders.find((each: Json) => each.id === id);
  if (found === undefined) throw new Error(`there is no folder ${id}`);
  return found;
}

/** What clients make of events about channels (wire facts 4.6, 5, 14.6). */
export const applyChannels: Applying = {
  'stream/create': (known, { streams }) => {
    for (const channel of streams) discover(known, channel);
  },
  'stream/delete': (known, { stream_ids }) => forget(known, stream_ids),
  'stream/update': update,
  'subscription/add': subscribe,
  'subscription/remove': unsubscribe,
  'subscription/update': change,
  'subscription/peer_add': peers(1),
  'subscription/peer_remove': peers(-1),
  default_streams: ({ state }, { default_streams }) => {
    state.realm_default_streams = default_streams;
  },
  default_stream_groups: ({ state }, { default_stream_groups }) => {
    state.realm_default_stream_groups = default_stream_groups;
  },
  'channel_folder/add': ({ state }, { channel_folder }) => void state.channel_folders.push(channel_folder),
  'channel_folder/update': (known, { channel_folder_id, data }) =>
    void Object.assign(folder(known, channel_folder_id), data),
  'channel_folder/reorder': (known, { order }) => {
    order.forEach((id: number, place: number) => {
      folder(known, id).order = place;
    });
  },
};
