import { badRequest, refusal } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import { type Change, ConflictError } from '../../log/commit.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { audienceOf, messageKey, unmoved } from '../../model/message/message.ts';
import {
  attributeInMessage,
  type Emoji,
  type EmojiKey,
  isSameEmoji,
  reactionsInMessage,
  type StoredReaction,
  storedInMessage,
} from '../../model/message/reaction.ts';
import { checkEmoji } from '../../model/message/reaction-emoji.ts';
import {
  anyWithEmoji,
  doReact,
  doUnreact,
  inSummary,
  isOutdated,
  loadReactionState,
  type ReactionState,
} from '../../model/message/reaction-store.ts';
import {
  automaticPolicy,
  doSetVisibility,
  type UserTopic,
  visibility,
} from '../../model/message/user-topic.ts';
import type { Caller } from '../../model/user/caller.ts';
import { settingsOf, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { Reader } from '../reader/reader.ts';
import type { Target } from '../reader/target.ts';

/** Most reactions to one message: a message object has all of them, and a reply has a size limit. */
const MAX_REACTIONS = 2_000;

/** The state that a reaction depends on, besides the message. */
export interface ReactionSnapshot {
  readonly state: ReactionState;
  /** Undefined for a direct message, and when a reaction is removed. */
  readonly participation: Participation | undefined;
}

/** The state of the topic, since a user who reacts becomes a participant. */
interface Participation {
  readonly takesPart: boolean;
  readonly userTopic: UserTopic | undefined;
  readonly settings: ReturnType<typeof settingsOf>;
}

/** Loads the state before adding a reaction. One round trip. */
export async function loadReacting(
  message: MessageSlot,
  reader: Reader,
  emoji: EmojiKey | undefined,
): Promise<ReactionSnapshot> {
  const { table, realm, userId } = reader;
  const [state, participation] = await Promise.all([
    loadReactionState(table, realm, message.id, emoji, userId),
    loadParticipation(message, reader),
  ]);
  return { state, participation };
}

/** Loads the state before removing a reaction. One round trip. */
export async function loadUnreacting(
  { id }: MessageSlot,
  { table, realm, userId }: Reader,
  emoji: EmojiKey | undefined,
): Promise<ReactionSnapshot> {
  return { state: await loadReactionState(table, realm, id, emoji, userId), participation: undefined };
}

async function loadParticipation(
  { channelId, topic = '' }: MessageSlot,
  reader: Reader,
): Promise<Participation | undefined> {
  if (channelId === undefined) return undefined;
  const { table, realm, userId } = reader;
  const [takesPart, userTopic, settings] = await Promise.all([
    reader.takesPart(channelId, topic),
    table.get('userTopic', { realm, userId, channelId, topic: folded(topic) }),
    table.get('settings', { realm, userId }),
  ]);
  return { takesPart, userTopic, settings: settingsOf(settings) };
}

/**
 * Checks a new reaction and returns its emoji. If the message has the emoji already, the name is that of the first reaction,
 * and the emoji may be deactivated.
 */
export function checkReaction(
  userId: number,
  { message, more: { state } }: Target<ReactionSnapshot>,
  given: Emoji,
  resolved: Resolved,
): Emoji {
  if (isOutdated(message, state)) throw new ConflictError([]);
  if (reactionOf(userId, message, state, given) !== undefined) throw refusal('reactionExists');
  const inMessage = reactionsInMessage(message);
  if ((state.summary.count ?? 0) + inMessage.length >= MAX_REACTIONS) {
    throw badRequest('This message has too many reactions.');
  }
  const same = inMessage.find((reaction) => isSameEmoji(reaction, given)) ?? anyWithEmoji(state, given);
  if (same !== undefined) return { ...given, name: same.name };
  checkEmoji(given, resolved);
  return given;
}

/** The reaction to remove. Refuses if it does not exist. */
export function accessReaction(
  userId: number,
  { message, more: { state } }: Target<ReactionSnapshot>,
  emoji: EmojiKey,
): Emoji {
  if (isOutdated(message, state)) throw new ConflictError([]);
  const stored = reactionOf(userId, message, state, emoji);
  if (stored === undefined) throw refusal('reactionDoesNotExist');
  return { ...emoji, name: stored.name };
}

const reactionOf = (
  userId: number,
  message: MessageSlot,
  state: ReactionState,
  emoji: EmojiKey,
): StoredReaction | undefined =>
  storedInMessage(message, emoji, userId) ?? inSummary(state, emoji, userId) ?? state.own;

/** Adds a reaction. The user becomes a participant of the topic, which may change their policy for it. */
export function planReaction(
  caller: Caller,
  { message, seen, more: { state, participation } }: Target<ReactionSnapshot>,
  emoji: Emoji,
  now: number,
): { readonly count: number; readonly plan: (numbers: readonly number[]) => Change<Record<never, never>> } {
  const { realmId: realm, user } = caller;
  const policy = participation && policyFor(user, participation, seen?.subscription?.isMuted === true);
  const { id, channelId, topic = '' } = message;
  const most = MAX_REACTIONS - reactionsInMessage(message).length;
  const visible =
    policy === undefined || channelId === undefined
      ? { writes: [], entries: [] }
      : doSetVisibility(
          realm,
          user.userId,
          { channelId, topic, policy, updated: Math.floor(now / 1000) },
          participation?.userTopic,
        );
  return {
    count: visible.entries.length + 1,
    plan: (numbers) => ({
      writes: [
        ...doReact(realm, id, state, emoji, {
          userId: user.userId,
          seq: numbers.at(-1) as number,
          most,
        }),
        ...(participation?.takesPart === false ? joinWrites(realm, message, user.userId) : []),
        ...visible.writes,
      ],
      entries: [...visible.entries, reactionEvent('add', message, user, emoji)],
      result: {},
    }),
  };
}

/** Removes a reaction. Fails if it has changed. */
export const planRemoval =
  (caller: Caller, { message, more: { state } }: Target<ReactionSnapshot>, emoji: Emoji) =>
  (): Change<Record<never, never>> => {
    const { realmId: realm, user } = caller;
    return {
      writes: [
        ...doUnreact(realm, message.id, state, emoji, user.userId),
        ...takeOutOfMessage(realm, message, emoji, user.userId),
      ],
      entries: [reactionEvent('remove', message, user, emoji)],
      result: {},
    };
  };

/** Removes a reaction that an earlier release stored in the message. */
function takeOutOfMessage(realm: string, message: MessageSlot, emoji: EmojiKey, userId: number): Write[] {
  const stored = storedInMessage(message, emoji, userId);
  if (stored === undefined) return [];
  const attribute = attributeInMessage(emoji, userId);
  return [
    {
      update: messageKey(realm, message.id),
      change: { remove: [attribute] },
      when: { equals: { ...unmoved(message).equals, [attribute]: stored } },
      lastWriterWins: true,
    },
  ];
}

/** The user's automatic policy for the topic after they reacted. Bots have none. */
function policyFor(user: User, { settings, userTopic }: Participation, channelMuted: boolean) {
  if (user.isBot) return undefined;
  const current = userTopic?.policy ?? visibility.inherit;
  return automaticPolicy({ settings, current, channelMuted, startsTopic: false, onlyReacts: true });
}

function joinWrites(realm: string, { channelId, topic = '' }: MessageSlot, userId: number): Write[] {
  if (channelId === undefined) return [];
  const place = { realm, channelId, topic: folded(topic) };
  return [
    { put: key('participant', { ...place, userId }), item: { userId }, when: { absent: true } },
    { update: key('topic', place), change: { add: { participants: 1 } }, when: { absent: false } },
  ];
}

/** The `reaction` event (wire facts 14.4; without `user` since feature level 484, companion facts 4.9). */
const reactionEvent = (op: 'add' | 'remove', message: MessageSlot, user: User, emoji: Emoji) => ({
  kind: 'event' as const,
  hearers: audienceOf(message),
  payload: {
    type: 'reaction',
    op,
    user_id: user.userId,
    message_id: message.id,
    emoji_name: emoji.name,
    emoji_code: emoji.code,
    reaction_type: emoji.type,
  },
});
