import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { EventEntry, Moved, Payload } from '../../log/slot.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { loadHeads } from '../../model/message/load.ts';
import { messageFlags } from '../../model/message/message.ts';
import type { Caller } from '../../model/user/caller.ts';
import { Reader } from '../reader/reader.ts';
import { unreadAmong } from '../reader/streams.ts';

/*
 * Messages are unread for those who were subscribed to their channel when they were sent. By a move to another channel
 * they come to people who never had them, and leave people who may read them still; clients count neither by the move
 * alone.
 */

/** Tells people whose clients do not count the messages that they are unread, and others that they count as read. */
export function unreadByMove({ from, to }: Moved, messages: readonly MessageHead[]): EventEntry[] {
  const ids = messages.map(({ id }) => id);
  // Whoever may read the newest of them may know that the others were there.
  const newest = ids.at(-1);
  if (newest === undefined || from === to) return [];
  return (['add', 'remove'] as const).map((op) => ({
    kind: 'event',
    hearers: { message: newest, channel: from, movedTo: to },
    payload: { type: 'update_message_flags', op, operation: op, flag: 'read', messages: ids, all: false },
    fill: { from, to },
  }));
}

/**
 * Such an event for one listener; undefined where nothing is different for them. One round trip, or three.
 *
 * A registration reads one channel after the other, so it may have found a message that moved meanwhile in neither.
 * Who may have registered just then is told of all that are unread for them: what a client has, it may hear again.
 */
export async function filledWithMoved(
  outside: Outside,
  { realmId: realm, user: { userId }, standing, isRegistering }: Caller & { readonly isRegistering: boolean },
  payload: Payload,
  { from, to }: Moved,
): Promise<Payload | undefined> {
  const ids = payload.messages as readonly number[];
  const reader = new Reader(outside, realm, userId);
  const [source, target] = await Promise.all([reader.subscription(from), reader.subscription(to)]);
  const came = (id: number, subscription: Subscription | undefined): boolean =>
    subscription !== undefined && id > subscription.since;
  if (payload.op === 'add') {
    const gone = ids.filter((id) => came(id, source) && !came(id, target));
    return gone.length === 0 ? undefined : { ...payload, messages: gone };
  }
  const fresh = ids.filter((id) => came(id, target) && (isRegistering || !came(id, source)));
  if (fresh.length === 0) return undefined;
  const heads = (await loadHeads(outside.table, realm, fresh)).filter(({ channelId }) => channelId === to);
  const isUnread = await unreadAmong(reader)(heads);
  const unread = heads.filter(({ id }) => isUnread.has(id));
  if (unread.length === 0) return undefined;
  const viewer = { userId, groups: standing.groups, received: true, takesPart: false, read: false };
  return {
    ...payload,
    messages: unread.map(({ id }) => id),
    message_details: Object.fromEntries(
      unread.map((head) => {
        const addresses = messageFlags(head, { ...viewer, starred: false }).length > 0;
        const place = { type: 'stream', stream_id: to, topic: head.topic ?? '' };
        return [head.id, { ...place, ...(addresses && { mentioned: true }) }];
      }),
    ),
  };
}
