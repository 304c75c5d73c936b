import type { Channel } from '../../model/channel/channel.ts';
import { isResolved } from '../../model/message/message.ts';
import type { ChannelTopic } from '../../model/message/user-topic.ts';
import type { User } from '../../model/user/user.ts';
import { type Left, type OutboxRun, REMEMBERED } from '../outbox/outbox.ts';
import { type Notice, type NoticeTarget, postNotice, silentMention } from '../send/notice.ts';
import { jobToken } from '../send/send.ts';

/** What a notice says about a move. */
export interface Moved {
  readonly from: NoticeTarget;
  readonly to: NoticeTarget;
  readonly count: number;
  /** The whole topic moved. */
  readonly isWhole: boolean;
  /** The topic was only marked as resolved or unresolved. */
  readonly isResolution: boolean;
}

/** The notice in the new topic: where its messages came from. */
export function noticeInNew(user: User, { from, to, count, isWhole, isResolution }: Moved): Notice {
  if (isResolution && isWhole) {
    const resolution = isResolved(to.topic) ? 'resolved' : 'unresolved';
    return {
      place: to,
      content: `${silentMention(user)} has marked this topic as ${resolution}.`,
      channels: [],
    };
  }
  const what = isWhole ? 'This topic was' : messages(count);
  const { link, channels } = linkTo(from, to);
  return { place: to, content: `${what} moved here from ${link} by ${silentMention(user)}.`, channels };
}

/** The notice in the old topic: where its messages went. */
export function noticeInOld(user: User, { from, to, count, isWhole }: Omit<Moved, 'isResolution'>): Notice {
  const what = isWhole ? 'This topic was moved' : `${messages(count)} moved from this topic`;
  const { link, channels } = linkTo(to, from);
  return { place: from, content: `${what} to ${link} by ${silentMention(user)}.`, channels };
}

const messages = (count: number): string => (count === 1 ? 'A message was' : `${count} messages were`);

/** A link to a topic for readers of another one. It does not name a private channel. */
function linkTo(
  { channel, topic }: NoticeTarget,
  reader: NoticeTarget,
): { readonly link: string; readonly channels: readonly Channel[] } {
  if (channel.isPrivate && channel.channelId !== reader.channel.channelId) {
    return { link: 'another channel', channels: [] };
  }
  const place = topic === '' ? channel.name : `${channel.name}>${topic}`;
  return { link: `#**${place}**`, channels: [channel] };
}

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
export async function postMoveNotice(
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
  const place = topic === 'old' ? source : target;
  if (actor === undefined || source === undefined || target === undefined || place?.isArchived) return;
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
