import type { Objects, Outside } from '../../kernel/outside.ts';
import { MOMENT, type ReadEntry } from '../../log/slot.ts';
import type { ChannelWithSubscription } from '../../model/channel/access.ts';
import { type ApiKey, CREDENTIALS_CHANGED } from '../../model/user/api-key.ts';
import type { EventQueue } from './queue.ts';

/** An event queue and its owner, whose permissions are read again whenever there may be an event to return. */
export interface Listener {
  readonly outside: Outside;
  readonly realm: string;
  readonly userId: number;
  readonly ownerId?: number;
  /** The account, with the key that the poll came with. */
  readonly account: { readonly email: string; readonly apiKey: ApiKey };
  readonly queue: EventQueue;
  /** Whether they were a guest when the poll began. */
  readonly isGuest: boolean;
  /**
   * Channels whose new messages are not for this listener, at the point up to which the log was read. Kept from one
   * reading to the next, so that such messages cost nothing. Absent as long as there are none.
   */
  unheard?: Set<number> | undefined;
  /** Creates the download links in events about exports. */
  readonly objects: Pick<Objects, 'link'>;
}

/** Whether an entry can be for this listener, decided without reading anything. */
export function mayConcern({ outside, queue, userId, unheard }: Listener, entry: ReadEntry): boolean {
  const type = entry.kind === 'message' ? 'message' : entry.payload.type;
  // Whatever the client wants to hear, its key is checked again.
  const isKeyChange = type === CREDENTIALS_CHANGED;
  if (!isKeyChange && queue.eventTypes?.includes(type) === false) return false;
  if (entry.kind === 'message') {
    if (entry.channelId !== undefined && unheard?.has(entry.channelId)) return entry.senderId === userId;
    return entry.people === undefined || entry.people.includes(userId);
  }
  const { hearers, unless, given, momentary, at } = entry;
  if (unless !== undefined && queue.capabilities.includes(unless)) return false;
  if (given !== undefined && !queue.capabilities.includes(given)) return false;
  if (momentary && outside.now() - at > MOMENT) return false;
  if ('users' in hearers) return hearers.users.includes(userId);
  if ('subscribers' in hearers) return hearers.subscribers.includes(userId);
  return !('except' in hearers) || hearers.except?.includes(userId) !== true;
}

/** Types of events that change neither who follows a channel nor who may see what. */
const HARMLESS = new Set([
  'message',
  'reaction',
  'submessage',
  'update_message_flags',
  'presence',
  'typing',
  'typing_edit_message',
]);

/** Whether an entry leaves it as it is which channels a listener hears of. */
export const isHarmless = (entry: ReadEntry): boolean =>
  entry.kind === 'message' || HARMLESS.has(entry.payload.type);

/**
 * Notes the channels that the listener does not follow. Who follows one later hears only of messages after that
 * (`isSubscribedBefore`), and the log tells it before them.
 */
export function noteUnheard(
  listener: Listener,
  channels: ReadonlyMap<number, ChannelWithSubscription>,
  entries: readonly ReadEntry[],
): void {
  if (listener.queue.allPublicChannels) return;
  for (const entry of entries) {
    const channelId = entry.kind === 'message' ? entry.channelId : undefined;
    if (channelId === undefined || channels.get(channelId)?.subscription !== undefined) continue;
    listener.unheard ??= new Set();
    listener.unheard.add(channelId);
  }
}

const made = new WeakMap<readonly ReadEntry[], Map<string, unknown>>();

/**
 * Reads or makes something once for all listeners whom the same entries woke. Those of one room get the very same list
 * (`Follower`), and go on in the same moment. So what one of them reads is as new as what each would read by itself.
 *
 * @param entries the list as the log handed it out
 * @param what names it, with all that it depends on besides these entries
 */
export function onceFor<T>(entries: readonly ReadEntry[], what: string, make: () => T): T {
  const things = made.get(entries) ?? new Map<string, unknown>();
  made.set(entries, things);
  if (!things.has(what)) things.set(what, make());
  return things.get(what) as T;
}
