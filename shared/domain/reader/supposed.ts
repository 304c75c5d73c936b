import type { MessageHead } from '../../log/message.ts';
import type { ReadState } from '../../model/message/read-state.ts';
import type { Reader } from './reader.ts';

/** What the test of a narrow asks of a reader. */
export type Facts = Pick<
  Reader,
  | 'userId'
  | 'subscription'
  | 'seen'
  | 'topicPolicies'
  | 'stars'
  | 'stateFor'
  | 'knowsStateFor'
  | 'takesPart'
  | 'knowsPart'
>;

/** Of a conversation of which everything is read. */
const ALL_READ: ReadState = { conversation: '', floor: Number.POSITIVE_INFINITY };

/**
 * The facts about a reader without waiting for the few that rest on the messages themselves. Such a fact is supposed
 * first, so that messages can be told at once, and is read beside them by `confirm`. Then it is known, and whoever
 * decides again decides rightly.
 */
export class OptimisticFacts implements Facts {
  readonly #reader: Reader;
  #open: (() => Promise<unknown>)[] = [];

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  get userId(): number {
    return this.#reader.userId;
  }

  subscription: Facts['subscription'] = (channelId) => this.#reader.subscription(channelId);
  seen: Facts['seen'] = (channelId) => this.#reader.seen(channelId);
  topicPolicies: Facts['topicPolicies'] = () => this.#reader.topicPolicies();
  stars: Facts['stars'] = (from, to) => this.#reader.stars(from, to);
  knowsStateFor: Facts['knowsStateFor'] = (head) => this.#reader.knowsStateFor(head);
  knowsPart: Facts['knowsPart'] = (channelId, topic) => this.#reader.knowsPart(channelId, topic);

  /** Supposes that what moved here from another conversation is read. */
  async stateFor(head: Pick<MessageHead, 'id' | 'conversation' | 'readIn' | 'channelId'>) {
    if (this.#reader.knowsStateFor(head)) return this.#reader.stateFor(head);
    this.#open.push(() => this.#reader.stateFor(head));
    return ALL_READ;
  }

  /** Supposes that the reader takes part in a topic that is mentioned. */
  async takesPart(channelId: number, topic: string): Promise<boolean> {
    if (this.#reader.knowsPart(channelId, topic)) return this.#reader.takesPart(channelId, topic);
    this.#open.push(() => this.#reader.takesPart(channelId, topic));
    return true;
  }

  /** Nothing is supposed that was not read. */
  get areCertain(): boolean {
    return this.#open.length === 0;
  }

  /** Reads what was supposed. One round trip. */
  async confirm(): Promise<void> {
    const open = this.#open;
    this.#open = [];
    await Promise.all(open.map((read) => read()));
  }
}
