import { isId } from '../../kernel/id.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Write } from '../../table/write.ts';
import { doLeave } from '../outbox/outbox.ts';
import type { Joining, Newcomer } from './join.ts';

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
