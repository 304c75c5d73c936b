import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { hasReceived, mayRead, messageFlags } from '../../model/message/message.ts';
import { messageObject, type RenderOptions } from '../../model/message/object.ts';
import { allReactions, type Reaction } from '../../model/message/reaction.ts';
import { isGuest } from '../../model/permission/permission.ts';
import { anonymizedUser, type IsHidden, loadHidden } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { isUnreadBy } from '../reader/lanes.ts';
import type { Reader } from '../reader/reader.ts';

/** A message as a fetch tells it: with its flags for this reader. */
export type ToldMessage = ReturnType<typeof messageObject> & { readonly flags: string[] };

/**
 * Tells messages to somebody, in the order given. Those that are gone, that stand in another conversation by now,
 * or that the reader may not read are left out. One round trip for the messages and all that goes with them.
 */
export async function tellMessages(
  outside: Outside,
  caller: Caller,
  reader: Reader,
  heads: readonly MessageHead[],
  telling: RenderOptions,
): Promise<ToldMessage[]> {
  if (heads.length === 0) return [];
  const [{ starred, messages }, isHidden] = await Promise.all([
    loadForTelling(reader, heads),
    loadHidden(outside, caller, heads.flatMap(peopleOf)),
  ]);
  const readable: MessageSlot[] = [];
  for (const message of messages)
    if (message && (await mayRead(reader, caller.standing, message))) readable.push(message);
  const users = await namesOf(reader, readable, isHidden);
  return Promise.all(
    readable.map(async (message) => ({
      ...objectOf(
        message,
        caller,
        users,
        await channelName(reader, message),
        telling,
        await reader.reactions(message.id),
      ),
      flags: await flagsOf(reader, caller, message, starred.has(message.id)),
    })),
  );
}

/** Reads messages with everything that telling them needs, in one round trip. */
export async function loadForTelling(
  reader: Reader,
  heads: readonly MessageHead[],
): Promise<{
  readonly starred: ReadonlySet<number>;
  readonly messages: readonly (MessageSlot | undefined)[];
}> {
  const ids = heads.map(({ id }) => id);
  const [starred, ...messages] = await Promise.all([
    reader.stars(Math.min(...ids), Math.max(...ids)),
    ...heads.map((head) => loadMessage(reader, head)),
  ]);
  return { starred, messages };
}

async function loadMessage(reader: Reader, head: MessageHead): Promise<MessageSlot | undefined> {
  const [message] = await Promise.all([
    reader.message(head.id),
    reader.surroundings(head),
    reader.reactions(head.id),
  ]);
  return message?.conversation === head.conversation ? message : undefined;
}

const channelName = async (reader: Reader, { channelId }: MessageHead): Promise<string | undefined> =>
  channelId === undefined ? undefined : (await reader.seen(channelId))?.channel.name;

/** The people of these messages; those who are hidden from the caller without what tells who they are. */
async function namesOf(
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

function objectOf(
  message: MessageSlot,
  { realm, standing }: Caller,
  users: ReadonlyMap<number, User>,
  channelName: string | undefined,
  telling: RenderOptions,
  reactions: readonly Reaction[],
): ReturnType<typeof messageObject> {
  const names = {
    users,
    realmStringId: realm.stringId,
    historyVisibility: realm.settings.message_edit_history_visibility_policy,
    isGuest: isGuest(standing),
    ...(channelName !== undefined && { channelName }),
  };
  return messageObject(message, names, telling, allReactions(message, reactions));
}

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
  return messageFlags(message, { userId, groups, received, takesPart, read: !unread, starred });
}
