import type { MessageSlot } from '../../log/slot.ts';

/** The kinds of emoji on the wire: Unicode's, the organization's own, and the one of Zulip's own. */
export const reactionTypes = ['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji'] as const;
export type ReactionType = (typeof reactionTypes)[number];

/** Which picture it is, whatever name it goes by. */
export interface EmojiKey {
  readonly type: ReactionType;
  /** Code points of a built-in emoji, the id of a custom one. */
  readonly code: string;
}

export interface Emoji extends EmojiKey {
  readonly name: string;
}

/** Somebody's reaction to a message. */
export interface Reaction extends Emoji {
  readonly userId: number;
  /** The number of its event: reactions are shown in this order. */
  readonly seq: number;
}

/** The value that is stored for a reaction; the key or the name of the attribute tells the rest. */
export type StoredReaction = Pick<Reaction, 'name' | 'seq'>;

/** Whether two emoji are the same picture. */
export const isSameEmoji = (a: EmojiKey, b: EmojiKey): boolean => a.type === b.type && a.code === b.code;

/** Earlier releases stored a reaction as an attribute of its message, under a name that begins so. */
const IN_MESSAGE = 'reaction';

/** The attribute of a message in which an earlier release stored this reaction. */
export const attributeInMessage = ({ type, code }: EmojiKey, userId: number): string =>
  `${IN_MESSAGE}/${type}/${code}/${userId}`;

/** The reactions that earlier releases stored in the message itself, in no order. */
export const reactionsInMessage = (message: object): Reaction[] =>
  Object.entries(message).flatMap(([attribute, value]): Reaction[] => {
    const [prefix, type, code, userId, ...rest] = attribute.split('/');
    if (prefix !== IN_MESSAGE || code === undefined || userId === undefined || rest.length > 0) return [];
    const { name, seq } = value as StoredReaction;
    return [{ type: type as ReactionType, code, name, userId: Number(userId), seq }];
  });

/** The reactions to a message in the order in which they were made, from all the places where they are stored. */
export function allReactions(message: object, stored: readonly Reaction[]): Reaction[] {
  const byKey = new Map<string, Reaction>();
  const inOrder = [...reactionsInMessage(message), ...stored].sort((a, b) => a.seq - b.seq);
  for (const reaction of inOrder) {
    const name = attributeInMessage(reaction, reaction.userId);
    // During an upgrade, functions of two releases may both have stored it.
    if (!byKey.has(name)) byKey.set(name, reaction);
  }
  return [...byKey.values()];
}

/** A reaction as clients and archives see it (wire facts 14.4). */
export const reactionObject = ({ name, code, type, userId }: Reaction) => ({
  emoji_name: name,
  emoji_code: code,
  reaction_type: type,
  user_id: userId,
});

/** What an earlier release stored of this reaction in the message itself. */
export const storedInMessage = (
  message: MessageSlot,
  emoji: EmojiKey,
  userId: number,
): StoredReaction | undefined =>
  (message as unknown as Readonly<Record<string, StoredReaction | undefined>>)[
    attributeInMessage(emoji, userId)
  ];
