import { refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageSlot } from '../../log/slot.ts';
import type { ChannelWithSubscription } from '../../model/channel/access.ts';
import { loadMessages } from '../../model/message/load.ts';
import { currentMessages, extents, loadRecentChanges } from '../../model/message/recent.ts';
import type { Caller } from '../../model/user/caller.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { isTooOld } from './check.ts';

/**
 * Refuses if a message of the topic that the caller can read is too old to be moved. The error has the number of those
 * that are not, so that clients can offer to move only them; to count them, it reads the whole topic.
 */
export async function checkTopicMoveTime(
  outside: Outside,
  { realmId: realm }: Caller,
  { message, seen }: { message: MessageSlot; seen: ChannelWithSubscription },
  limit: number,
  now: number,
): Promise<void> {
  const { table } = outside;
  const { conversation, channelId } = message;
  const { channel, subscription } = seen;
  const from = channel.historyPublicToSubscribers ? 0 : (subscription?.since ?? 0) + 1;
  const recent = loadRecentChanges(outside, realm, extents.read);
  const place = { conversation, ...(channelId !== undefined && { channelId }) };
  const reach = currentMessages(table, realm, place, () => recent);
  const first = await reach({ from, to: LARGEST_NUMBER, side: 'newer', limit: FEW });
  const oldest = await loadMessages(
    table,
    realm,
    first.heads.map(({ id }) => id),
  );
  const here = oldest.filter((each) => each.conversation === conversation);
  const isKnown = here.length > 0 || first.until === undefined;
  if (isKnown && !here.some((each) => isTooOld(each, limit, now))) return;

  const ids = new Set<number>();
  for (let next: number | undefined = from; next !== undefined; ) {
    const { heads, until } = await reach({ from: next, to: LARGEST_NUMBER, side: 'newer', limit: MANY });
    for (const { id } of heads) ids.add(id);
    next = until === undefined ? undefined : until + 1;
  }
  const all = [...ids].sort((a, b) => a - b);
  const tooOld = await leading(all, async (id) => {
    const [found] = await loadMessages(table, realm, [id]);
    return found !== undefined && isTooOld(found, limit, now);
  });
  if (tooOld === 0) return;
  throw refusal('moveTimeLimit', {
    // The message of the request may be moved, so there is one.
    first: all[tooOld] ?? message.id,
    total: all.length,
    allowed: all.length - tooOld,
  });
}

/** Messages read at the start of a topic. More than one, since the index may still show some that left. */
const FEW = 4;
/** Messages per read when a topic is counted. */
const MANY = 5_000;

/** The length of the leading part for which a test holds. It must hold for no item after that. */
async function leading(list: readonly number[], holds: (item: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (await holds(list[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}
