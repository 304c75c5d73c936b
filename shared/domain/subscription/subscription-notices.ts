import type { Log } from '../../log/log.ts';
import { type Found, NOTHING_FOUND } from '../../markdown/found.ts';
import { render } from '../../markdown/render.ts';
import { key } from '../../table/keys.ts';
import type { Caller } from '../caller.ts';
import type { Channel } from '../channel/channel.ts';
import { isId } from '../channel/channel-access.ts';
import { silently } from '../channel/channel-notice.ts';
import type { Outside } from '../outside.ts';
import { limits } from '../realm/realm.ts';
import { type DirectNotice, sendDirectNotices } from '../send/direct-notices.ts';
import { sendNotice } from '../topic/topic-notice.ts';
import type { User } from '../user/user.ts';
import type { Subscribed } from './subscribe-people.ts';

/** The topic in which the organization is told of new channels. */
const NEW_CHANNELS = 'new channels';

/** Most channels that one notice names. */
const MOST_NAMED = 100;

/** Where notices go, and whose they are. */
interface Speaking {
  readonly outside: Outside;
  readonly log: Log;
  readonly caller: Caller;
}

/** Whether people may be told one by one that they were subscribed: too many are not told at all (wire facts 2). */
export const mayTellPeople = ({ subscribed }: Subscribed): boolean =>
  new Set(subscribed.map(({ userId }) => userId)).size <= limits.newSubscriptionMessages;

/**
 * Tells people in direct messages to which channels somebody else subscribed them. Bots are not told, nor is anybody
 * told of channels that were created for them.
 */
export async function tellSubscribed(
  { outside, log, caller }: Speaking,
  { subscribed, created }: Subscribed,
  users: ReadonlyMap<number, User>,
): Promise<void> {
  const isNew = new Set(created.map(({ channelId }) => channelId));
  const others = subscribed.filter(
    ({ userId, channel }) =>
      userId !== caller.user.userId && users.get(userId)?.isBot === false && !isNew.has(channel.channelId),
  );
  const byPerson = Map.groupBy(others, ({ userId }) => userId);
  const texts = new Map<string, Omit<DirectNotice, 'to'>>();
  const notices = [...byPerson].map(([to, pairs]): DirectNotice => {
    const channels = pairs.map(({ channel }) => channel);
    const ids = channels.map(({ channelId }) => channelId).join();
    const content = `${silently(caller.user)} subscribed you to ${listOf(channels)}.`;
    // Most are told the same.
    const said = texts.get(ids) ?? { content, rendered: render(content, foundWith(caller, channels)) };
    texts.set(ids, said);
    return { to, ...said };
  });
  await sendDirectNotices(outside, log, caller.realm.noticeBotId, notices);
}

/**
 * Announces channels that were created where the organization wants to hear of them. Private ones are not named to
 * others, as nothing of them is.
 */
export async function announceCreated(
  { outside, log, caller }: Speaking,
  { created }: Subscribed,
): Promise<void> {
  const { new_stream_announcements_stream_id: channelId } = caller.realm.settings;
  const channels = created.filter(({ isPrivate }) => !isPrivate);
  if (channels.length === 0 || !isId(channelId)) return;
  const place = await outside.table.get<Channel>(key('channel', { realm: caller.realmId, channelId }));
  if (place === undefined || place.isArchived) return;
  const what = channels.length === 1 ? 'the channel' : 'these channels:';
  await sendNotice(outside, log, caller, {
    place: { channel: place, topic: place.topicsPolicy === 'empty_topic_only' ? '' : NEW_CHANNELS },
    content: `${silently(caller.user)} created ${what} ${listOf(channels)}.`,
    channels,
  });
}

/** Links to channels, as Markdown. */
function listOf(channels: readonly Channel[]): string {
  const links = channels.slice(0, MOST_NAMED).map(({ name }) => `#**${name}**`);
  const more = channels.length - links.length;
  return more === 0 ? links.join(', ') : `${links.join(', ')} and ${more} more`;
}

const foundWith = ({ user }: Caller, channels: readonly Channel[]): Found => ({
  ...NOTHING_FOUND,
  usersById: new Map([[user.userId, { id: user.userId, fullName: user.fullName }]]),
  channels: new Map(channels.map(({ channelId: id, name }) => [name, { id, name }])),
});
