import type { ChannelTopic } from '../../model/message/user-topic.ts';
import type { OutboxRun } from '../outbox/outbox.ts';
import { type Left, REMEMBERED } from '../outbox/outbox.ts';
import { postNotice } from '../send/notice.ts';
import { jobToken } from '../send/send.ts';
import { type Moved, noticeInNew, noticeInOld } from './notice.ts';

/** The job to post a notice about a move. */
export interface MovedTask {
  /** The user who moved them. */
  readonly by: number;
  readonly from: ChannelTopic;
  readonly to: ChannelTopic & { readonly isResolution?: boolean };
  readonly count: number;
  readonly isWhole: boolean;
}

declare module '../outbox/outbox.ts' {
  interface Tasks {
    moved: MovedTask;
  }
}

/**
 * Posts the notice in the old or the new topic, once per job, with the channels as they are now: one that has become
 * private is not named in another.
 */
export async function tellMoved(
  { outside, log, realmId: realm, realm: { noticeBotId } }: OutboxRun,
  { job, by, from, to, count, isWhole }: MovedTask & Pick<Left, 'job'>,
  topic: 'old' | 'new',
): Promise<void> {
  const channelOf = ({ channelId }: ChannelTopic) => outside.table.get('channel', { realm, channelId });
  const [actor, source, target] = await Promise.all([
    outside.table.get('user', { realm, userId: by }),
    channelOf(from),
    channelOf(to),
  ]);
  const told = topic === 'old' ? source : target;
  if (actor === undefined || source === undefined || target === undefined || told?.isArchived) return;
  const moved: Moved = {
    from: { channel: source, topic: from.topic },
    to: { channel: target, topic: to.topic },
    count,
    isWhole,
    isResolution: to.isResolution === true,
  };
  const notice = topic === 'old' ? noticeInOld(actor, moved) : noticeInNew(actor, moved);
  const token = jobToken(job, topic === 'old' ? 'moved' : 'arrived', REMEMBERED);
  await postNotice(outside, log, { actor, noticeBotId }, notice, token, true);
}
