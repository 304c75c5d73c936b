import { key } from '../../table/keys.ts';
import type { Channel } from '../channel/channel.ts';
import { type Left, REMEMBERED } from '../outbox/outbox.ts';
import type { OutboxWorld } from '../outbox/outbox-world.ts';
import { onceToken } from '../send/sent.ts';
import { sendNotice } from '../topic/topic-notice.ts';
import type { TopicPlace } from '../topic/user-topic.ts';
import type { User } from '../user/user.ts';
import { noticeInOld } from './move-notice.ts';

/** A move of messages of which the topic that they left is to be told. */
export interface MovedTask {
  /** Who moved them. */
  readonly by: number;
  readonly from: TopicPlace;
  readonly to: TopicPlace;
  readonly count: number;
  readonly isWhole: boolean;
}

/** Tells the old topic, with the channels as they are now: one that became private meanwhile is not named. */
export async function tellMoved(
  { outside, log, realmId: realm, realm: { noticeBotId } }: OutboxWorld,
  { job, by, from, to, count, isWhole }: MovedTask & Left,
): Promise<void> {
  const channelOf = ({ channelId }: TopicPlace) =>
    outside.table.get<Channel>(key('channel', { realm, channelId }));
  const [actor, source, target] = await Promise.all([
    outside.table.get<User>(key('user', { realm, userId: by })),
    channelOf(from),
    channelOf(to),
  ]);
  if (actor === undefined || source === undefined || source.isArchived || target === undefined) return;
  const notice = noticeInOld(actor, {
    from: { channel: source, topic: from.topic },
    to: { channel: target, topic: to.topic },
    count,
    isWhole,
  });
  await sendNotice(outside, log, { actor, noticeBotId }, notice, onceToken(job, 'moved', REMEMBERED), true);
}
