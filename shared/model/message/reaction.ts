/** The types of emoji on the wire: Unicode, custom, and Zulip's own. */
export const reactionTypes = ['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji'] as const;
export type ReactionType = (typeof reactionTypes)[number];

/** Identifies an emoji, which may have several names. */
export interface EmojiKey {
  readonly type: ReactionType;
  /** Code points of a built-in emoji, the id of a custom one. */
  readonly code: string;
}

export interface Emoji extends EmojiKey {
  readonly name: string;
}

/** A user's reaction to a message. */
export interface Reaction extends Emoji {
  readonly userId: number;
  /** The log number of its event. Reactions are shown in this order. */
  readonly seq: number;
}

/** The stored value of a reaction; its key or attribute name has the rest. */
export type StoredReaction = Pick<Reaction, 'name' | 'seq'>;

/** Whether two emoji are the same, perhaps with different names. */
export const isSameEmoji = (a: EmojiKey, b: EmojiKey): boolean => a.type === b.type && a.code === b.code;

/** Prefix of the attributes of a message in which earlier releases stored reactions. */
const IN_MESSAGE = 'reaction';
const PREFIX = `${IN_MESSAGE}/`;

/** The attribute of a message in which an earlier release stored this reaction. */
export const attributeInMessage = ({ type, code }: EmojiKey, userId: number): string =>
  `${IN_MESSAGE}/${type}/${code}/${userId}`;

/** The reactions that earlier releases stored in the message, in no order. */
export function reactionsInMessage(message: object): Reaction[] {
  const found: Reaction[] = [];
  // Hundreds of messages are looked through at once, and hardly any has one.
  for (const attribute in message) {
    if (!attribute.startsWith(PREFIX)) continue;
    const [, type, code, userId, ...rest] = attribute.split('/');
    if (code === undefined || userId === undefined || rest.length > 0) continue;
    const { name, seq } = (message as Readonly<Record<string, StoredReaction>>)[attribute] as StoredReaction;
    found.push({ type: type as ReactionType, code, name, userId: Number(userId), seq });
  }
  return found;
}

/** All reactions to a message, oldest first, from the message and from `stored`. */
export function allReactions(message: object, stored: readonly Reaction[]): Reaction[] {
  const all = [...reactionsInMessage(message), ...stored];
  if (all.length < 2) return all;
  // During an upgrade, functions of two releases may both have stored one. Its first place in the order stays.
  const inOrder = all.sort((a, b) => b.seq - a.seq);
  return [...new Map(inOrder.map((each) => [attributeInMessage(each, each.userId), each])).values()].sort(
    (a, b) => a.seq - b.seq,
  );
}

/** A reaction as clients and archives see it (wire facts 14.4). */
export const reactionObject = ({ name, code, type, userId }: Reaction) => ({
  emoji_name: name,
  emoji_code: code,
  reaction_type: type,
  user_id: userId,
});

export type ReactionObject = ReturnType<typeof reactionObject>;

/** This reaction as an earlier release stored it in the message. */
export const storedInMessage = (
  message: object,
  emoji: EmojiKey,
  userId: number,
): StoredReaction | undefined =>
  new Map<string, StoredReaction>(Object.entries(message)).get(attributeInMessage(emoji, userId));
