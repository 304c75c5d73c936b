import type { Key } from '../table/keys.ts';
import type { Message, MessageHead } from './message.ts';

/**
 * Who may hear of an event. It is judged when the event is read, not when it is written (DESIGN 5), so that
 * nobody who lost access hears more, and nothing is fanned out to recipients.
 */
export type Audience =
  /** Just these people. */
  | { readonly users: readonly number[] }
  /** Everybody in the organization; guests too unless said otherwise. */
  | { readonly everyone: 'all' | 'members' | 'administrators' }
  /** Those who may know that the channel exists (metadata access), but not the people in `except`. */
  | { readonly channel: number; readonly except?: readonly number[] }
  /** Those of these people who are still subscribed to the channel. */
  | { readonly channel: number; readonly subscribers: readonly number[] }
  /**
   * Those to whom a change of the channel showed it (`gained`), those from whom it hid it (`lost`), or those who may
   * know of it now and might both before and after the change (`kept`).
   */
  | {
      readonly channel: number;
      readonly sight: 'gained' | 'lost' | 'kept';
      readonly before: ChannelVisibility;
      readonly after: ChannelVisibility;
    }
  /** Those who take part in the conversation of this message: subscribers, or the people of a direct one. */
  | { readonly message: number; readonly channel: number }
  /** Those of these people who are still subscribed to the channel and may read the message. */
  | { readonly message: number; readonly channel: number; readonly subscribers: readonly number[] }
  /** The subscribers of either channel who may read the message in the second one, where it went. */
  | { readonly message: number; readonly channel: number; readonly movedTo: number }
  /** The subscribers of the first channel who may not read it there. */
  | { readonly message: number; readonly channel: number; readonly goneTo: number }
  | { readonly message: number; readonly users: readonly number[] };

type Setting =
  | number
  | { readonly direct_members: readonly number[]; readonly direct_subgroups: readonly number[] };

/** What decides who may know of a channel. `model/channel/access.ts` judges it. */
export interface ChannelVisibility {
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly groups: {
    readonly can_add_subscribers_group: Setting;
    readonly can_administer_channel_group: Setting;
    readonly can_subscribe_group: Setting;
  };
}

/** An event as clients get it, without its id: that is the number of its slot. */
export interface Payload {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** `joined`: members who joined after the first of these times and up to the second one (ms). */
export type Expansion =
  | 'subscribers'
  | 'company'
  | 'own'
  | 'others'
  | 'name'
  | 'defaultChannels'
  | 'defaultGroups'
  | 'emoji'
  | 'attachment'
  | 'exports'
  | 'channels'
  | 'group'
  | 'groupInUse'
  | { readonly joined: readonly [number, number] }
  | MembershipChange;

/**
 * People and groups that entered or left a group. The channels that they gain or lose sight of by that are computed when
 * the event is delivered. `joined` stands for members who joined between two times (ms).
 */
export interface MembershipChange {
  readonly group: number;
  readonly members?: readonly number[];
  readonly subgroups?: readonly number[];
  readonly joined?: readonly [number, number];
}

export interface EventEntry {
  readonly kind: 'event';
  readonly hearers: Audience;
  readonly payload: Payload;
  /** It changes who may see what; readers let it settle before they judge it and what comes after it. */
  readonly access?: true;
  /** What is not stored with it but read when the event is delivered. Readers let the event settle first. */
  readonly fill?: Expansion;
  /** It is only for clients that do not have this capability. */
  readonly unless?: 'archived_channels' | 'include_deactivated_groups' | 'individual_emoji_changes';
  /** It is only for clients that have this capability. */
  readonly given?: 'include_deactivated_groups' | 'individual_emoji_changes' | 'stream_typing_notifications';
  /** It means something only at once: a client that polls more than `MOMENT` later does not get it. */
  readonly momentary?: true;
  /** The message that it is about: each client gets the flags that it has for its user at delivery. */
  readonly about?: MessageHead;
}

/** How long (ms) a momentary event is delivered. */
export const MOMENT = 45_000;

type EventOptions = Omit<EventEntry, 'kind' | 'hearers' | 'payload'>;

/** An event for an audience. */
export const eventFor = (hearers: Audience, payload: Payload, options?: EventOptions): EventEntry => ({
  kind: 'event',
  hearers,
  payload,
  ...options,
});

/** An event for everyone in the organization, guests too. */
export const eventForEveryone = (payload: Payload, options?: EventOptions): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload,
  ...options,
});

/** Attributes that the commit adds, since they follow from the message and its number. */
type IndexKey = 'channelKey' | 'channelSort' | 'conversationKey' | 'conversationSort';

export interface MessageEntry {
  readonly kind: 'message';
  readonly message: Omit<Message, 'id' | IndexKey>;
}

/** What a writer puts on the log. A message is its own event: it is stored once, in a slot of its own. */
export type Entry = EventEntry | MessageEntry;

/** What every slot of the log carries. */
interface Written extends Key {
  readonly seq: number;
  /**
   * How many numbers the slot stands for: its own and those just below it. A writer takes as many numbers as it has
   * entries and puts all of them into one slot, so that a commit is seen whole or not at all.
   */
  readonly width: number;
  /** When the writer wrote it, ms. */
  readonly at: number;
  /** By this a writer whose reply was lost recognizes its own slot. */
  readonly commit: string;
  /**
   * When its numbers were taken, the last ones below them had been for so long that none of their writers is alive.
   * So a hole below it is passed as it is, however wide: its slots were deleted, or nobody will ever write them.
   */
  readonly isAfterSilence?: true;
  /**
   * The users in whose own items its commit wrote, if those and the log are all of it that registrations read. So others,
   * who have read the slot, need not wait until the rest of the transaction can be read too.
   */
  readonly owners?: readonly number[];
}

/** Events of one commit; the last one has the slot's number, the others those below it. */
export type EventSlot = Written & {
  readonly kind: 'event';
  readonly events: readonly StoredEvent[];
  readonly expires: number;
};
/** A message, with the events that are delivered just before it. */
export type MessageSlot = Written &
  Message & { readonly kind: 'message'; readonly before?: readonly StoredEvent[] };
/** Numbers that nobody will use: their writer died or was refused. */
export type Tombstone = Written & {
  readonly kind: 'tombstone';
  readonly expires: number;
  /** It stands for a message that was deleted: the events just before it, which are still delivered. */
  readonly before?: readonly StoredEvent[];
  /** That message, for readers of the log only, while a queue may still be behind it. */
  readonly message?: Message;
};

export type Slot = EventSlot | MessageSlot | Tombstone;

declare module '../table/keys.ts' {
  interface ItemTypes {
    slot: Slot;
  }
}

type StoredEvent = Omit<EventEntry, 'kind'>;

/** One entry as readers get it: with its own number and the time of its commit. */
export type ReadEvent = EventEntry & { readonly seq: number; readonly at: number };
export type ReadMessage = MessageSlot & {
  /** It was deleted since; its changes and its deletion are delivered after it. */
  readonly isDeleted?: true;
};
export type ReadEntry = ReadEvent | ReadMessage;

/** The entries of a slot with their numbers, in order. */
export function entriesOf(slot: Slot): ReadEntry[] {
  const { at } = slot;
  const numbered = (events: readonly StoredEvent[], last: number): ReadEvent[] =>
    events.map((event, i) => ({ kind: 'event', ...event, at, seq: last - events.length + 1 + i }));
  if (slot.kind === 'event') return numbered(slot.events, slot.seq);
  const before = numbered(slot.before ?? [], slot.seq - 1);
  if (slot.kind === 'message') return [...before, slot];
  const { kind, message, ...written } = slot;
  return message === undefined
    ? before
    : [...before, { ...written, ...message, kind: 'message', isDeleted: true }];
}

/**
 * What stands in the place of a message that was deleted at `now` (ms). It keeps the number, so that no reader of
 * the log meets a hole, and the mark of the commit, so that a sender whose reply was lost still knows its own slot.
 *
 * It keeps the message too, while a queue may still be behind it. Reactions, edits and the deletion are entries of their
 * own, which stay: without the message, a client would get events about a message that it never had.
 */
export function tombstoneOf(slot: MessageSlot, now: number): Omit<Tombstone, keyof Key> {
  const { pk, sk, seq, width, at, commit, kind, before, isAfterSilence, owners, ...message } = slot;
  // A name with a slash is a reaction, as earlier releases stored it: each has an entry of its own.
  const fields = Object.entries(message).filter(([name]) => !name.includes('/'));
  return {
    seq,
    width,
    at,
    commit,
    kind: 'tombstone',
    expires: expiry(now),
    ...(before && { before }),
    ...(isAfterSilence && { isAfterSilence }),
    ...(now - at < KEPT && { message: Object.fromEntries(fields) as unknown as Message }),
  };
}

/**
 * Whether the delivery of the slot, or of what follows it, depends on other items that its transaction or one just before
 * it may have changed: who may see what, what fills an event, the flags of its message, who takes part in a topic. A
 * reader who found such an item unchanged would deliver the old state, and no later event would correct it.
 */
export const dependsOnItems = (slot: Slot): boolean =>
  entriesOf(slot).some((entry) =>
    entry.kind === 'message'
      ? entry.mentions?.topic === true
      : entry.access === true || entry.fill !== undefined || entry.about !== undefined,
  );

/** Longest that an event queue may be idle (wire facts 2), seconds. */
export const LONGEST_IDLE = 7 * 24 * 3600;
/** How long events stay readable, ms: longer than the longest idle queue. Messages stay forever. */
export const KEPT = (LONGEST_IDLE + 24 * 3600) * 1000;
/** When DynamoDB may delete an event: later still, because its deletion comes in no order. Seconds. */
export const expiry = (at: number): number => Math.floor((at + KEPT) / 1000) + 24 * 3600;

/** Most bytes of events in one commit: they are one item, which holds 400 KB. */
const MAX_BYTES = 300_000;

/** Whether the events fit into one slot of the log. */
export const fitsSlot = (events: readonly object[]): boolean =>
  Buffer.byteLength(JSON.stringify(events)) <= MAX_BYTES;
