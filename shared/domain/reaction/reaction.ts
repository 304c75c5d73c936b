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

/** What the message holds of a reaction; the rest is in the name of the attribute. */
export type StoredReaction = Pick<Reaction, 'name' | 'seq'>;

/**
 * Each reaction is an attribute of its message, so that two at once are changes of different attributes and never
 * lose one another, and so that one person reacts with one picture once, whatever name they use for it.
 */
const PREFIX = 'reaction';

export const reactionAttribute = ({ type, code }: EmojiKey, userId: number): string =>
  `${PREFIX}/${type}/${code}/${userId}`;

/** The reactions to a message in the order in which they were made. */
export const reactionsOf = (message: object): Reaction[] =>
  Object.entries(message)
    .flatMap(([attribute, value]): Reaction[] => {
      const [prefix, type, code, userId, ...rest] = attribute.split('/');
      if (prefix !== PREFIX || code === undefined || userId === undefined || rest.length > 0) return [];
      const { name, seq } = value as StoredReaction;
      return [{ type: type as ReactionType, code, name, userId: Number(userId), seq }];
    })
    .sort((a, b) => a.seq - b.seq);

/** What the message holds of this person's reaction with this picture; undefined where there is none. */
export const storedReaction = (
  message: MessageSlot,
  emoji: EmojiKey,
  userId: number,
): StoredReaction | undefined =>
  (message as unknown as Readonly<Record<string, StoredReaction | undefined>>)[
    reactionAttribute(emoji, userId)
  ];
