import { loadList } from '../../kernel/list-cache.ts';
import type { Objects, Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import type { MessageHead } from '../../log/message.ts';
import type { Payload, ReadEvent } from '../../log/slot.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import { loadDefaultGroupObjects } from '../../model/channel/default-groups.ts';
import { FIRST_MESSAGE } from '../../model/channel/first-message.ts';
import { loadGroupObject } from '../../model/group/member.ts';
import { messageFlags, readConversationOf } from '../../model/message/message.ts';
import { isUnread, type ReadState } from '../../model/message/read-state.ts';
import { roles } from '../../model/permission/permission.ts';
import { loadChannels, loadSubscriberIds } from '../../model/subscription/object.ts';
import {
  expandMembershipChange,
  loadOwnSubscriptions,
  loadVisibleChannels,
  type SubscriberFields,
  type Viewer,
  withSettings,
  withSubscribers,
} from '../../model/subscription/visible-channels.ts';
import type { Caller } from '../../model/user/caller.ts';
import { loadUsers } from '../../model/user/principals.ts';
import { isSystemBot, type User } from '../../model/user/user.ts';
import type { Table } from '../../table/table.ts';
import { emojiObjects } from '../emoji/emoji.ts';
import { exportObjects, loadExports } from '../export/realm-export.ts';
import { withAttachment } from '../files/event.ts';
import { FirstMessages } from '../reader/first-messages.ts';

/**
 * The payload of an event, completed with what is read now. That may be newer than the event: later events repeat the
 * changes, and applying them twice changes nothing. Undefined if nothing is left for the listener. One or two round
 * trips, none for most events.
 */
export async function expandedPayload(
  outside: Outside,
  event: ReadEvent,
  onlooker: Recipient,
): Promise<Payload | undefined> {
  const payload = await expanded(outside, event, onlooker);
  if (payload === undefined || !hasChannels(payload)) return payload;
  const firsts = new FirstMessages(outside, onlooker.realmId, event.seq);
  const { streams, subscriptions } = payload as WithChannels;
  return {
    ...payload,
    ...(streams && { streams: await firsts.completeAll(streams) }),
    ...(subscriptions && { subscriptions: await firsts.completeAll(subscriptions) }),
  };
}

/** Whether the payload has channel objects, which may lack the oldest message (`channelObject`). */
const hasChannels = ({ type, op }: Payload): boolean =>
  (type === 'stream' && op === 'create') || (type === 'subscription' && op === 'add');

/** Who gets the event. */
type Recipient = Caller &
  Viewer & {
    readonly deactivatedGroups: boolean;
    readonly objects: Pick<Objects, 'link'>;
  };

async function expanded(
  outside: Outside,
  { payload, fill, hearers, seq }: ReadEvent,
  onlooker: Recipient,
): Promise<Payload | undefined> {
  const { table } = outside;
  const { realmId: realm } = onlooker;
  switch (fill) {
    case undefined:
      return payload;
    case 'subscribers': {
      const ids = 'channel' in hearers ? await loadSubscriberIds(table, realm, hearers.channel) : [];
      return ids.length === 0 ? undefined : { ...payload, user_ids: ids };
    }
    case 'others': {
      const { user_ids: ids } = payload as { user_ids?: readonly number[] };
      const others = ids?.filter((id) => id !== onlooker.user.userId) ?? [];
      return others.length === 0 ? undefined : { ...payload, user_ids: others };
    }
    case 'company': {
      const { streams, subscriptions } = payload as WithChannels;
      return {
        ...payload,
        ...(streams && { streams: await withSubscribers(table, realm, onlooker, streams) }),
        ...(subscriptions && {
          subscriptions: await withSettings(table, realm, onlooker, subscriptions),
        }),
      };
    }
    case 'own': {
      const { stream_ids: ids, ...rest } = payload;
      const own = await loadOwnSubscriptions(table, realm, onlooker, ids as number[]);
      return own.length === 0 ? undefined : { ...rest, subscriptions: own };
    }
    case 'name': {
      const channelId = payload.stream_id as number;
      const isFirst = payload.property === FIRST_MESSAGE;
      const [channel, value] = await Promise.all([
        table.get('channel', { realm, channelId }),
        // Later changes have events of their own.
        isFirst ? new FirstMessages(outside, realm, seq).of(channelId) : payload.value,
      ]);
      return channel && { ...payload, ...(isFirst && { value }), name: channel.name };
    }
    case 'defaultChannels': {
      const channels = await loadChannels(table, realm);
      return { ...payload, default_streams: channels.filter(isDefault).map(idOf) };
    }
    case 'defaultGroups': {
      const groups = await loadDefaultGroupObjects(table, realm);
      return groups && { ...payload, default_stream_groups: groups };
    }
    case 'channels': {
      const { stream_ids: ids, ...rest } = payload;
      const streams = await loadVisibleChannels(table, realm, onlooker, ids as number[]);
      return streams.length === 0 ? undefined : { ...rest, streams };
    }
    case 'group': {
      const { group_id: id, ...rest } = payload;
      const group = await loadGroupObject(outside, realm, onlooker.graph, id as number);
      return group === undefined || group.deactivated ? undefined : { ...rest, group };
    }
    case 'groupInUse': {
      const groupId = payload.group_id as number;
      const group = await table.get('group', { realm, groupId });
      return group === undefined || (group.deactivated && !onlooker.deactivatedGroups) ? undefined : payload;
    }
    case 'emoji':
      return { ...payload, realm_emoji: emojiObjects(await loadList(outside, 'emoji', realm, seq)) };
    case 'attachment':
      return withAttachment(table, realm, payload);
    case 'exports':
      return {
        ...payload,
        exports: await exportObjects(onlooker.objects, realm, await loadExports(table, realm), outside.now()),
      };
    default: {
      if ('group' in fill) return expandMembershipChange(outside, onlooker, payload, fill);
      // Entries of earlier releases, about messages that moved to another channel.
      if (!('joined' in fill)) return undefined;
      const ids = membersJoined(await loadUsers(outside, realm), fill.joined);
      return ids.length === 0 ? undefined : { ...payload, user_ids: ids };
    }
  }
}

/** The active members, including bots, who joined between two times (ms). */
const membersJoined = (users: readonly User[], [after, until]: readonly [number, number]): number[] =>
  users
    .filter((user) => user.isActive && user.role === roles.member && !isSystemBot(user))
    .filter(({ dateJoined }) => Date.parse(dateJoined) > after && Date.parse(dateJoined) <= until)
    .map(({ userId }) => userId);

type ToldChannel = SubscriberFields & { readonly first_message_id?: number | null };

/** A payload with channels or subscriptions. */
interface WithChannels extends Payload {
  readonly streams?: readonly ToldChannel[];
  readonly subscriptions?: readonly ToldChannel[];
}

type Listed = Awaited<ReturnType<typeof loadChannels>>[number];
const isDefault = ({ channel }: Listed): boolean => channel.isDefault && !channel.isArchived;
const idOf = ({ channel }: Listed): number => channel.channelId;

/** What decides a listener's flags of a message. */
export interface FlagSnapshot {
  readonly state: ReadState | undefined;
  readonly starred: boolean;
  readonly takesPart: boolean;
}

/** One round trip. */
export async function loadFlagSnapshot(
  table: Table,
  realm: string,
  userId: number,
  about: MessageHead,
): Promise<FlagSnapshot> {
  const { id, channelId, topic = '', mentions } = about;
  const conversation = readConversationOf(about);
  const [state, star, participant] = await Promise.all([
    table.get('read', { realm, userId, conversation }),
    table.get('star', { realm, userId, messageId: id }),
    mentions?.topic && channelId !== undefined
      ? table.get('participant', { realm, channelId, topic: folded(topic), userId })
      : undefined,
  ]);
  return {
    state,
    starred: star !== undefined && star.removed !== true,
    takesPart: participant !== undefined,
  };
}

/** The listener's current flags of a message. */
export function flagsIn(
  about: MessageHead,
  { user, standing: { userId, groups } }: Pick<Caller, 'user' | 'standing'>,
  subscription: Subscription | undefined,
  { state, starred, takesPart }: FlagSnapshot,
  alerted: boolean,
): string[] {
  const received =
    about.channelId === undefined || (subscription !== undefined && about.id > subscription.since);
  const read = !isUnread(about, user, subscription, state);
  return messageFlags(about, { userId, groups, received, takesPart, read, starred, alerted });
}
