import { isId } from '../../kernel/id.ts';
import { NOTHING_RESOLVED, type ResolvedReferences } from '../../markdown/references.ts';
import { render } from '../../markdown/render.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doLeave, type OutboxRun, REMEMBERED } from '../outbox/outbox.ts';
import { type DirectNotice, sendDirectNotices } from '../send/direct-notice.ts';
import { postNotice, silentMention } from '../send/notice.ts';
import { jobToken, type SendToken } from '../send/send.ts';
import type { Joining, Newcomer } from './join.ts';
import { pairOf } from './snapshot.ts';

/** What one transaction leaves to be told: whom somebody subscribed to what, and which channels they created. */
export interface SubscribedTask {
  /** Who did it. */
  readonly by: number;
  readonly joined: readonly { readonly channelId: number; readonly users: readonly number[] }[];
  readonly created: readonly number[];
}

declare module '../outbox/outbox.ts' {
  interface Tasks {
    subscribed: SubscribedTask;
  }
}

/** What a request to subscribe people wants to be told of it. */
export interface LeaveEventOptions {
  /** The name of the job that is left. */
  readonly job: string;
  readonly by: number;
  /** People are told one by one. */
  readonly people: boolean;
  /** Channels that are created are announced. */
  readonly announce: boolean;
}

/** Whether people may be told one by one that they are subscribed: too many are not told at all (wire facts 2). */
export const mayTellPeople = (joinings: readonly Joining[]): boolean =>
  new Set(joinings.flatMap(({ newcomers }) => newcomers.map(({ userId }) => userId))).size <=
  limits.newSubscriptionMessages;

/** Whether the caller's announcements have somewhere to go. */
export const hasAnnouncements = ({ realm }: Caller): boolean =>
  isId(realm.settings.new_stream_announcements_stream_id);

/** People who are subscribed to a channel. */
interface Arrived {
  readonly channel: Channel;
  readonly newcomers: readonly Newcomer[];
  /** The channel is created by this very transaction. */
  readonly isNew: boolean;
  /** It is created by this request. */
  readonly isOurs: boolean;
}

/**
 * Leaves what is to be told of subscriptions to the worker of the outbox, in their transaction, of which `number` is
 * one. Bots are not told, nor is anybody told of channels that are created for them. `now` is in milliseconds.
 */
export function doLeaveTelling(
  realm: string,
  { job, by, people, announce }: LeaveEventOptions,
  arrived: readonly Arrived[],
  number: number,
  now: number,
): Write[] {
  const created = arrived.flatMap(({ isNew, channel }) =>
    announce && isNew && !channel.isPrivate ? channel.channelId : [],
  );
  const joined = arrived
    .filter(({ isOurs }) => people && !isOurs)
    .map(({ channel: { channelId }, newcomers }) => ({
      channelId,
      users: newcomers.filter(({ userId, isBot }) => userId !== by && !isBot).map(({ userId }) => userId),
    }))
    .filter(({ users }) => users.length > 0);
  if (created.length === 0 && joined.length === 0) return [];
  const task: SubscribedTask = { by, joined, created };
  return [doLeave({ realm, kind: 'subscribed', job }, number, task, now)];
}

/** The topic in which the organization is told of new channels. */
const NEW_CHANNELS = 'new channels';

/** Most channels that one notice names. */
const MAX_NAMED = 100;

/**
 * Tells people in direct messages to which channels somebody subscribed them, and the organization of channels that
 * were created. All is judged as it is now: nobody hears of a channel in which they are not any more. Throws where
 * something could not be told; what was told is not told again.
 */
export async function sendSubscribedNotices(
  world: OutboxRun,
  job: string,
  tasks: readonly SubscribedTask[],
): Promise<void> {
  const { outside, realmId: realm } = world;
  const { table } = outside;
  const joined = tasks.flatMap((task) => task.joined);
  const created = tasks.flatMap((task) => task.created);
  const by = tasks[0]?.by ?? 0;
  const pairs = joined.flatMap(({ channelId, users }) =>
    users.map((userId) => ({ realm, channelId, userId })),
  );
  const people = [...new Set(pairs.map(({ userId }) => userId))];
  const [actor, channels, users, subscriptions] = await Promise.all([
    table.get('user', { realm, userId: by }),
    table.getMany(
      [...joined.map(({ channelId }) => channelId), ...created].map((channelId) =>
        key('channel', { realm, channelId }),
      ),
    ),
    table.getMany(people.map((userId) => key('user', { realm, userId }))),
    table.getMany(pairs.map((pair) => key('subscription', pair))),
  ]);
  if (actor === undefined) return;
  const open = new Map(
    channels.filter(({ isArchived }) => !isArchived).map((each) => [each.channelId, each]),
  );
  const active = new Set(
    users.filter(({ isActive, isBot }) => isActive && !isBot).map(({ userId }) => userId),
  );
  const subscribed = new Set(subscriptions.map(({ userId, channelId }) => pairOf(userId, channelId)));
  const byPerson = Map.groupBy(
    pairs.filter(
      ({ userId, channelId }) =>
        active.has(userId) && open.has(channelId) && subscribed.has(pairOf(userId, channelId)),
    ),
    ({ userId }) => userId,
  );
  const tell = sendDirectNotices(
    outside,
    world.log,
    world.realm.noticeBotId,
    noticesTo(actor, job, byPerson, open),
  );
  const announce = announceCreated(
    world,
    actor,
    created.flatMap((channelId) => open.get(channelId) ?? []),
    jobToken(job, 'announcement', REMEMBERED),
  );
  const failures = (await Promise.allSettled([tell, announce])).flatMap((each) =>
    each.status === 'rejected' ? [each.reason] : [],
  );
  if (failures.length > 0) throw new AggregateError(failures, 'not all could be told');
}

/** One notice for each person, of all of their channels. */
function noticesTo(
  actor: User,
  job: string,
  byPerson: ReadonlyMap<number, readonly { readonly channelId: number }[]>,
  open: ReadonlyMap<number, Channel>,
): DirectNotice[] {
  const texts = new Map<string, Pick<DirectNotice, 'content' | 'rendered'>>();
  return [...byPerson].map(([to, pairs]) => {
    const channels = pairs.flatMap(({ channelId }) => open.get(channelId) ?? []);
    const ids = channels.map(({ channelId }) => channelId).join();
    const content = `${silentMention(actor)} subscribed you to ${listOf(channels)}.`;
    // Most are told the same.
    const said = texts.get(ids) ?? { content, rendered: render(content, foundWith(actor, channels)) };
    texts.set(ids, said);
    return { to, ...said, token: jobToken(job, String(to), REMEMBERED) };
  });
}

/**
 * Announces channels that were created where the organization wants to hear of them, which is no news to whoever did
 * it. Private ones are not named to others, as nothing of them is.
 */
async function announceCreated(
  { outside, log, realmId: realm, realm: { noticeBotId, settings } }: OutboxRun,
  actor: User,
  created: readonly Channel[],
  token: SendToken,
): Promise<void> {
  const { new_stream_announcements_stream_id: channelId } = settings;
  const channels = created.filter(({ isPrivate }) => !isPrivate);
  if (channels.length === 0 || !isId(channelId)) return;
  const place = await outside.table.get('channel', { realm, channelId });
  if (place === undefined || place.isArchived) return;
  const what = channels.length === 1 ? 'the channel' : 'these channels:';
  const notice = {
    place: { channel: place, topic: place.topicsPolicy === 'empty_topic_only' ? '' : NEW_CHANNELS },
    content: `${silentMention(actor)} created ${what} ${listOf(channels)}.`,
    channels,
  };
  await postNotice(outside, log, { actor, noticeBotId }, notice, token, false);
}

/** Links to channels, as Markdown. */
function listOf(channels: readonly Channel[]): string {
  const links = channels.slice(0, MAX_NAMED).map(({ name }) => `#**${name}**`);
  const more = channels.length - links.length;
  return more === 0 ? links.join(', ') : `${links.join(', ')} and ${more} more`;
}

const foundWith = (actor: User, channels: readonly Channel[]): ResolvedReferences => ({
  ...NOTHING_RESOLVED,
  usersById: new Map([[actor.userId, { id: actor.userId, fullName: actor.fullName }]]),
  channels: new Map(channels.map(({ channelId: id, name }) => [name, { id, name }])),
});
