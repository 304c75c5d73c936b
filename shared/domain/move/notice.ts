import type { Channel } from '../../model/channel/channel.ts';
import { isResolved } from '../../model/message/message.ts';
import type { User } from '../../model/user/user.ts';
import type { Notice, NoticeTarget } from '../send/notice.ts';

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
    return { place: to, content: `${nameOf(user)} has marked this topic as ${resolution}.`, channels: [] };
  }
  const what = isWhole ? 'This topic was' : messages(count);
  const { link, channels } = linkTo(from, to);
  return { place: to, content: `${what} moved here from ${link} by ${nameOf(user)}.`, channels };
}

/** The notice in the old topic: where its messages went. */
export function noticeInOld(user: User, { from, to, count, isWhole }: Omit<Moved, 'isResolution'>): Notice {
  const what = isWhole ? 'This topic was moved' : `${messages(count)} moved from this topic`;
  const { link, channels } = linkTo(to, from);
  return { place: from, content: `${what} to ${link} by ${nameOf(user)}.`, channels };
}

const messages = (count: number): string => (count === 1 ? 'A message was' : `${count} messages were`);

/** A mention that notifies nobody. */
const nameOf = ({ fullName, userId }: User): string => `@_**${fullName}|${userId}**`;

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
