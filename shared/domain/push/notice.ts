import type { Outside } from '../../kernel/outside.ts';
import { firstCodePoints, folded } from '../../kernel/text.ts';
import type { MessageSlot } from '../../log/slot.ts';
import type { Channel, Subscription } from '../../model/channel/channel.ts';
import { loadMessages } from '../../model/message/load.ts';
import { hasReceived } from '../../model/message/message.ts';
import { type UserTopic, visibility } from '../../model/message/user-topic.ts';
import { systemGroups } from '../../model/permission/permission.ts';
import { anonymizedUser, hiddenUsers } from '../../model/subscription/user-access.ts';
import { type Caller, loadCaller } from '../../model/user/caller.ts';
import { avatarUrlOf } from '../../model/user/object.ts';
import { settingsOf, type User, type UserSettings } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { loadPresence, OFFLINE_SECONDS, seconds } from '../presence/presence.ts';
import { Reader } from '../reader/reader.ts';
import { isUnreadBy } from '../reader/streams.ts';
import { isActiveDevice, loadDevices } from './device.ts';
import type { Notice } from './relay.ts';

/** Most shown notifications that are remembered for a user, the newest ones: a phone shows no more. */
const MAX_PUSHED = 200;

/** Characters of a message that a notification shows. */
const MAX_TEXT = 200;

/**
 * The notices of a message for the devices of these users, and the users without an active device. A user who does not
 * want to be notified, or has read the message, gets none.
 *
 * The notification is recorded before checking whether the message was read: a read that comes later then finds the
 * record and clears the device.
 */
export async function noticesOfMessage(
  outside: Outside,
  realm: string,
  { messageId, users }: { readonly messageId: number; readonly users: readonly number[] },
): Promise<{ readonly notices: readonly Notice[]; readonly withoutDevice: readonly number[] }> {
  const { table } = outside;
  const [message] = await loadMessages(table, realm, [messageId]);
  if (message === undefined) return { notices: [], withoutDevice: [] };
  const [sender, recipients] = await Promise.all([
    table.get('user', { realm, userId: message.senderId }),
    Promise.all(
      users.map(async (userId) => {
        const [recipient, devices] = await Promise.all([
          loadRecipient(outside, realm, message, userId),
          loadDevices(table, realm, userId),
        ]);
        return { userId, recipient, devices: devices.filter(isActiveDevice) };
      }),
    ),
  ]);
  const notices = await Promise.all(
    recipients.map(async ({ userId, recipient, devices }): Promise<Notice[]> => {
      if (sender === undefined || recipient === undefined || devices.length === 0) return [];
      await notePushed(table, realm, userId, message.id);
      if (!(await isUnreadBy(new Reader(outside, realm, userId, recipient.caller.user), message))) return [];
      const content = await loadContent(outside, realm, message, sender, recipient);
      // The path of an uploaded picture becomes an address.
      return devices.map((device) => ({
        device,
        content: { ...content, sender_avatar_url: new URL(`${content.sender_avatar_url}`, device.url).href },
      }));
    }),
  );
  const withoutDevice = recipients.flatMap(({ userId, devices }) => (devices.length === 0 ? userId : []));
  return { notices: notices.flat(), withoutDevice };
}

/** A user who gets a notification of a message. */
interface Recipient {
  readonly caller: Caller;
  readonly channel: Channel | undefined;
  /** The mentioned group that is the reason for the notification, if one is. */
  readonly groupId?: number;
}

/**
 * The user as a recipient of a notification, by their own settings for direct messages, mentions and followed topics.
 * Undefined if they get none: the message did not reach them, or they are online and want none then. One round trip.
 */
async function loadRecipient(
  outside: Outside,
  realm: string,
  message: MessageSlot,
  userId: number,
): Promise<Recipient | undefined> {
  const { table, now } = outside;
  const { channelId, topic = '' } = message;
  const reader = new Reader(outside, realm, userId);
  const [caller, settings, presence, isReceived, seen, userTopic, takesPart] = await Promise.all([
    loadCaller(outside, realm, userId, undefined),
    table.get('settings', { realm, userId }),
    loadPresence(table, realm, userId, seconds(now())),
    hasReceived(reader, message),
    channelId === undefined ? undefined : reader.channel(channelId),
    channelId === undefined
      ? undefined
      : table.get('userTopic', { realm, userId, channelId, topic: folded(topic) }),
    message.mentions?.topic === true && channelId !== undefined && reader.takesPart(channelId, topic),
  ]);
  if (caller === undefined || caller.user.isBot || !isReceived) return undefined;
  const chosen = settingsOf(settings);
  const active = presence.last?.active;
  const isOnline = active !== undefined && seconds(now()) - active <= OFFLINE_SECONDS;
  if (isOnline && chosen.enable_online_push_notifications !== true) return undefined;
  const reason = reasonFor(message, caller, chosen, seen?.subscription, userTopic, takesPart);
  return reason && { caller, channel: seen?.channel, ...reason };
}

/** The first reason to notify a user, or undefined if there is none. */
function reasonFor(
  message: MessageSlot,
  caller: Caller,
  settings: UserSettings,
  subscription: Subscription | undefined,
  userTopic: UserTopic | undefined,
  takesPart: boolean,
): { readonly groupId?: number } | undefined {
  const isOn = (setting: string): boolean => settings[setting] === true;
  const policy = userTopic?.policy ?? visibility.inherit;
  // They followed the topic when the message was sent, if their last change of it shows that.
  const isFollowed = policy === visibility.followed && (userTopic?.changed ?? 0) <= message.id;
  const { mentions = {}, people } = message;
  if (isOn('enable_offline_push_notifications')) {
    if (people !== undefined || mentions.users?.includes(caller.user.userId)) return {};
    const groupId = mentions.groups?.find((id) => caller.standing.groups.has(id));
    if (groupId !== undefined) return { groupId };
    const isWildcard = mentions.channel === true || (mentions.topic === true && takesPart);
    const isMuted =
      policy === visibility.muted || (policy === visibility.inherit && subscription?.isMuted === true);
    const wildcardsNotify = subscription?.wildcardMentionsNotify ?? isOn('wildcard_mentions_notify');
    if (isWildcard && wildcardsNotify && !isMuted) return {};
    if (isWildcard && isFollowed && isOn('enable_followed_topic_wildcard_mentions_notify')) return {};
  }
  return isFollowed && isOn('enable_followed_topic_push_notifications') ? {} : undefined;
}

/** The content of a message's notification for one recipient (wire facts 12.4). */
async function loadContent(
  outside: Outside,
  realm: string,
  message: MessageSlot,
  sender: User,
  { caller, channel, groupId }: Recipient,
): Promise<Notice['content']> {
  const [hidden, groupName] = await Promise.all([
    hiddenUsers(outside, caller, [sender]),
    groupId === undefined ? undefined : loadGroupName(outside, realm, groupId),
  ]);
  const shown = hidden.has(sender.userId) ? anonymizedUser(sender) : sender;
  const conversation =
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
    ...conversation,
    ...(groupName !== undefined && {
      mentioned_user_group_id: groupId,
      mentioned_user_group_name: groupName,
    }),
    content: pushText(message.rendered),
  };
}

async function loadGroupName({ table }: Outside, realm: string, groupId: number): Promise<string> {
  const system = Object.values(systemGroups).find(({ id }) => id === groupId);
  if (system) return system.name;
  return (await table.get('group', { realm, groupId }))?.name ?? '';
}

/** Elements that end a line. */
const LINES = new Set('p br li tr div pre blockquote h1 h2 h3 h4 h5 h6'.split(' '));

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const unescaped = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');

/** A rendered message as the plain text of a notification, cut after 200 characters. Spoilers are left out. */
function pushText(rendered: string): string {
  let text = '';
  /** How many `div` elements are open inside the spoiler. */
  let hidden = 0;
  for (const [token] of rendered.matchAll(/<[^>]*>|[^<]+/g)) {
    const [, closes, name = ''] = /^<(\/?)([a-z0-9]+)/i.exec(token) ?? [];
    if (hidden > 0) {
      if (name === 'div') hidden += closes ? -1 : 1;
    } else if (token.startsWith('<div class="spoiler-content"')) {
      hidden = 1;
      text += '(…)\n';
    } else if (name === 'img') {
      text += unescaped(/ alt="([^"]*)"/.exec(token)?.[1] ?? '');
    } else if (!token.startsWith('<')) {
      text += unescaped(token);
    } else if (LINES.has(name) && (closes || name === 'br')) {
      text += '\n';
    }
  }
  const lines = text
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{2,}/g, '\n')
    .trim();
  const shown = firstCodePoints(lines, MAX_TEXT);
  return shown === lines ? lines : `${shown}…`;
}

/** The messages whose notifications the devices of the user show. */
export async function loadPushed(table: Table, realm: string, userId: number): Promise<ReadonlySet<number>> {
  return (await table.get('pushed', { realm, userId }))?.ids ?? new Set();
}

/** Records that the user is about to be notified of a message. */
async function notePushed(table: Table, realm: string, userId: number, messageId: number): Promise<void> {
  const at = key('pushed', { realm, userId });
  const { ids } = await table.update(at, { add: { ids: new Set([messageId]) } });
  if (ids === undefined || ids.size <= MAX_PUSHED) return;
  const oldest = [...ids].sort((a, b) => a - b).slice(0, ids.size - MAX_PUSHED);
  await table.update(at, { take: { ids: new Set(oldest) } });
}

/** Forgets notifications that are being removed. */
export const doForgetPushed = (realm: string, userId: number, ids: readonly number[]): Write => ({
  update: key('pushed', { realm, userId }),
  change: { take: { ids: new Set(ids) } },
});
