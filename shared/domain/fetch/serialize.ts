import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { mayReadMessage } from '../../model/channel/access.ts';
import { hasAlertWord } from '../../model/message/alert-word.ts';
import { isReceived, messageFlags, readConversationOf } from '../../model/message/message.ts';
import { allSubmessages, messageObject, type RenderOptions } from '../../model/message/object.ts';
import { allReactions, type Reaction, reactionObject } from '../../model/message/reaction.ts';
import { isUnread } from '../../model/message/read-state.ts';
import { isGuest } from '../../model/permission/permission.ts';
import { loadCompiledLinkifiers } from '../../model/realm/linkifiers.ts';
import { anonymizedUser, type IsHidden, loadHidden } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { loadPlaces, oneOfEach, type Place } from '../reader/places.ts';
import type { Reader } from '../reader/reader.ts';
import { idsWhere } from '../reader/streams.ts';

/** A message of a reply, with its flags for the caller. */
export type FlaggedMessage = ReturnType<typeof messageObject> & { readonly flags: string[] };

/**
 * Reads messages and all that their objects need, and makes the objects, in the order of the heads. Leaves out messages that are
 * gone, that have moved to another conversation, or that the caller has no access to. One round trip.
 */
export async function serializeMessages(
  outside: Outside,
  caller: Caller,
  reader: Reader,
  heads: readonly MessageHead[],
  options: RenderOptions,
  areStarred = false,
): Promise<FlaggedMessage[]> {
  if (heads.length === 0) return [];
  const [{ starred, messages }, isHidden, linkifiers] = await Promise.all([
    loadWithContext(reader, heads, areStarred),
    loadHidden(outside, caller, heads.flatMap(peopleOf)),
    loadCompiledLinkifiers(outside, caller.realmId, caller.realm),
  ]);
  const existing = messages.filter((message) => message !== undefined);
  const placeOf = await loadPlaces(reader, existing);
  const readable = existing.filter((message) => isReadable(caller, message, placeOf(message)));
  const { realm, standing } = caller;
  const names = {
    users: await usersOf(reader, readable, isHidden),
    realmStringId: realm.stringId,
    historyVisibility: realm.settings.message_edit_history_visibility_policy,
    linkifiers,
    isGuest: isGuest(standing),
  };
  const self = await reader.self();
  const reactionsOf = await loadedReactions(reader, readable);
  const takePart = await partsIn(reader, readable);
  return readable.map((message) => {
    const { id } = message;
    const place = placeOf(message);
    const channelName = place.channel?.channel.name;
    const flags = messageFlags(message, {
      userId: reader.userId,
      groups: standing.groups,
      received: isReceived(reader.userId, message, place.subscription),
      takesPart: takePart.has(id),
      read: !isUnread(message, self, place.subscription, place.state),
      starred: starred.has(id),
      alerted: hasAlertWord(caller.user, message),
    });
    const shown = { ...names, ...(channelName !== undefined && { channelName }) };
    const reactions = allReactions(message, reactionsOf.get(id) ?? []).map(reactionObject);
    return { ...messageObject(message, shown, options, reactions, allSubmessages(message)), flags };
  });
}

/** Whether the caller may read a message now: one that they received, or in a channel whose history they can read. */
const isReadable = ({ standing, user }: Caller, message: MessageSlot, place: Place): boolean =>
  isReceived(user.userId, message, place.subscription) ||
  (place.channel !== undefined && mayReadMessage(standing, place.channel, message.id));

/** The reactions of messages, by their ids. No round trip: they were loaded beside the messages. */
async function loadedReactions(
  reader: Reader,
  messages: readonly MessageSlot[],
): Promise<ReadonlyMap<number, readonly Reaction[]>> {
  const reactions = await Promise.all(messages.map(({ id }) => reader.reactions(id)));
  return new Map(messages.map(({ id }, i) => [id, reactions[i] ?? []]));
}

/** Those of the messages that mention a topic in which the reader takes part. */
const partsIn = (reader: Reader, messages: readonly MessageSlot[]): Promise<ReadonlySet<number>> =>
  idsWhere(
    messages.filter(({ mentions }) => mentions?.topic === true),
    async ({ channelId, topic = '' }) => channelId !== undefined && reader.takesPart(channelId, topic),
  );

/** Reads messages with their context, reactions and stars, unless all are known to be starred. One round trip. */
export async function loadWithContext(
  reader: Reader,
  heads: readonly MessageHead[],
  areStarred = false,
): Promise<{
  readonly starred: ReadonlySet<number>;
  readonly messages: readonly (MessageSlot | undefined)[];
}> {
  const ids = heads.map(({ id }) => id);
  const [starred, messages] = await Promise.all([
    areStarred ? new Set(ids) : reader.stars(Math.min(...ids), Math.max(...ids)),
    Promise.all(heads.map((head) => loadMessage(reader, head))),
    ...ids.map((id) => reader.reactions(id)),
    ...oneOfEach(heads, contextOf).map((head) => reader.loadContext(head)),
  ]);
  return { starred, messages };
}

/** Messages with the same name have the same context. No conversation has a line break in it. */
const contextOf = (head: MessageHead): string =>
  [head.senderId, readConversationOf(head), head.mentions?.topic, head.conversation].join('\n');

async function loadMessage(reader: Reader, head: MessageHead): Promise<MessageSlot | undefined> {
  const message = await reader.message(head.id);
  if (message === undefined || message.conversation === head.conversation) return message;
  // Perhaps it was kept from a read before that of its head, and has moved here in between.
  reader.release([message]);
  const current = await reader.message(head.id);
  return current?.conversation === head.conversation ? current : undefined;
}

/** The senders and recipients of messages. Those hidden from the caller are anonymized. */
async function usersOf(
  reader: Reader,
  messages: readonly MessageSlot[],
  isHidden: IsHidden,
): Promise<ReadonlyMap<number, User>> {
  const ids = [...new Set(messages.flatMap(peopleOf))];
  const users = await Promise.all(ids.map((id) => reader.user(id)));
  return new Map(
    users
      .filter((user) => user !== undefined)
      .map((user) => [user.userId, isHidden(user) ? anonymizedUser(user) : user]),
  );
}

const peopleOf = ({ senderId, people = [] }: MessageHead): readonly number[] => [senderId, ...people];
