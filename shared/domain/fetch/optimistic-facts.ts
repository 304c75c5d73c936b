import type { Reader } from '../reader/reader.ts';

/** What the test of a narrow needs to know about the reader. */
export type ReaderFacts = Pick<
  Reader,
  'userId' | 'subscription' | 'channel' | 'topicPolicies' | 'stars' | 'stateFor' | 'takesPart'
>;

/**
 * The facts about a reader, without waiting for the one that depends on the messages: whether the reader takes part in
 * a topic that an `@topic` mentions. That is assumed first, so that the texts can be read at once, and `confirm` reads
 * it in parallel. A second decision then uses the true value. Without this, `is:mentioned` would take a third round trip.
 */
export class OptimisticFacts implements ReaderFacts {
  readonly #reader: Reader;
  #unconfirmed: (() => Promise<unknown>)[] = [];

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  get userId(): number {
    return this.#reader.userId;
  }

  subscription: ReaderFacts['subscription'] = (channelId) => this.#reader.subscription(channelId);
  channel: ReaderFacts['channel'] = (channelId) => this.#reader.channel(channelId);
  topicPolicies: ReaderFacts['topicPolicies'] = () => this.#reader.topicPolicies();
  stateFor: ReaderFacts['stateFor'] = (head) => this.#reader.stateFor(head);
  stars: ReaderFacts['stars'] = (from, to) => this.#reader.stars(from, to);

  /** Assumes that the reader takes part in the topic. */
  async takesPart(channelId: number, topic: string): Promise<boolean> {
    if (this.#reader.hasLoadedParticipation(channelId, topic))
      return this.#reader.takesPart(channelId, topic);
    this.#unconfirmed.push(() => this.#reader.takesPart(channelId, topic));
    return true;
  }

  get areConfirmed(): boolean {
    return this.#unconfirmed.length === 0;
  }

  /** Reads what was assumed. One round trip. */
  async confirm(): Promise<void> {
    const unconfirmed = this.#unconfirmed;
    this.#unconfirmed = [];
    await Promise.all(unconfirmed.map((read) => read()));
  }
}
