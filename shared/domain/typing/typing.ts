import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { Change } from '../../log/commit.ts';
import { eventFor } from '../../log/slot.ts';
import { accessContent, checkPosting, loadChannel } from '../../model/channel/access.ts';
import { checkTopic } from '../../model/message/message.ts';
import { accessRecipients } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import { settingsOf, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { checkSize } from '../send/request.ts';

/** A channel with more subscribers is not told who is typing (companion facts 1.13). */
export const MAX_SUBSCRIBERS = 100;

/** The parameters of `POST /typing`. */
interface TypingParameters {
  readonly type?: 'direct' | 'channel' | 'stream' | undefined;
  readonly op: 'start' | 'stop';
  readonly to?: readonly number[] | undefined;
  readonly stream_id?: number | undefined;
  readonly topic?: string | undefined;
}

/** A request that says that somebody started or stopped typing. */
type Typing = Pick<TypingParameters, 'op'> &
  (
    | { readonly kind: 'direct'; readonly userIds: readonly number[] }
    | { readonly kind: 'channel'; readonly channelId: number; readonly topic: string }
  );

/** Parses the parameters (companion facts 1.13). Throws `BAD_REQUEST`. */
export function parseTyping({ type = 'direct', op, to, stream_id, topic }: TypingParameters): Typing {
  if (type === 'direct') {
    if (to === undefined) throw badRequest("Typing in a direct conversation needs 'to'.");
    if (to.length === 0) throw badRequest("'to' needs at least one user.");
    const userIds = [...new Set(to)];
    checkSize(userIds.length);
    return { kind: 'direct', op, userIds };
  }
  if (stream_id === undefined) throw badRequest("Typing in a channel needs 'stream_id'.");
  if (topic === undefined) throw badRequest("Typing in a channel needs 'topic'.");
  return { kind: 'channel', op, channelId: stream_id, topic: checkTopic(topic) };
}

/**
 * Loads what decides whether the typing is announced, and to whom. One round trip. Of a large channel it reads one
 * subscriber more than the limit for events.
 */
export async function loadTyping(
  table: Table,
  realm: string,
  { userId, ownerId }: { readonly userId: number; readonly ownerId?: number },
  typing: Typing,
) {
  const settings = table.get('settings', { realm, userId });
  if (typing.kind === 'direct') {
    const ids = typing.userIds.filter(isId);
    const [own, people] = await Promise.all([
      settings,
      table.getMany(ids.map((id) => key('user', { realm, userId: id }))),
    ]);
    return { settings: settingsOf(own), people, seen: undefined, subscribers: [] };
  }
  const { channelId } = typing;
  const [own, seen, ownerSubscription, subscribers] = await Promise.all([
    settings,
    loadChannel(table, realm, channelId, userId),
    ownerId !== undefined && isId(channelId)
      ? table.get('subscription', { realm, userId: ownerId, channelId })
      : undefined,
    isId(channelId) ? table.all('subscriber', { realm, channelId }, { limit: MAX_SUBSCRIBERS + 1 }) : [],
  ]);
  return { settings: settingsOf(own), people: [], seen: seen && { ...seen, ownerSubscription }, subscribers };
}

type TypingSnapshot = Awaited<ReturnType<typeof loadTyping>>;

/** Where somebody types, and who hears of it. */
type TypingPlace =
  | { readonly people: readonly User[] }
  | { readonly channelId: number; readonly topic: string; readonly subscribers: readonly number[] };

/**
 * The place where the caller types: with people who all exist and whom they may see, or in a channel where they may post.
 * Undefined if the channel is too large: then nobody hears of it.
 *
 * @throws Refusal `BAD_REQUEST` also if the caller has turned these announcements off
 */
export async function accessTyping(
  outside: Outside,
  caller: Caller,
  typing: Typing,
  { settings, people, seen, subscribers }: TypingSnapshot,
): Promise<TypingPlace | undefined> {
  if (typing.kind === 'direct') {
    if (settings.send_private_typing_notifications !== true) throw isTurnedOff();
    await accessRecipients(outside, caller, typing.userIds, people);
    const others = people.filter(({ userId }) => userId !== caller.user.userId);
    checkSize(others.length + 1);
    return { people: [...others, caller.user].sort((a, b) => a.userId - b.userId) };
  }
  if (settings.send_stream_typing_notifications !== true) throw isTurnedOff();
  const { channel } = accessContent(caller.standing, seen);
  checkPosting(caller, {
    channel,
    subscription: seen?.subscription,
    ownerSubscription: seen?.ownerSubscription,
  });
  if (subscribers.length > MAX_SUBSCRIBERS) return undefined;
  const { channelId, topic } = typing;
  return { channelId, topic, subscribers: subscribers.map(({ userId }) => userId) };
}

export const isTurnedOff = () => badRequest('You have turned off telling others that you are typing.');

/**
 * Announces it (companion facts 1.13). Nothing is stored besides the event, and that is momentary: it takes 2 write
 * units, one for its number and one for its slot. Whether each of these people wants to know is asked at delivery.
 */
export function doTyping(user: User, op: Typing['op'], place: TypingPlace): Change<void> {
  const named = ({ userId, email }: User) => ({ user_id: userId, email });
  const event = { type: 'typing', op, sender: named(user) };
  const entry =
    'people' in place
      ? eventFor(
          { users: place.people.map(({ userId }) => userId) },
          { ...event, message_type: 'direct', recipients: place.people.map(named) },
          { momentary: true },
        )
      : eventFor(
          { channel: place.channelId, subscribers: place.subscribers },
          { ...event, message_type: 'stream', stream_id: place.channelId, topic: place.topic },
          { momentary: true, given: 'stream_typing_notifications' },
        );
  return { writes: [], entries: [entry], result: undefined };
}
