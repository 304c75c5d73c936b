import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import { folded } from '../../kernel/text.ts';
import { type Change, ConflictError } from '../../log/commit.ts';
import type { EventEntry, MessageSlot } from '../../log/slot.ts';
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
import { settingsOf, type User, type UserSettings } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { Reader } from '../reader/reader.ts';
import type { Target } from '../reader/target.ts';

/** Most reactions to one message: a message object has all of them, and a reply has a size limit. */
const MAX_REACTIONS = 2_000;

/** The state that a reaction depends on. */
export interface ReactionSnapshot {
  readonly state: ReactionState;
  /** The state of the topic, since a user who reacts becomes a participant. Absent for direct messages and removals. */
  readonly participation?: {
    readonly takesPart: boolean;
    readonly userTopic: UserTopic | undefined;
    readonly settings: UserSettings;
  };
}

/** Loads the state before adding a reaction. One round trip. */
export async function loadReacting(
  message: MessageSlot,
  reader: Reader,
  emoji: EmojiKey | undefined,
): Promise<ReactionSnapshot> {
  const { channelId, topic = '' } = message;
  if (channelId === undefined) return loadUnreacting(message, reader, emoji);
  const { table, realm, userId } = reader;
  const [{ state }, takesPart, userTopic, settings] = await Promise.all([
    loadUnreacting(message, reader, emoji),
    reader.takesPart(channelId, topic),
    table.get('userTopic', { realm, userId, channelId, topic: folded(topic) }),
    table.get('settings', { realm, userId }),
  ]);
  return { state, participation: { takesPart, userTopic, settings: settingsOf(settings) } };
}

/** Loads the state before removing a reaction. One round trip. */
export const loadUnreacting = async (
  { id }: MessageSlot,
  { table, realm, userId }: Reader,
  emoji: EmojiKey | undefined,
): Promise<ReactionSnapshot> => ({ state: await loadReactionState(table, realm, id, emoji, userId) });

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
  { realmId: realm, user }: Caller,
  { message, seen, more: { state, participation } }: Target<ReactionSnapshot>,
  emoji: Emoji,
  now: number,
): { readonly count: number; readonly plan: (numbers: readonly number[]) => Change<Record<never, never>> } {
  const { userId } = user;
  const { id, channelId, topic = '' } = message;
  const most = MAX_REACTIONS - reactionsInMessage(message).length;
  const entries: EventEntry[] = [];
  const writes: Write[] = [];
  if (participation !== undefined && channelId !== undefined) {
    const { takesPart, userTopic, settings } = participation;
    const place = { realm, channelId, topic: folded(topic) };
    if (!takesPart) {
      writes.push(
        { put: key('participant', { ...place, userId }), item: { userId }, when: { absent: true } },
        { update: key('topic', place), change: { add: { participants: 1 } }, when: { absent: false } },
      );
    }
    const current = userTopic?.policy ?? visibility.inherit;
    const channelMuted = seen?.subscription?.isMuted === true;
    const automatic = { settings, current, channelMuted, startsTopic: false, onlyReacts: true };
    // Bots have no policies.
    const policy = user.isBot ? undefined : automaticPolicy(automatic);
    if (policy !== undefined) {
      const updated = Math.floor(now / 1000);
      const changed = doSetVisibility(realm, userId, { channelId, topic, policy, updated }, userTopic);
      writes.push(...changed.writes);
      entries.push(...changed.entries);
    }
  }
  return {
    count: entries.length + 1,
    plan: (numbers) => ({
      writes: [
        ...doReact(realm, id, state, emoji, { userId, seq: numbers.at(-1) as number, most }),
        ...writes,
      ],
      entries: [...entries, reactionEvent('add', message, user, emoji)],
      result: {},
    }),
  };
}

/** Removes a reaction. Fails if it has changed. */
export function doRemoveReaction(
  { realmId: realm, user }: Caller,
  { message, more: { state } }: Target<ReactionSnapshot>,
  emoji: Emoji,
): Change<Record<never, never>> {
  const writes = doUnreact(realm, message.id, state, emoji, user.userId);
  // An earlier release stored it in the message.
  const stored = storedInMessage(message, emoji, user.userId);
  const attribute = attributeInMessage(emoji, user.userId);
  const inMessage: Write = {
    update: messageKey(realm, message.id),
    change: { remove: [attribute] },
    when: { equals: { ...unmoved(message).equals, [attribute]: stored } },
    lastWriterWins: true,
  };
  return {
    writes: stored === undefined ? writes : [...writes, inMessage],
    entries: [reactionEvent('remove', message, user, emoji)],
    result: {},
  };
}

/** The `reaction` event (wire facts 14.4; without `user` since feature level 484, companion facts 4.9). */
const reactionEvent = (op: 'add' | 'remove', message: MessageSlot, user: User, emoji: Emoji): EventEntry => ({
  kind: 'event',
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
