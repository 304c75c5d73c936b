import { isId } from '../../kernel/lookup.ts';
import { render } from '../../markdown/render.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doLeaveJob, type OutboxRun, REMEMBERED } from '../outbox/outbox.ts';
import { type DirectNotice, sendDirectNotices } from '../send/direct-notice.ts';
import { noticeReferences, postNotice, silentMention } from '../send/notice.ts';
import { jobToken, type SendToken } from '../send/send.ts';
import type { Joined, Joining } from './join.ts';
import { pairOf } from './snapshot.ts';

/** What one transaction did, for the notices: who subscribed whom to which channels, and which channels they created. */
export interface SubscribedTask {
  readonly by: number;
  readonly joined: readonly { readonly channelId: number; readonly users: readonly number[] }[];
  readonly created: readonly number[];
}

declare module '../outbox/outbox.ts' {
  interface Tasks {
    subscribed: SubscribedTask;
  }
}

/** Whether each person may get a direct message. With too many people, nobody does (wire facts 2). */
export const maySendMessages = (joinings: readonly Joining[]): boolean =>
  new Set(joinings.flatMap(({ people }) => people.map(({ userId }) => userId))).size <=
  limits.newSubscriptionMessages;

/** Whether the organization has a channel for announcements of new channels. */
export const hasAnnouncements = ({ realm }: Caller): boolean =>
  isId(realm.settings.new_stream_announcements_stream_id);

/** Which notices a request sends. */
interface NoticeOptions {
  /** The id of the outbox job. */
  readonly job: string;
  /** Each person gets a direct message. */
  readonly sendsMessages: boolean;
  /** New channels are announced. */
  readonly announce: boolean;
}

/**
 * Leaves the notices to the outbox, in the transaction of the subscriptions; `number` is one of its log numbers. Bots get
 * none, and nobody gets one about a channel that the request created (`isOurs`). `now` is in milliseconds.
 */
export function doLeaveNotices(
  { realmId: realm, user: { userId: by } }: Caller,
  { job, sendsMessages, announce }: NoticeOptions,
  joinings: readonly (Joined & { readonly isOurs: boolean })[],
  number: number,
  now: number,
): Write[] {
  const created = joinings.flatMap(({ isNew, channel }) =>
    announce && isNew && !channel.isPrivate ? channel.channelId : [],
  );
  const joined = joinings
    .filter(({ isOurs }) => sendsMessages && !isOurs)
    .map(({ channel: { channelId }, people }) => ({
      channelId,
      users: people.filter(({ userId, isBot }) => userId !== by && !isBot).map(({ userId }) => userId),
    }))
    .filter(({ users }) => users.length > 0);
  if (created.length === 0 && joined.length === 0) return [];
  return [doLeaveJob({ realm, kind: 'subscribed', job }, number, { by, joined, created }, now)];
}

/** The topic of announcements of new channels. */
const NEW_CHANNELS = 'new channels';

/** Most channels named in one notice. */
const MAX_NAMED = 100;

/**
 * Sends the notices of a job: a direct message to each person who was subscribed, and an announcement of new channels.
 * Uses the present state: nobody gets a notice about a channel that they have left. Throws if some could not be sent; a
 * retry does not repeat the others.
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
  const messages = sendDirectNotices(
    outside,
    world.log,
    world.realm.noticeBotId,
    noticesTo(actor, job, byPerson, open),
  );
  const announcement = announceCreated(
    world,
    actor,
    created.flatMap((channelId) => open.get(channelId) ?? []),
    jobToken(job, 'announcement', REMEMBERED),
  );
  const failures = (await Promise.allSettled([messages, announcement])).flatMap((each) =>
    each.status === 'rejected' ? [each.reason] : [],
  );
  if (failures.length > 0)
    throw new AggregateError(failures, 'some notices of new subscriptions could not be sent');
}

/** One notice for each person, with all their channels. */
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
    // Most people get the same text.
    const text = texts.get(ids) ?? { content, rendered: render(content, noticeReferences(actor, channels)) };
    texts.set(ids, text);
    return { to, ...text, token: jobToken(job, String(to), REMEMBERED) };
  });
}

/** Announces new public channels in the channel that the organization chose, without notifying the actor. */
async function announceCreated(
  { outside, log, realmId: realm, realm: { noticeBotId, settings } }: OutboxRun,
  actor: User,
  created: readonly Channel[],
  token: SendToken,
): Promise<void> {
  const { new_stream_announcements_stream_id: channelId } = settings;
  const channels = created.filter(({ isPrivate }) => !isPrivate);
  if (channels.length === 0 || !isId(channelId)) return;
  const target = await outside.table.get('channel', { realm, channelId });
  if (target === undefined || target.isArchived) return;
  const what = channels.length === 1 ? 'the channel' : 'these channels:';
  const notice = {
    place: { channel: target, topic: target.topicsPolicy === 'empty_topic_only' ? '' : NEW_CHANNELS },
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
