import { badRequest } from '../../kernel/errors.ts';
import type { MessageHead } from '../../log/message.ts';
import { readConversationOf } from '../../model/message/message.ts';
import { isUnread } from '../../model/message/read-state.ts';
import { type MessageReader, mutedBy, settingsOf } from '../../model/user/user.ts';
import type { Table } from '../../table/table.ts';

/** In a channel with more subscribers there are no read receipts (docs/LIMITS.md): each of them takes four reads. */
const MAX_RECIPIENTS = 1_000;

/** The users who may have received a message, its sender too: one more than there are receipts for. One round trip. */
export async function loadRecipients(
  table: Table,
  realm: string,
  { channelId, people = [] }: MessageHead,
): Promise<readonly number[]> {
  if (channelId === undefined) return people;
  const subscribers = await table.all('subscriber', { realm, channelId }, { limit: MAX_RECIPIENTS + 1 });
  return subscribers.map(({ userId }) => userId);
}

/** Refuses receipts of a message with too many recipients. */
export function checkRecipientCount(recipients: readonly number[]): void {
  if (recipients.length > MAX_RECIPIENTS) {
    throw badRequest(`There are no read receipts in a channel with more than ${MAX_RECIPIENTS} subscribers.`);
  }
}

/**
 * The users among `recipients` who have read a message and let others know (companion facts 1.9). Never its sender, nobody
 * who is deactivated, nobody who subscribed later, and nobody whom `caller` muted or who muted them. One round trip.
 */
export async function loadReaders(
  table: Table,
  realm: string,
  message: MessageHead,
  recipients: readonly number[],
  caller: MessageReader,
): Promise<{ readonly userId: number }[]> {
  const { channelId, senderId } = message;
  const conversation = readConversationOf(message);
  const read = await Promise.all(
    recipients
      .filter((userId) => userId !== senderId)
      .map(async (userId) => {
        const [user, settings, state, subscription] = await Promise.all([
          table.get('user', { realm, userId }),
          table.get('settings', { realm, userId }),
          table.get('read', { realm, userId, conversation }),
          channelId === undefined ? undefined : table.get('subscription', { realm, userId, channelId }),
        ]);
        const hasReceived =
          channelId === undefined || (subscription !== undefined && message.id > subscription.since);
        if (!hasReceived || !user?.isActive || !settingsOf(settings).send_read_receipts) return [];
        if (hasMuted(user, caller.userId) || hasMuted(caller, userId)) return [];
        return isUnread(message, user, subscription, state) ? [] : [{ userId }];
      }),
  );
  return read.flat();
}

const hasMuted = (user: MessageReader, other: number): boolean =>
  mutedBy(user).some(({ userId }) => userId === other);
