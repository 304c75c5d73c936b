import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot, Slot } from '../../log/slot.ts';
import { type Key, key, partition, sortPrefix } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Channel, Subscription } from '../channel/channel.ts';
import { isId, type Seen } from '../channel/channel-access.ts';
import { folded } from '../folding.ts';
import { readPlaceOf } from '../message/message-head.ts';
import type { Dialogue } from '../send/direct.ts';
import type { UserTopic } from '../topic/user-topic.ts';
import { loadReadStates, type ReadState } from '../unread/read-state.ts';
import type { Star } from '../unread/star.ts';
import type { User } from '../user/user.ts';

/**
 * What a request reads for one person who looks at messages. Each thing is asked for by name and read once; what is
 * asked for in the same moment travels together, so callers just say what they need, all of it at once.
 */
export class Reader {
  readonly table: Table;
  readonly realm: string;
  readonly userId: number;
  readonly #read = new Map<string, Promise<unknown>>();
  readonly #kept = new Map<number, MessageSlot>();

  constructor(table: Table, realm: string, userId: number) {
    this.table = table;
    this.realm = realm;
    this.userId = userId;
  }

  #once<T>(name: string, load: () => Promise<T>): Promise<T> {
    const known = this.#read.get(name);
    if (known) return known as Promise<T>;
    const loading = load();
    this.#read.set(name, loading);
    return loading;
  }

  #item<T>(at: Key): Promise<T | undefined> {
    return this.#once(`${at.pk} ${at.sk}`, () => this.table.get<T>(at));
  }

  /** A channel with the reader's own subscription to it; undefined when there is no such channel. */
  async seen(channelId: number): Promise<Seen | undefined> {
    if (!isId(channelId)) return undefined;
    const [channel, subscription] = await Promise.all([
      this.#item<Channel>(key('channel', { realm: this.realm, channelId })),
      this.subscription(channelId),
    ]);
    return channel && { channel, subscription };
  }

  async subscription(channelId: number): Promise<Subscription | undefined> {
    if (this.#read.has('subscriptions')) return (await this.subscriptions()).get(channelId);
    return this.#item(key('subscription', { realm: this.realm, userId: this.userId, channelId }));
  }

  /** All that the reader is subscribed to, by channel. */
  subscriptions(): Promise<ReadonlyMap<number, Subscription>> {
    return this.#once('subscriptions', async () => {
      const all = await this.table.all<Subscription>({
        pk: partition('subscription', this),
        prefix: sortPrefix('subscription'),
      });
      return new Map(all.map((subscription) => [subscription.channelId, subscription]));
    });
  }

  /** The direct conversations in which the reader takes part. */
  dialogues(): Promise<readonly Dialogue[]> {
    return this.#once('dialogues', () =>
      this.table.all<Dialogue>({ pk: partition('dialogue', this), prefix: sortPrefix('dialogue') }),
    );
  }

  /** The reader's policies for topics. */
  topicPolicies(): Promise<readonly UserTopic[]> {
    return this.#once('topicPolicies', () =>
      this.table.all<UserTopic>({ pk: partition('userTopic', this), prefix: sortPrefix('userTopic') }),
    );
  }

  /** What the reader has read, of all conversations or of the topics of one channel. */
  states(channelId?: number): Promise<ReadonlyMap<string, ReadState>> {
    return this.#once(stateList(channelId), async () => {
      const states = await loadReadStates(this.table, this.realm, this.userId, channelId);
      return new Map(states.map((state) => [state.conversation, state]));
    });
  }

  /** What the reader has read of one conversation. */
  async state(conversation: string, channelId?: number): Promise<ReadState | undefined> {
    for (const list of [stateList(), stateList(channelId)]) {
      const states = this.#read.get(list) as Promise<ReadonlyMap<string, ReadState>> | undefined;
      if (states) return (await states).get(conversation);
    }
    return this.#item(key('read', { realm: this.realm, userId: this.userId, conversation }));
  }

  /** What the reader has read of the conversation in which a message is noted. */
  stateFor(head: MessageHead): Promise<ReadState | undefined> {
    return this.state(readPlaceOf(head), head.readIn === undefined ? head.channelId : undefined);
  }

  /** Whether the reader sent to the topic or reacted in it. */
  async takesPart(channelId: number, topic: string): Promise<boolean> {
    const at = { realm: this.realm, channelId, topic: folded(topic), userId: this.userId };
    return (await this.#item(key('participant', at))) !== undefined;
  }

  /** The messages in a range of ids, both ends included, that the reader starred. */
  stars(from: number, to: number): Promise<ReadonlySet<number>> {
    const at = (messageId: number): string =>
      key('star', { realm: this.realm, userId: this.userId, messageId }).sk;
    return this.#once(`stars ${from} ${to}`, async () => {
      const stars = await this.table.all<Star>({
        pk: partition('star', this),
        from: at(from),
        to: at(to),
      });
      return new Set(stars.filter(({ removed }) => !removed).map(({ messageId }) => messageId));
    });
  }

  async user(userId: number): Promise<User | undefined> {
    if (!isId(userId)) return undefined;
    return this.#item(key('user', { realm: this.realm, userId }));
  }

  /** A message, whether the reader may see it or not. It is not kept: a long reply would fill the memory. */
  async message(id: number): Promise<MessageSlot | undefined> {
    const kept = this.#kept.get(id);
    if (kept !== undefined || !isId(id)) return kept;
    const slot = await this.table.get<Slot>(key('slot', { realm: this.realm, seq: id }));
    return slot?.kind === 'message' ? slot : undefined;
  }

  /** Keeps messages that were read in another way, until they are released. */
  keep(messages: readonly MessageSlot[]): void {
    for (const message of messages) this.#kept.set(message.id, message);
  }

  release(messages: readonly MessageSlot[]): void {
    for (const { id } of messages) this.#kept.delete(id);
  }
}

const stateList = (channelId?: number): string => `states ${channelId ?? ''}`;
