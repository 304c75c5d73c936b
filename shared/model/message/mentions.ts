import type { Mentions } from '../../log/message.ts';
import type { Rendered } from '../../markdown/render.ts';

/** Whom a rendered message addresses; undefined where it addresses nobody. */
export function mentionsIn(rendered: Rendered, isChannel: boolean): Mentions | undefined {
  const mentions: Mentions = {
    ...(rendered.mentionedUserIds.length > 0 && { users: rendered.mentionedUserIds }),
    ...(rendered.mentionedGroupIds.length > 0 && { groups: rendered.mentionedGroupIds }),
    // In a direct conversation everybody is addressed anyway.
    ...(isChannel && rendered.channelWildcard && { channel: true as const }),
    ...(isChannel && rendered.topicWildcard && { topic: true as const }),
  };
  return Object.keys(mentions).length === 0 ? undefined : mentions;
}
