import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import type { MessageHead } from '../../log/message.ts';
import { KEPT, type MessageSlot, type Slot } from '../../log/slot.ts';
import type { ChannelWithSubscription } from '../../model/channel/access.ts';
import type { Channel, Subscription } from '../../model/channel/channel.ts';
import type { DirectMembership } from '../../model/message/direct.ts';
import { isMessage } from '../../model/message/load.ts';
import { readConversationOf, topicConversation } from '../../model/message/message.ts';
import type { Reaction } from '../../model/message/reaction.ts';
import { loadReactions, reactedIn } from '../../model/message/reaction-store.ts';
import { loadReadStates, type ReadState } from '../../model/message/read-state.ts';
import { extents, loadRecentChanges, type RecentChanges } from '../../model/message/recent.ts';
import type { UserTopic, Visibility } from '../../model/message/user-topic.ts';
import type { MessageReader, User } from '../../model/user/user.ts';
import type { Table } from '../../table/table.ts';

/**
 * The data that a request reads for one user who reads messages. Each item is read once per request. Reads that start
 * in the same moment share a round trip, so callers start all of theirs at once.
 */
export class Reader {
  readonly table: Table;
  readonly realm: string;
  readonly userId: number;
  readonly #outside: Pick<Outside, 'table' | 'now' | 'cache'>;
  readonly #read = new Map<string, Promise<unknown>>();
  readonly #kept = new Map<number, MessageSlot>();
  /** Messages to which somebody reacted, as the slots of the log say that were read. */
  readonly #reacted = new Set<number>();
  /** Where the parts of the log begin that were read to its end. */
  readonly #ends: (() => number)[] = [];
  readonly #starred: {
    readonly from: number;
    readonly to: number;
    readonly ids: Promise<ReadonlySet<number>>;
  }[] = [];

  /** @param self the reader's own account, if it is known already */
  constructor(
    outside: Pick<Outside, 'table' | 'now' | 'cache'>,
    realm: string,
    userId: number,
    self?: MessageReader,
  ) {
    this.#outside = outside;
    this.table = outside.table;
    this.realm = realm;
    this.userId = userId;
    if (self) this.#read.set('self', Promise.resolve(self));
  }

  /** How many slots of the log there were lately for each message of the reader's; undefined if the container does not know. */
  get pace(): number | undefined {
    return this.#outside.cache.paces.get(`${this.userId}/${this.realm}`);
  }

  notePace(slotsPerMessage: number): void {
    this.#outside.cache.paces.set(`${this.userId}/${this.realm}`, slotsPerMessage);
  }

  #once<T>(name: string, load: () => Promise<T>): Promise<T> {
    const known = this.#read.get(name);
    if (known) return known as Promise<T>;
    const loading = load();
    this.#read.set(name, loading);
    return loading;
  }

  /** Recent changes, from the log, that the indexes may not show yet. The messages among them are kept. */
  recent(): Promise<RecentChanges> {
    return this.#once('recent', async () => {
      const changes = await loadRecentChanges(this.#outside, this.realm, extents.read);
      const { slots } = changes;
      this.keepSlots(slots);
      this.noteEnd(() => slots.at(-1)?.seq ?? Number.POSITIVE_INFINITY);
      return changes;
    });
  }

  /** Keeps the messages of these slots of the log, and which messages have reactions. */
  keepSlots(slots: readonly Slot[]): void {
    this.keep(slots.filter(isMessage));
    for (const id of reactedIn(slots)) this.#reacted.add(id);
  }

  /** Notes that all slots from a number to the end of the log are kept; infinity while they are not. */
  noteEnd(from: () => number): void {
    this.#ends.push(from);
  }

  /** A channel with the reader's subscription; undefined if there is no such channel. */
  channel(channelId: number): Promise<ChannelWithSubscription | undefined> {
    return this.#once(`channel ${channelId}`, async () => {
      if (!isId(channelId)) return undefined;
      const [channel, subscription] = await Promise.all([
        this.table.get('channel', { realm: this.realm, channelId }),
        this.subscription(channelId),
      ]);
      return channel && { channel, subscription };
    });
  }

  async subscription(channelId: number): Promise<Subscription | undefined> {
    if (this.#read.has('subscriptions')) return (await this.subscriptions()).get(channelId);
    const { realm, userId } = this;
    return this.#once(`subscription ${channelId}`, () =>
      this.table.get('subscription', { realm, userId, channelId }),
    );
  }

  /** The reader's subscriptions by channel. */
  subscriptions(table = this.table): Promise<ReadonlyMap<number, Subscription>> {
    return this.#once('subscriptions', async () => {
      const all = await table.all('subscription', this);
      return new Map(all.map((subscription) => [subscription.channelId, subscription]));
    });
  }

  /** The reader's direct conversations. */
  directMemberships(table = this.table): Promise<readonly DirectMembership[]> {
    return this.#once('dialogues', () => table.all('dialogue', this));
  }

  /** Reads both by one query, as they stand side by side. */
  async loadOwnPlaces(): Promise<void> {
    const lists = this.table.joined(this, [['subscription', 'dialogue']]);
    await Promise.all([this.subscriptions(lists), this.directMemberships(lists)]);
  }

  /** The reader's policies for topics. */
  topicPolicies(): Promise<readonly UserTopic[]> {
    return this.#once('topicPolicies', () => this.table.all('userTopic', this));
  }

  /** The same by conversation. */
  policies(): Promise<ReadonlyMap<string, Visibility>> {
    return this.#once('policies', async () => {
      const all = await this.topicPolicies();
      return new Map(
        all.map(({ channelId, topic, policy }) => [topicConversation(channelId, topic), policy]),
      );
    });
  }

  /** All channels of the organization. */
  channels(): Promise<readonly Channel[]> {
    return this.#once('channels', () => this.table.all('channel', this));
  }

  /** The read states of all conversations, or of the topics of one channel. */
  states(channelId?: number): Promise<ReadonlyMap<string, ReadState>> {
    return this.#once(stateList(channelId), async () => {
      const states = await loadReadStates(this.table, this.realm, this.userId, channelId);
      return new Map(states.map((state) => [state.conversation, state]));
    });
  }

  /** The read state of one conversation. */
  async state(conversation: string, channelId?: number): Promise<ReadState | undefined> {
    for (const list of [stateList(), stateList(channelId)]) {
      const states = this.#read.get(list) as Promise<ReadonlyMap<string, ReadState>> | undefined;
      if (states) return (await states).get(conversation);
    }
    const { realm, userId } = this;
    return this.#once(`state ${conversation}`, () => this.table.get('read', { realm, userId, conversation }));
  }

  /** What the reader has read of the conversation whose read states hold a message. */
  stateFor(head: Pick<MessageHead, 'conversation' | 'readIn' | 'channelId'>): Promise<ReadState | undefined> {
    return this.state(readConversationOf(head), head.channelId);
  }

  /** Whether the reader sent to the topic or reacted in it. */
  async takesPart(channelId: number, topic: string): Promise<boolean> {
    const { realm, userId } = this;
    const participant = await this.#once(`participant ${channelId} ${topic}`, () =>
      this.table.get('participant', { realm, channelId, topic: folded(topic), userId }),
    );
    return participant !== undefined;
  }

  /** Starred messages, at least all in a range of ids, both ends included. */
  stars(from: number, to: number): Promise<ReadonlySet<number>> {
    const known = this.#starred.find((range) => range.from <= from && to <= range.to);
    if (known) return known.ids;
    const { realm, userId } = this;
    const range = { from: { messageId: from }, to: { messageId: to } };
    const ids = this.table
      .all('star', { realm, userId }, range)
      .then((all) => new Set(all.filter(({ removed }) => !removed).map(({ messageId }) => messageId)));
    this.#starred.push({ from, to, ids });
    return ids;
  }

  /**
   * The reader's own account, which says whom they muted. A request reads it as its caller: asked for in the same moment, it
   * takes no read of its own.
   */
  self(): Promise<MessageReader> {
    const { userId } = this;
    return this.#once('self', async () => (await this.user(userId)) ?? { userId });
  }

  user(userId: number): Promise<User | undefined> {
    return this.#once(`user ${userId}`, async () =>
      isId(userId) ? this.table.get('user', { realm: this.realm, userId }) : undefined,
    );
  }

  /** A message, with or without access. Only some are kept: a long reply would fill the memory. */
  async message(id: number): Promise<MessageSlot | undefined> {
    const kept = this.#kept.get(id);
    if (kept !== undefined || !isId(id)) return kept;
    const slot = await this.table.get('slot', { realm: this.realm, seq: id });
    if (slot?.kind !== 'message') return undefined;
    if (this.#kept.size < MAX_KEPT) this.#kept.set(id, slot);
    return slot;
  }

  /**
   * The reactions that are stored apart from a message. One round trip, two if there are many; none if the log says that
   * nobody reacted.
   */
  async reactions(messageId: number): Promise<readonly Reaction[]> {
    if (this.#isWithoutReactions(messageId)) return [];
    return this.#once(`reactions ${messageId}`, () =>
      loadReactions(this.table, this.realm, messageId, this.#outside.cache),
    );
  }

  /** Every reaction is an event after its message, so that a part of the log that goes to the end has all of them. */
  #isWithoutReactions(messageId: number): boolean {
    const message = this.#kept.get(messageId);
    // Of older messages, events may be deleted.
    if (message === undefined || message.at < this.#outside.now() - KEPT) return false;
    return !this.#reacted.has(messageId) && this.#ends.some((from) => from() <= messageId);
  }

  /**
   * Reads what serializing a message needs besides the message, its reactions and its star: its read state, its channel,
   * its people, the reader, and whether the reader takes part in a topic that it mentions.
   */
  async loadContext(head: Omit<MessageHead, 'id' | 'readBySender'>): Promise<void> {
    const { senderId, channelId, topic = '', people = [], mentions } = head;
    await Promise.all([
      this.self(),
      this.stateFor(head),
      channelId !== undefined && this.channel(channelId),
      channelId !== undefined && mentions?.topic && this.takesPart(channelId, topic),
      ...[senderId, ...people].map((userId) => this.user(userId)),
    ]);
  }

  /** Keeps messages that were read elsewhere, until they are released. */
  keep(messages: readonly MessageSlot[]): void {
    for (const message of messages) this.#kept.set(message.id, message);
  }

  release(messages: readonly MessageSlot[]): void {
    for (const { id } of messages) this.#kept.delete(id);
  }
}

/** Most messages that are kept without a call of `keep`. */
const MAX_KEPT = 500;

/** The name under which a list of read states is remembered. */
const stateList = (channelId?: number): string => `states ${channelId ?? ''}`;
