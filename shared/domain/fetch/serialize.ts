import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { hasAlertWord } from '../../model/message/alert-word.ts';
import { hasReceived, mayRead, messageFlags } from '../../model/message/message.ts';
import { allSubmessages, messageObject, type RenderOptions } from '../../model/message/object.ts';
import { allReactions, reactionObject } from '../../model/message/reaction.ts';
import { isGuest } from '../../model/permission/permission.ts';
import { loadCompiledLinkifiers } from '../../model/realm/linkifiers.ts';
import { anonymizedUser, type IsHidden, loadHidden } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import type { Reader } from '../reader/reader.ts';
import { isUnreadBy } from '../reader/streams.ts';

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
  const readable: MessageSlot[] = [];
  for (const message of messages)
    if (message && (await mayRead(reader, caller.standing, message))) readable.push(message);
  const { realm, standing } = caller;
  const names = {
    users: await usersOf(reader, readable, isHidden),
    realmStringId: realm.stringId,
    historyVisibility: realm.settings.message_edit_history_visibility_policy,
    linkifiers,
    isGuest: isGuest(standing),
  };
  return Promise.all(
    readable.map(async (message) => {
      const { id, channelId } = message;
      const channel = channelId === undefined ? undefined : (await reader.channel(channelId))?.channel;
      const reactions = allReactions(message, await reader.reactions(id)).map(reactionObject);
      return {
        ...messageObject(
          message,
          { ...names, ...(channel && { channelName: channel.name }) },
          options,
          reactions,
          allSubmessages(message),
        ),
        flags: await flagsOf(reader, caller, message, starred.has(id)),
      };
    }),
  );
}

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
  const [starred, ...messages] = await Promise.all([
    areStarred ? new Set(ids) : reader.stars(Math.min(...ids), Math.max(...ids)),
    ...heads.map((head) => loadMessage(reader, head)),
  ]);
  return { starred, messages };
}

async function loadMessage(reader: Reader, head: MessageHead): Promise<MessageSlot | undefined> {
  const [message] = await Promise.all([
    reader.message(head.id),
    reader.loadContext(head),
    reader.reactions(head.id),
  ]);
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

async function flagsOf(
  reader: Reader,
  caller: Caller,
  message: MessageSlot,
  starred: boolean,
): Promise<string[]> {
  const { channelId, topic = '', mentions } = message;
  const [received, unread, takesPart] = await Promise.all([
    hasReceived(reader, message),
    isUnreadBy(reader, message),
    channelId !== undefined && mentions?.topic === true && reader.takesPart(channelId, topic),
  ]);
  const { userId, groups } = caller.standing;
  return messageFlags(message, {
    userId,
    groups,
    received,
    takesPart,
    read: !unread,
    starred,
    alerted: hasAlertWord(caller.user, message),
  });
}
