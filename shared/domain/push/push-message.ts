import type { Outside } from '../../kernel/outside.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { readMessages } from '../../model/message/index.ts';
import { systemGroups } from '../../model/permission/system-group.ts';
import { anonymizedUser, hiddenUsers } from '../../model/subscription/user-access.ts';
import { avatarUrlOf } from '../../model/user/avatar.ts';
import type { User } from '../../model/user/user.ts';
import { isUnreadBy } from '../reader/lanes.ts';
import { Reader } from '../reader/reader.ts';
import { isActiveDevice, loadDevices } from './device.ts';
import { accessNotified, type Notified } from './notifiable.ts';
import type { Notice } from './push-payload.ts';
import { pushText } from './push-text.ts';
import { notePushed } from './pushed.ts';

/** What a message comes to: notices for devices, and the people of whom none was found that could get one. */
export interface MessageNotices {
  readonly notices: readonly Notice[];
  readonly without: readonly number[];
}

const NOTHING: MessageNotices = { notices: [], without: [] };

/**
 * The notices of a message for the devices of those of these people who want them and have not read it.
 *
 * It is noted that they are notified before it is looked whether they have read it. So whoever reads it later, of whom
 * the log tells then, is found among those from whose devices it must be taken away.
 */
export async function noticesOfMessage(
  outside: Outside,
  realm: string,
  { messageId, users }: { readonly messageId: number; readonly users: readonly number[] },
): Promise<MessageNotices> {
  const { table } = outside;
  const [message] = await readMessages(table, realm, [messageId]);
  if (message === undefined) return NOTHING;
  const [sender, recipients] = await Promise.all([
    table.get('user', { realm, userId: message.senderId }),
    Promise.all(
      users.map(async (userId) => {
        const [notified, devices] = await Promise.all([
          accessNotified(outside, realm, message, userId),
          loadDevices(table, realm, userId),
        ]);
        return { userId, notified, devices: devices.filter(isActiveDevice) };
      }),
    ),
  ]);
  if (sender === undefined) return NOTHING;
  const found = await Promise.all(
    recipients.map(async ({ userId, notified, devices }): Promise<Notice[]> => {
      if (notified === undefined || devices.length === 0) return [];
      await notePushed(table, realm, userId, message.id);
      if (!(await isUnreadBy(new Reader(outside, realm, userId), message))) return [];
      const says = await saysOf(outside, realm, message, sender, notified);
      return devices.map((device) => ({ device, says }));
    }),
  );
  const without = recipients.flatMap(({ userId, devices }) => (devices.length === 0 ? userId : []));
  return { notices: found.flat(), without };
}

/** What one recipient is told of a message (wire facts 12.4). */
async function saysOf(
  outside: Outside,
  realm: string,
  message: MessageSlot,
  sender: User,
  { caller, channel, groupId }: Notified,
): Promise<Notice['says']> {
  const [hidden, groupName] = await Promise.all([
    hiddenUsers(outside, caller, [sender]),
    groupId === undefined ? undefined : nameOfGroup(outside, realm, groupId),
  ]);
  const shown = hidden.has(sender.userId) ? anonymizedUser(sender) : sender;
  const place =
    message.people === undefined
      ? {
          recipient_type: 'channel',
          channel_id: message.channelId,
          channel_name: channel?.name ?? '',
          topic: message.topic ?? '',
        }
      : { recipient_type: 'direct', recipient_user_ids: message.people };
  return {
    type: 'message',
    message_id: message.id,
    time: message.timestamp,
    sender_id: shown.userId,
    sender_full_name: shown.fullName,
    sender_avatar_url: avatarUrlOf(shown),
    ...place,
    ...(groupName !== undefined && {
      mentioned_user_group_id: groupId,
      mentioned_user_group_name: groupName,
    }),
    content: pushText(message.rendered),
  };
}

async function nameOfGroup({ table }: Outside, realm: string, groupId: number): Promise<string> {
  const system = Object.values(systemGroups).find(({ id }) => id === groupId);
  if (system) return system.name;
  return (await table.get('group', { realm, groupId }))?.name ?? '';
}
