import { folded } from '../../kernel/folding.ts';
import type { MessageHead } from '../../log/message.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { formerChannelOf, messageFlags, readConversationOf } from '../../model/message/message.ts';
import { isUnread, type ReadState, withFormerFloor } from '../../model/message/read-state.ts';
import type { Standing } from '../../model/permission/permission.ts';
import type { Table } from '../../table/table.ts';

/** What a listener has to do with a message of which an event tells. */
export interface FlagSnapshot {
  readonly state: ReadState | undefined;
  /** The subscription to the channel in which it is noted what was read, where the message moved to another one. */
  readonly former: Subscription | undefined;
  readonly starred: boolean;
  readonly takesPart: boolean;
}

/** Reads it. One round trip. */
export async function loadFlagSnapshot(
  table: Table,
  realm: string,
  userId: number,
  about: MessageHead,
): Promise<FlagSnapshot> {
  const { id, channelId, topic = '', mentions } = about;
  const conversation = readConversationOf(about);
  const former = formerChannelOf(about);
  const [state, formerly, star, participant] = await Promise.all([
    table.get('read', { realm, userId, conversation }),
    former === undefined ? undefined : table.get('subscription', { realm, userId, channelId: former }),
    table.get('star', { realm, userId, messageId: id }),
    mentions?.topic && channelId !== undefined
      ? table.get('participant', { realm, channelId, topic: folded(topic), userId })
      : undefined,
  ]);
  return {
    state,
    former: formerly,
    starred: star !== undefined && star.removed !== true,
    takesPart: participant !== undefined,
  };
}

/** The flags of the message for the listener, as they are now. */
export function flagsIn(
  about: MessageHead,
  { userId, groups }: Standing,
  subscription: Subscription | undefined,
  { state, former, starred, takesPart }: FlagSnapshot,
): string[] {
  const received =
    about.channelId === undefined || (subscription !== undefined && about.id > subscription.since);
  const read = !isUnread(about, userId, subscription, withFormerFloor(former, about.id, state));
  return messageFlags(about, { userId, groups, received, takesPart, read, starred });
}
