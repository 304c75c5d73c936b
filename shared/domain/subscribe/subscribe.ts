import { folded } from '../../kernel/folding.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { loadQuotaUse } from '../../kernel/quota.ts';
import {
  type Commit,
  cutOf,
  inBulk,
  isOneTransaction,
  MAX_AT_ONCE,
  type Stage,
  type Work,
} from '../../log/bulk.ts';
import { type Change, MAX_WRITES } from '../../log/commit.ts';
import { extractReferences } from '../../markdown/references.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { channelGroupNames } from '../../model/channel/channel.ts';
import { loadFolder } from '../../model/channel/folder.ts';
import { loadSettingReferences } from '../../model/group/setting.ts';
import type { CountedChannel } from '../../model/subscription/object.ts';
import type { Caller } from '../../model/user/caller.ts';
import { type Principals, principalLookupKeys } from '../../model/user/principals.ts';
import type { Table } from '../../table/table.ts';
import type { NewChannelSettings } from '../channel-edit/create.ts';
import { type LoadedReferences, loadReferences, referenceLookupKeys } from '../mention/references.ts';
import {
  checkPairs,
  checkRequestedChannels,
  checkSubscribe,
  type SubscribeInput,
  type SubscribeRequest,
  type SubscribeSnapshot,
} from './check.ts';
import { doJoin, entriesOfJoin, type Joining } from './join.ts';
import { doLeaveNotices, hasAnnouncements, maySendMessages } from './notices.ts';
import { loadChannelIds, loadSnapshot, type Pair, pairOf, resolvedChannelIds } from './snapshot.ts';

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
    names: extractReferences(channels.map(({ description }) => description).join('\n\n')),
    principals,
    settings: parameters,
    refuseUnauthorized: parameters.authorization_errors_fatal ?? true,
    announce: parameters.announce ?? false,
    sendMessages: parameters.send_new_subscription_messages ?? true,
  };
}

/** The channels, the people, and the names in descriptions. */
export const subscriptionLookupKeys = ({ channels, principals, names }: SubscribeInput): LookupKey[] => [
  ...channels.map(({ name }): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
  ...principalLookupKeys(principals),
  ...referenceLookupKeys(names),
];

/** How many people one transaction subscribes to a channel. */
const MAX_PEOPLE = 23;

/** Most log numbers that one transaction needs. */
const MAX_NUMBERS = 41;

/**
 * Log numbers for each of the first transactions: one event for the subscribers, and for each channel its creation and
 * the event for others. Transactions for different channels run concurrently, those for more people one after another.
 */
export function numbersOfSubscriptions({ channels, principals }: SubscribeInput): number[] {
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

const channelNames = ({ channels }: SubscribeInput): string[] => channels.map(({ name }) => name);

async function loadSubscribeSnapshot(
  table: Table,
  resolved: Resolved,
  userId: number,
  { principals, settings }: SubscribeInput,
  ids: ReadonlyMap<string, number>,
): Promise<SubscribeSnapshot> {
  const { realm } = resolved;
  const [snapshot, namedInSettings, folder, channelBytes] = await Promise.all([
    loadSnapshot(table, resolved, userId, ids, principals),
    loadSettingReferences(
      table,
      realm,
      channelGroupNames.flatMap((name) => settings[name] ?? []),
    ),
    loadFolder(table, realm, settings.folder_id),
    loadQuotaUse(table, realm, 'channels'),
  ]);
  return { ...snapshot, namedInSettings, folder, channelBytes };
}

/** Reads the snapshot, and what the descriptions refer to. One round trip. */
export async function loadSubscriptions(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  input: SubscribeInput,
): Promise<{ readonly snapshot: SubscribeSnapshot; readonly named: LoadedReferences }> {
  const ids = resolvedChannelIds(channelNames(input), resolved);
  const [snapshot, named] = await Promise.all([
    loadSubscribeSnapshot(outside.table, resolved, userId, input, ids),
    loadReferences(outside, resolved, input.names, userId),
  ]);
  return { snapshot, named };
}

/** Reads the snapshot again after a conflict. Two round trips. */
export async function reloadSubscriptions(
  { table }: Outside,
  resolved: Resolved,
  userId: number,
  input: SubscribeInput,
): Promise<SubscribeSnapshot> {
  const ids = await loadChannelIds(table, resolved.realm, channelNames(input));
  return loadSubscribeSnapshot(table, resolved, userId, input, ids);
}

/** The outcome of a request to subscribe people. */
interface Subscribed {
  readonly subscribed: readonly Pair[];
  readonly already: readonly Pair[];
  readonly unauthorized: readonly string[];
  /** People get a message. */
  readonly sendsMessages: boolean;
  /** There is an outbox job, so its worker must be woken. */
  readonly hasJob: boolean;
}

/**
 * Subscribes people to channels and creates those that do not exist. Everything is checked before anything changes. A
 * request too large for one transaction takes several, each with whole subscriptions, their counts and their events. If
 * it breaks off, repeating it does the rest.
 */
export async function subscribePeople(
  stage: Stage<SubscribeSnapshot>,
  caller: Caller,
  commit: Commit,
  request: SubscribeRequest,
  loaded: SubscribeSnapshot,
): Promise<Subscribed> {
  const done = new Map<string, Pair>();
  const progress: Progress = { done, created: new Set(), hasJob: false };
  const announce = request.announce && hasAnnouncements(caller);
  let sendsMessages: boolean | undefined;
  const plan: Plan = (joinings, number, last) => {
    const change = doJoin(caller.realmId, joinings, number);
    const arrived = joinings.map(({ target, newcomers }, i) => {
      const channel = change.result[i]?.channel as Channel;
      const isNew = 'create' in target;
      return { channel, newcomers, isNew, isOurs: isNew || progress.created.has(channel.channelId) };
    });
    const options = {
      job: request.job,
      by: caller.user.userId,
      sendsMessages: sendsMessages === true,
      announce,
    };
    const jobs = doLeaveNotices(caller.realmId, options, arrived, last, request.now);
    return {
      writes: [...change.writes, ...jobs],
      entries: change.entries,
      result: { channels: change.result, hasJob: jobs.length > 0 },
    };
  };
  const work = joiningWork(commit, plan, progress);
  const { already, unauthorized } = await inBulk(stage, loaded, work, (snapshot) => {
    const decision = checkSubscribe(caller, request, snapshot);
    // A later decision has fewer joinings, which is no reason to send messages after all.
    sendsMessages ??= request.sendMessages && maySendMessages(decision.joinings);
    return { jobs: decision.joinings, decision };
  });
  return {
    subscribed: [...done.values()],
    // What an earlier transaction of this request did is new to the caller.
    already: already.filter(({ userId, channel }) => !done.has(pairOf(userId, channel.channelId))),
    unauthorized,
    sendsMessages: sendsMessages === true,
    hasJob: progress.hasJob,
  };
}

/** The change of one transaction. `last` is one of its log numbers, for its outbox job. */
type Plan = (
  joinings: readonly Joining[],
  number: (index: number) => number,
  last: number,
) => Change<{ readonly channels: readonly CountedChannel[]; readonly hasJob: boolean }>;

/** What the transactions of a request have done so far. */
interface Progress {
  readonly done: Map<string, Pair>;
  /** The channels that the request created. */
  readonly created: Set<number>;
  hasJob: boolean;
}

function joiningWork(commit: Commit, plan: Plan, progress: Progress): Work<Joining> {
  // A channel that is created for its first newcomers exists for those in the next transaction.
  const made = new Map<string, CountedChannel>();
  const fits = (joinings: readonly Joining[]): boolean =>
    [joinings, joinings.map(asMade)].every((each) => isOneTransaction(plan(each, () => 0, 0)));
  return {
    fits,
    cut: ({ target, newcomers }) => cutOf(newcomers, (some) => ({ target, newcomers: some }), fits),
    run: async (planned) => {
      const joinings = planned.map(({ target, newcomers }) => ({
        target: ('create' in target ? made.get(folded(target.create.name)) : undefined) ?? target,
        newcomers,
      }));
      const { channels, hasJob } = await commit(entriesOfJoin(joinings), (numbers) =>
        plan(joinings, (i) => numbers[i] as number, numbers.at(-1) as number),
      );
      progress.hasJob ||= hasJob;
      for (const [i, counted] of channels.entries()) {
        const { channel } = counted;
        const joining = joinings[i];
        if (joining && 'create' in joining.target) progress.created.add(channel.channelId);
        made.set(folded(channel.name), counted);
        for (const { userId } of joining?.newcomers ?? []) {
          progress.done.set(pairOf(userId, channel.channelId), { userId, channel });
        }
      }
    },
  };
}

/** The joining once its channel exists, which takes other writes. */
const asMade = ({ target, newcomers }: Joining): Joining => ({
  target: 'create' in target ? { channel: { ...target.create, channelId: 0 }, count: undefined } : target,
  newcomers,
});

/** Names of channels by user id. */
export function namesByUser(pairs: readonly Pair[]): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (const { userId, channel } of pairs) {
    const list = lists[userId];
    if (list) list.push(channel.name);
    else lists[userId] = [channel.name];
  }
  return lists;
}
