import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { loadQuotaUse } from '../../kernel/quota.ts';
import { folded } from '../../kernel/text.ts';
import { type Commit, commitInParts, MAX_AT_ONCE } from '../../log/bulk.ts';
import { MAX_WRITES } from '../../log/commit.ts';
import { extractReferences } from '../../markdown/references.ts';
import { channelGroupNames } from '../../model/channel/channel.ts';
import { loadFolder } from '../../model/channel/folder.ts';
import { loadSettingReferences } from '../../model/group/setting.ts';
import { isWebPublicEnabled } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Principals } from '../../model/user/principals.ts';
import type { NewChannelSettings } from '../channel-edit/create.ts';
import { loadReferences, referenceLookupKeys } from '../mention/references.ts';
import {
  checkPairs,
  checkRequestedChannels,
  checkSubscribe,
  type SubscribeInput,
  type SubscribeSnapshot,
} from './check.ts';
import { doJoin, type Joining } from './join.ts';
import { doLeaveNotices, hasAnnouncements, maySendMessages } from './notices.ts';
import { loadSnapshot, type Pair, pairLookupKeys, pairOf } from './snapshot.ts';

/** The parameters of `POST /users/me/subscriptions` (specification 4.2). */
interface SubscribeParameters extends NewChannelSettings {
  readonly subscriptions: Parameters<typeof checkRequestedChannels>[0];
  readonly principals?: Principals | undefined;
  readonly authorization_errors_fatal?: boolean | undefined;
  readonly announce?: boolean | undefined;
  readonly send_new_subscription_messages?: boolean | undefined;
}

/** Parses the parameters. Throws `BAD_REQUEST` for invalid names and too many subscriptions. */
export function parseSubscriptions(parameters: SubscribeParameters): SubscribeInput {
  const { principals } = parameters;
  const channels = checkRequestedChannels(parameters.subscriptions);
  checkPairs(channels.length, principals?.length ?? 1);
  return {
    channels,
    names: channels.map(({ name }) => name),
    inDescriptions: extractReferences(channels.map(({ description }) => description).join('\n\n')),
    principals,
    settings: parameters,
    refuseUnauthorized: parameters.authorization_errors_fatal ?? true,
    announce: parameters.announce ?? false,
    sendMessages: parameters.send_new_subscription_messages ?? true,
    mustCreate: false,
    done: new Map(),
    progress: { created: new Map(), hasJob: false },
  };
}

/** The parameters of `POST /channels/create` (companion facts 4.4). */
interface NewChannelParameters extends Omit<SubscribeParameters, 'subscriptions' | 'principals'> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly subscribers: readonly number[];
}

/** Parses a request for one new channel. Throws `BAD_REQUEST` for an invalid name and too many subscribers. */
export const parseNewChannel = ({
  name,
  description,
  subscribers,
  ...settings
}: NewChannelParameters): SubscribeInput => ({
  ...parseSubscriptions({ ...settings, subscriptions: [{ name, description }], principals: subscribers }),
  mustCreate: true,
});

/** The channels, the people, and the names in descriptions. */
export const subscriptionLookupKeys = (input: SubscribeInput): LookupKey[] => [
  ...pairLookupKeys(input),
  ...referenceLookupKeys(input.inDescriptions),
];

/** How many people one transaction subscribes to a channel. */
const MAX_PEOPLE = 23;

/** Most log numbers that one transaction needs. */
const MAX_NUMBERS = 41;

/**
 * Log numbers for each of the first transactions: one event for the subscribers, and for each channel its creation and
 * the event for others. Transactions for different channels run concurrently, those for more people one after another.
 */
export function numbersOfSubscriptions({
  channels,
  principals,
  mustCreate,
  settings,
}: SubscribeInput): number[] {
  // A channel without subscribers.
  if (mustCreate && principals?.length === 0) return [settings.is_default_stream === true ? 2 : 1];
  const people = principals?.length ?? 1;
  const transactions = (count: number): number[] => {
    const half = Math.ceil(count / 2);
    if (count > 1 && writesFor(count, people) >= MAX_WRITES) {
      return [...transactions(half), ...transactions(count - half)];
    }
    const steps = count > 1 ? 1 : Math.ceil(people / MAX_PEOPLE);
    return Array<number>(steps).fill(Math.min(2 * count + 1, MAX_NUMBERS));
  };
  return transactions(Math.max(1, channels.length)).slice(0, MAX_AT_ONCE);
}

/** Roughly how many writes it takes to subscribe people to channels. */
const writesFor = (channels: number, people: number): number => channels * (3 * people + 2) + people + 2;

/** Reads the snapshot in one round trip. */
export async function loadSubscriptions(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  input: SubscribeInput,
): Promise<SubscribeSnapshot> {
  const { table, environment } = outside;
  const { realm } = resolved;
  const { settings } = input;
  const [snapshot, namedInSettings, folder, channelBytes, inDescriptions] = await Promise.all([
    loadSnapshot(table, resolved, userId, input),
    loadSettingReferences(
      table,
      realm,
      channelGroupNames.flatMap((name) => settings[name] ?? []),
    ),
    loadFolder(table, realm, settings.folder_id),
    loadQuotaUse(table, realm, 'channels'),
    loadReferences(outside, resolved, input.inDescriptions, userId),
  ]);
  return {
    ...snapshot,
    namedInSettings,
    folder,
    channelBytes,
    inDescriptions,
    isWebPublicEnabled: isWebPublicEnabled(environment),
  };
}

/** The outcome of a request to subscribe people. */
interface Subscribed {
  readonly subscribed: readonly Pair[];
  readonly already: readonly Pair[];
  readonly unauthorized: readonly string[];
  /** People get a message. */
  readonly sendsMessages: boolean;
  /** The outbox job that its worker must be woken for. */
  readonly job: string | undefined;
}

/**
 * Subscribes people to channels and creates those that do not exist. Everything is checked before anything changes. A
 * request too large for one transaction takes several, each with whole subscriptions, their counts and their events. If
 * it breaks off, repeating it does the rest.
 */
export async function subscribePeople(
  { uuid, now }: Pick<Outside, 'uuid' | 'now'>,
  caller: Caller,
  commit: Commit,
  input: SubscribeInput,
  snapshot: SubscribeSnapshot,
): Promise<Subscribed> {
  const { done, progress } = input;
  const { created } = progress;
  const { joinings, already, unauthorized } = checkSubscribe(caller, input, snapshot, now());
  // A later try has fewer joinings, which is no reason to send messages after all.
  progress.sendsMessages ??= input.sendMessages && maySendMessages(joinings);
  progress.job ??= uuid();
  const { job, sendsMessages } = progress;
  const notices = { job, sendsMessages, announce: input.announce && hasAnnouncements(caller) };
  // A channel that is created for its first newcomers exists for those in the next transaction.
  const targetNow = ({ target }: Joining) =>
    ('create' in target ? created.get(folded(target.create.name)) : undefined) ?? target;
  await commitInParts(
    commit,
    joinings,
    (planned, number) => {
      const change = doJoin(
        caller.realmId,
        planned.map((each) => ({ ...each, target: targetNow(each) })),
        number,
      );
      const joined = change.result.map((each) => ({
        ...each,
        isOurs: each.isNew || created.has(folded(each.channel.name)),
      }));
      const last = number(change.entries.length - 1);
      const jobs = doLeaveNotices(caller, notices, joined, last, now());
      return { ...change, writes: [...change.writes, ...jobs], result: { joined, hasJob: jobs.length > 0 } };
    },
    (_, { joined, hasJob }) => {
      progress.hasJob ||= hasJob;
      for (const { channel, count, people, isOurs } of joined) {
        if (isOurs) created.set(folded(channel.name), { channel, count });
        for (const { userId } of people) done.set(pairOf(userId, channel.channelId), { userId, channel });
      }
    },
  );
  return {
    subscribed: [...done.values()],
    // What an earlier try did is new to the caller.
    already: already.filter(({ userId, channel }) => !done.has(pairOf(userId, channel.channelId))),
    unauthorized,
    sendsMessages,
    job: progress.hasJob ? job : undefined,
  };
}

/** Names of channels by user id. */
export const namesByUser = (pairs: readonly Pair[]): Record<string, string[]> =>
  Object.fromEntries(
    [...Map.groupBy(pairs, ({ userId }) => userId)].map(([userId, list]) => [
      userId,
      list.map(({ channel }) => channel.name),
    ]),
  );
