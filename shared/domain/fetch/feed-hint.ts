/**
 * Where the messages of somebody were to be found when they last fetched some (DESIGN 7: what is remembered is a hint).
 * It stands beside the account, so that it is known as soon as the account is; what it says is read together with
 * the truth, and only saves the round trip in between.
 */
export interface FeedHint {
  /** The channels of their subscriptions. */
  readonly channels: readonly number[];
  /** The people of each of their direct conversations. */
  readonly dialogues: readonly (readonly number[])[];
  /** Their messages are few among all of the organization, so that the places themselves are read, not the log. */
  readonly isSparse: boolean;
  /** Their oldest unread message; absent where there was none. */
  readonly firstUnread?: number;
}
