import type { ChannelCount } from '../../model/channel/channel.ts';
import type { TopicRemovalSnapshot } from '../../model/message/leave.ts';
import type { Relocation } from '../../model/message/revision.ts';
import type { Topic } from '../../model/message/topic.ts';

/** A move of messages that was decided on. */
export interface Move {
  readonly from: { readonly channelId: number; readonly topic: string };
  readonly to: Relocation;
  readonly mode: 'change_one' | 'change_later' | 'change_all';
  readonly userId: number;
}

/** What one step looks at. */
export interface StepSnapshot {
  readonly left: TopicRemovalSnapshot;
  readonly topic: Topic | undefined;
  readonly count: ChannelCount | undefined;
  /** Those of the senders of the messages who take part in the target topic already. */
  readonly taking: ReadonlySet<number>;
  /** Somebody reacted to one of the messages, or that was not read. */
  readonly reacted: boolean;
}
