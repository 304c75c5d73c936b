import { MAX_UNREAD } from '../../../shared/domain/flags/unread.ts';
import type { Event } from '../event-queue.ts';
import {
  type Applying,
  channelsIn,
  type Json,
  type Known,
  sorted,
  type Unread,
  withIds,
  withoutIds,
} from './known.ts';

const mentionIn = (flags: readonly string[]): Unread['mentioned'] =>
  flags.includes('mentioned') ? 'name' : flags.includes('wildcard_mentioned') ? 'wildcard' : undefined;

function receive(known: Known, { message, flags }: Event): void {
  const { id, type, stream_id: channelId, subject: topic, display_recipient } = message;
  const { state } = known;
  state.max_message_id = Math.max(state.max_message_id, id);
  const people = type === 'private' ? sorted(display_recipient.map((one: Json) => one.id)) : undefined;
  const place = people === undefined ? { channelId, topic } : { people };
  if (!flags.includes('read')) known.unread.set(id, { ...place, mentioned: mentionIn(flags) });
  if (people === undefined) {
    for (const channel of channelsIn(known, channelId)) {
      channel.first_message_id ??= id;
      channel.is_recently_active = true;
    }
  } else {
    known.direct.set(id, people);
    converse(known, people, id);
  }
}

const keyOf = (people: readonly number[]): string => people.join();

/** Notes the newest message of a direct conversation. Without any, there is none. */
function converse({ state, me }: Known, people: readonly number[], id: number | undefined): void {
  const others = withoutIds(people, [me]);
  state.recent_private_conversations = state.recent_private_conversations.filter(
    ({ user_ids }: Json) => keyOf(user_ids) !== keyOf(others),
  );
  if (id !== undefined) {
    state.recent_private_conversations.push({ max_message_id: id, user_ids: others });
  }
}

function remove(known: Known, { message_id, message_ids = [message_id], message_type }: Event): void {
  const { state } = known;
  state.starred_messages = withoutIds(state.starred_messages, message_ids);
  for (const id of message_ids) {
    known.unread.delete(id);
    const people = known.direct.get(id);
    if (message_type !== 'private') continue;
    if (people === undefined) throw new Error('a direct message is deleted that the client never had');
    known.direct.delete(id);
    const left = [...known.direct].filter(([, each]) => keyOf(each) === keyOf(people)).map(([each]) => each);
    converse(known, people, left.length === 0 ? undefined : Math.max(...left));
  }
}

function edit(known: Known, event: Event): void {
  const { message_id, message_ids, subject, new_stream_id, flags } = event;
  const { state, unread, stale } = known;
  // In another channel they are read or unread by what was read there (docs/LIMITS.md), which a registration tells.
  if (new_stream_id !== undefined) stale.add('unread_msgs');
  // The event has the flags of one of the messages at the time of delivery.
  const star = flags.includes('starred') ? withIds : withoutIds;
  state.starred_messages = star(state.starred_messages, [message_id]);
  if (flags.includes('read')) unread.delete(message_id);
  else if (!unread.has(message_id)) unread.set(message_id, { channelId: event.stream_id, topic: subject });
  for (const id of message_ids) {
    const unread = known.unread.get(id);
    if (unread === undefined) continue;
    known.unread.set(id, {
      ...unread,
      ...(subject !== undefined && { topic: subject }),
      ...(new_stream_id !== undefined && { channelId: new_stream_id }),
      ...(id === message_id && { mentioned: mentionIn(flags) }),
    });
  }
}

/** Messages become read, or unread again: then they come with their places, since clients may not have them. */
const mark =
  (op: 'add' | 'remove') =>
  (known: Known, { flag, messages, message_details, all }: Event): void => {
    const { state, unread, me } = known;
    if (all) unread.clear();
    if (flag === 'starred') {
      const change = op === 'add' ? withIds : withoutIds;
      state.starred_messages = change(state.starred_messages, messages);
      return;
    }
    for (const id of messages) {
      if (op === 'add') unread.delete(id);
      else {
        const { type, stream_id: channelId, topic, user_ids, mentioned } = message_details[id];
        const place = type === 'stream' ? { channelId, topic } : { people: withIds(user_ids, [me]) };
        unread.set(id, { ...place, mentioned: mentioned ? 'name' : undefined });
      }
    }
  };

const isTopic = (channelId: number, topic: string) => (each: Json) =>
  each.stream_id === channelId && each.topic_name.toLowerCase() === topic.toLowerCase();

function setPolicy({ state }: Known, { id, type, ...policy }: Event): void {
  const is = isTopic(policy.stream_id, policy.topic_name);
  state.user_topics = state.user_topics.filter((each: Json) => !is(each));
  if (policy.visibility_policy !== 0) state.user_topics.push(policy);
}

/** What clients make of events about messages, and what is theirs of them (wire facts 14.3 to 14.6). */
export const applyMessages: Applying = {
  message: receive,
  update_message: edit,
  delete_message: remove,
  'update_message_flags/add': mark('add'),
  'update_message_flags/remove': mark('remove'),
  // Reactions stand with messages, which a registration does not tell.
  'reaction/add': () => {},
  'reaction/remove': () => {},
  // So do submessages.
  submessage: () => {},
  // Who is typing is never part of the state.
  'typing/start': () => {},
  'typing/stop': () => {},
  'typing_edit_message/start': () => {},
  'typing_edit_message/stop': () => {},
  user_topic: setPolicy,
  // Only for clients that do not take the event above; the list follows from it here (`mutedTopicsOf`).
  muted_topics: () => {},
};

/** Whether a topic says nothing: it is muted, or its channel is and the topic not unmuted or followed by itself. */
function isMuted({ state }: Known, channelId: number, topic: string): boolean {
  const policy = state.user_topics.find(isTopic(channelId, topic))?.visibility_policy ?? 0;
  const channel = state.subscriptions.find(({ stream_id }: Json) => stream_id === channelId);
  return policy === 1 || (policy === 0 && channel?.is_muted === true);
}

/** What is unread, in the form in which a registration tells it. */
export function unreadOf(known: Known): Json {
  const { unread, me } = known;
  // A registration tells the newest ones only, if there are very many.
  const messages = [...unread].sort(([a], [b]) => a - b).slice(-MAX_UNREAD);
  const silent = ({ channelId, topic = '' }: Unread): boolean =>
    channelId !== undefined && isMuted(known, channelId, topic);
  const grouped = (isHere: (message: Unread) => boolean, nameOf: (message: Unread) => string) =>
    [
      ...Map.groupBy(
        messages.filter(([, message]) => isHere(message)),
        ([, message]) => nameOf(message),
      ).values(),
    ].map((group) => ({
      newest: group.at(-1)?.[1] ?? {},
      unread_message_ids: group.map(([id]) => id),
    }));
  const directs = grouped(
    ({ people }) => people !== undefined,
    ({ people = [] }) => keyOf(people),
  );
  const isPair = ({ newest: { people = [] } }: { readonly newest: Unread }): boolean => people.length <= 2;
  return {
    count: messages.filter(([, message]) => !silent(message)).length,
    pms: directs.filter(isPair).map(({ newest: { people = [] }, unread_message_ids }) => {
      const other = people.find((id) => id !== me) ?? me;
      return { other_user_id: other, sender_id: other, unread_message_ids };
    }),
    huddles: directs
      .filter((group) => !isPair(group))
      .map(({ newest: { people = [] }, unread_message_ids }) => ({
        user_ids_string: people.join(),
        unread_message_ids,
      })),
    streams: grouped(
      ({ channelId }) => channelId !== undefined,
      ({ channelId, topic = '' }) => `${channelId} ${topic.toLowerCase()}`,
    ).map(({ newest: { channelId, topic }, unread_message_ids }) => ({
      stream_id: channelId,
      topic,
      unread_message_ids,
    })),
    mentions: messages
      .filter(
        ([, message]) =>
          message.mentioned === 'name' || (message.mentioned === 'wildcard' && !silent(message)),
      )
      .map(([id]) => id),
    old_unreads_missing: unread.size > MAX_UNREAD,
  };
}
