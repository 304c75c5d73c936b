import type { ChannelCount } from '../../model/channel/channel.ts';
import type { TopicRemovalSnapshot } from '../../model/message/leave.ts';
import type { Relocation } from '../../model/message/revision.ts';
import type { Topic } from '../../model/message/topic.ts';

/** A move of messages that has passed all checks. */
export interface Move {
  readonly from: { readonly channelId: number; readonly topic: string };
  readonly to: Relocation;
  readonly mode: 'change_one' | 'change_later' | 'change_all';
  readonly userId: number;
}

/** What one step of a move needs. */
export interface StepSnapshot {
  readonly left: TopicRemovalSnapshot;
  readonly topic: Topic | undefined;
  readonly count: ChannelCount | undefined;
  /** Senders of the messages who already take part in the target topic. */
  readonly taking: ReadonlySet<number>;
  /** Someone reacted to one of the messages, or this was not read. */
  readonly reacted: boolean;
}
