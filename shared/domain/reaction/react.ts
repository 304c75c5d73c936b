import type { Change } from '../../log/commit.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { Caller } from '../caller.ts';
import { messageKey, stillThere, type Target } from '../fetch/message-target.ts';
import type { Reader } from '../fetch/reader.ts';
import { folded } from '../folding.ts';
import { hearersOf } from '../message/message-hearers.ts';
import type { Known } from '../pointer.ts';
import { badRequest, refusal } from '../problems.ts';
import { doSetVisibility, type UserTopic } from '../topic/user-topic.ts';
import { automaticPolicy, visibility } from '../topic/visibility.ts';
import type { User } from '../user/user.ts';
import { settingsOf } from '../user/user-settings.ts';
import {
  type Emoji,
  type EmojiKey,
  reactionAttribute,
  reactionsOf,
  type StoredReaction,
  storedReaction,
} from './reaction.ts';
import { checkEmoji } from './reaction-emoji.ts';

/** Most reactions to one message: with its text it is one item of the table, which holds 400 KB. */
const MOST_REACTIONS = 2_000;

/** What a reaction changes besides the message: whoever reacts takes part in the topic. */
export interface Participation {
  readonly takesPart: boolean;
  readonly userTopic: UserTopic | undefined;
  readonly settings: ReturnType<typeof settingsOf>;
}

/** Reads it; undefined for a direct message. One round trip. */
export async function loadParticipation(
  { channelId, topic = '' }: MessageSlot,
  reader: Reader,
): Promise<Participation | undefined> {
  if (channelId === undefined) return undefined;
  const { table, realm, userId } = reader;
  const [takesPart, userTopic, settings] = await Promise.all([
    reader.takesPart(channelId, topic),
    table.get<UserTopic>(key('userTopic', { realm, userId, channelId, topic: folded(topic) })),
    table.get(key('settings', { realm, userId })),
  ]);
  return { takesPart, userTopic, settings: settingsOf(settings) };
}

/**
 * Decides that somebody may react so, and under which name: whoever reacts with a picture that is there already
 * joins those who did, even if its emoji was deactivated since.
 */
export function checkReaction(userId: number, message: MessageSlot, given: Emoji, known: Known): Emoji {
  if (storedReaction(message, given, userId) !== undefined) throw refusal('reactionExists');
  const all = reactionsOf(message);
  if (all.length >= MOST_REACTIONS) throw badRequest('This message has too many reactions.');
  const same = all.find(({ type, code }) => type === given.type && code === given.code);
  if (same !== undefined) return { ...given, name: same.name };
  checkEmoji(given, known);
  return given;
}

/** The stored reaction that somebody wants to take back; refuses where there is none. */
export function accessReaction(userId: number, message: MessageSlot, emoji: EmojiKey): StoredReaction {
  const stored = storedReaction(message, emoji, userId);
  if (stored === undefined) throw refusal('reactionDoesNotExist');
  return stored;
}

/** Adds a reaction. Whoever reacts takes part in the topic, which may change their policy for it. */
export function planReaction(
  caller: Caller,
  { message, seen, more: participation }: Target<Participation | undefined>,
  emoji: Emoji,
  now: number,
): { readonly count: number; readonly plan: (numbers: readonly number[]) => Change<Record<never, never>> } {
  const { realmId: realm, user } = caller;
  const attribute = reactionAttribute(emoji, user.userId);
  const policy = participation && policyFor(user, participation, seen?.subscription?.isMuted === true);
  const { channelId, topic = '' } = message;
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
        {
          update: messageKey(realm, message.id),
          change: { set: { [attribute]: { name: emoji.name, seq: numbers.at(-1) } } },
          when: { equals: { ...stillThere(message).equals, [attribute]: undefined } },
          inOrder: true,
        },
        ...(participation?.takesPart === false ? joinWrites(realm, message, user.userId) : []),
        ...visible.writes,
      ],
      entries: [...visible.entries, reactionEvent('add', message, user, emoji)],
      result: {},
    }),
  };
}

/** Takes a reaction back, held to the one that was seen. */
export const planRemoval =
  (caller: Caller, message: MessageSlot, emoji: EmojiKey, stored: StoredReaction) =>
  (): Change<Record<never, never>> => {
    const { realmId: realm, user } = caller;
    const attribute = reactionAttribute(emoji, user.userId);
    return {
      writes: [
        {
          update: messageKey(realm, message.id),
          change: { remove: [attribute] },
          when: { equals: { ...stillThere(message).equals, [attribute]: stored } },
          inOrder: true,
        },
      ],
      entries: [reactionEvent('remove', message, user, { ...emoji, name: stored.name })],
      result: {},
    };
  };

/** Reacting can make somebody follow a topic, or unmute it in a muted channel, where they want that. Bots never. */
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

/** The `reaction` event (wire facts 14.4), with the object `user` that older clients read. */
const reactionEvent = (op: 'add' | 'remove', message: MessageSlot, user: User, emoji: Emoji) => ({
  kind: 'event' as const,
  hearers: hearersOf(message),
  payload: {
    type: 'reaction',
    op,
    user_id: user.userId,
    user: { user_id: user.userId, email: user.email, full_name: user.fullName },
    message_id: message.id,
    emoji_name: emoji.name,
    emoji_code: emoji.code,
    reaction_type: emoji.type,
  },
});
