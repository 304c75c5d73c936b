import type { Objects, Outside } from '../../kernel/outside.ts';
import type { Payload, ReadEvent } from '../../log/slot.ts';
import { FIRST_MESSAGE } from '../../model/channel/first-message.ts';
import { loadGroupObject } from '../../model/group/member.ts';
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
import { emojiObjects, loadEmoji } from '../emoji/emoji.ts';
import { exportObjects, loadExports } from '../export/realm-export.ts';
import { filledWithMoved } from '../move/moved-unread.ts';
import { FirstMessages } from '../reader/first-messages.ts';

/**
 * The payload of an event with what is read when it is told. It may be newer than the event; what changed
 * them since is told after it, and telling it twice changes nothing. Undefined where there is nothing to tell. One
 * round trip or two, if it has such a part at all.
 */
export async function filledPayload(
  outside: Outside,
  event: ReadEvent,
  onlooker: Listening,
): Promise<Payload | undefined> {
  const payload = await filled(outside, event, onlooker);
  if (payload === undefined || !hasChannels(payload)) return payload;
  const firsts = new FirstMessages(outside, onlooker.realmId, event.seq);
  const { streams, subscriptions } = payload as Telling;
  return {
    ...payload,
    ...(streams && { streams: await firsts.tellIn(streams) }),
    ...(subscriptions && { subscriptions: await firsts.tellIn(subscriptions) }),
  };
}

/** Whether it tells whole channels, in which the oldest message may be missing (`channelObject`). */
const hasChannels = ({ type, op }: Payload): boolean =>
  (type === 'stream' && op === 'create') || (type === 'subscription' && op === 'add');

/** To whom an event is told. */
type Listening = Caller &
  Viewer & {
    readonly deactivatedGroups: boolean;
    /** The state that their client began with may have been read while the event came about. */
    readonly isRegistering: boolean;
    readonly objects: Pick<Objects, 'link'>;
  };

async function filled(
  outside: Outside,
  { payload, fill, hearers, seq }: ReadEvent,
  onlooker: Listening,
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
      const { streams, subscriptions } = payload as Telling;
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
      const tellsFirst = payload.property === FIRST_MESSAGE;
      const [channel, value] = await Promise.all([
        table.get('channel', { realm, channelId }),
        // What came since is told behind it.
        tellsFirst ? new FirstMessages(outside, realm, seq).of(channelId) : payload.value,
      ]);
      return channel && { ...payload, ...(tellsFirst && { value }), name: channel.name };
    }
    case 'defaultChannels': {
      const channels = await loadChannels(table, realm);
      return { ...payload, default_streams: channels.filter(isDefault).map(idOf) };
    }
    case 'channels': {
      const { stream_ids: ids, ...rest } = payload;
      const streams = await loadVisibleChannels(table, realm, onlooker, ids as number[]);
      return streams.length === 0 ? undefined : { ...rest, streams };
    }
    case 'group': {
      const { group_id: id, ...rest } = payload;
      const group = await loadGroupObject(table, realm, onlooker.graph, id as number);
      return group === undefined || group.deactivated ? undefined : { ...rest, group };
    }
    case 'groupInUse': {
      const groupId = payload.group_id as number;
      const group = await table.get('group', { realm, groupId });
      return group === undefined || (group.deactivated && !onlooker.deactivatedGroups) ? undefined : payload;
    }
    case 'emoji':
      return { ...payload, realm_emoji: emojiObjects(await loadEmoji(table, realm)) };
    case 'exports':
      return {
        ...payload,
        exports: await exportObjects(onlooker.objects, realm, await loadExports(table, realm), outside.now()),
      };
    default: {
      if ('to' in fill) return filledWithMoved(outside, onlooker, payload, fill);
      if ('group' in fill) return expandMembershipChange(outside, onlooker, payload, fill);
      const ids = membersJoined(await loadUsers(table, realm), fill.joined);
      return ids.length === 0 ? undefined : { ...payload, user_ids: ids };
    }
  }
}

/** The active members, bots too, who joined between two times (ms). */
const membersJoined = (users: readonly User[], [after, until]: readonly [number, number]): number[] =>
  users
    .filter((user) => user.isActive && user.role === roles.member && !isSystemBot(user))
    .filter(({ dateJoined }) => Date.parse(dateJoined) > after && Date.parse(dateJoined) <= until)
    .map(({ userId }) => userId);

type ToldChannel = SubscriberFields & { readonly first_message_id?: number | null };

/** Channels or subscriptions that an event tells. */
interface Telling extends Payload {
  readonly streams?: readonly ToldChannel[];
  readonly subscriptions?: readonly ToldChannel[];
}

type Listed = Awaited<ReturnType<typeof loadChannels>>[number];
const isDefault = ({ channel }: Listed): boolean => channel.isDefault && !channel.isArchived;
const idOf = ({ channel }: Listed): number => channel.channelId;
