import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { MAX_AT_ONCE } from '../../log/bulk.ts';
import { MAX_WRITES } from '../../log/commit.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { type Principals, principalIds, principalLookupKeys } from '../../model/user/principals.ts';
import type { NewChannelSettings } from '../channel-edit/create.ts';
import { type LoadedReferences, loadNamed, nameLookupKeys } from '../mention/naming.ts';
import { checkPairs, checkWanted, type Wanted } from './subscribe-check.ts';
import {
  knownChannelIds,
  loadChannelIds,
  loadSubscribeSnapshot,
  type SubscribeSnapshot,
} from './subscription-snapshot.ts';

/** The parameters of a request to subscribe people (specification 4.2). */
interface SubscribeParameters extends NewChannelSettings {
  readonly subscriptions: Parameters<typeof checkWanted>[0];
  readonly principals?: Principals | undefined;
  readonly authorization_errors_fatal?: boolean | undefined;
  readonly announce?: boolean | undefined;
  readonly send_new_subscription_messages?: boolean | undefined;
}

/** Subscriptions that somebody asks for. */
export interface AskedSubscriptions {
  readonly wanted: readonly Wanted[];
  /** The names in the descriptions of channels that may have to be created. */
  readonly names: References;
  readonly principals: Principals | undefined;
  /** The settings of channels that are created. */
  readonly settings: NewChannelSettings;
  /** A channel that the caller may not join or create refuses the whole request; else it is only listed. */
  readonly refuseUnauthorized: boolean;
  /** Channels that are created are announced. */
  readonly announce: boolean;
  /** People are told that they were subscribed. */
  readonly tellPeople: boolean;
}

/** Interprets the parameters. Throws `BAD_REQUEST` for what cannot be a name, and for too many subscriptions at once. */
export function parseSubscriptions(given: SubscribeParameters): AskedSubscriptions {
  const { principals } = given;
  const wanted = checkWanted(given.subscriptions);
  checkPairs(wanted.length, principals?.length ?? 1);
  return {
    wanted,
    names: extractReferences(wanted.map(({ description }) => description).join('\n\n')),
    principals,
    settings: given,
    refuseUnauthorized: given.authorization_errors_fatal ?? true,
    announce: given.announce ?? false,
    tellPeople: given.send_new_subscription_messages ?? true,
  };
}

/** The channels, the people, and the names in descriptions. */
export const subscriptionLookupKeys = ({ wanted, principals, names }: AskedSubscriptions): LookupKey[] => [
  ...wanted.map(({ name }): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
  ...principalLookupKeys(principals),
  ...nameLookupKeys(names),
];

/** How many people one transaction subscribes to a channel. */
const PEOPLE_IN_ONE = 23;

/** More numbers than one transaction of this kind has events. */
const MAX_NUMBERS = 41;

/**
 * Numbers for each of the first transactions: one event for the subscribers, and for each channel its creation and the
 * news for the others. Some of them can be under way at once; more people than one of them takes follow one another.
 */
export function numbersOfSubscriptions({ wanted, principals }: AskedSubscriptions): number[] {
  const people = principals?.length ?? 1;
  const lanes = (channels: number): number[] => {
    const half = Math.ceil(channels / 2);
    if (channels > 1 && writesFor(channels, people) >= MAX_WRITES)
      return [...lanes(half), ...lanes(channels - half)];
    const steps = channels > 1 ? 1 : Math.ceil(people / PEOPLE_IN_ONE);
    return Array<number>(steps).fill(Math.min(2 * channels + 1, MAX_NUMBERS));
  };
  return lanes(Math.max(1, wanted.length)).slice(0, MAX_AT_ONCE);
}

/** About as many writes as it takes to subscribe people to channels. */
const writesFor = (channels: number, people: number): number => channels * (3 * people + 2) + people + 2;

const channelNames = ({ wanted }: AskedSubscriptions): string[] => wanted.map(({ name }) => name);

/** Reads what the request is decided on, and what the descriptions refer to. One round trip. */
export async function loadSubscriptions(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  asked: AskedSubscriptions,
): Promise<{ readonly snapshot: SubscribeSnapshot; readonly named: LoadedReferences }> {
  const ids = knownChannelIds(channelNames(asked), resolved);
  const people = principalIds(asked.principals, resolved, userId);
  const [snapshot, named] = await Promise.all([
    loadSubscribeSnapshot(outside.table, resolved.realm, userId, ids, people, asked.settings),
    loadNamed(outside, resolved, asked.names, userId),
  ]);
  return { snapshot, named };
}

/** Reads anew what the request is decided on: somebody else created or changed a channel. Two round trips. */
export async function reloadSubscriptions(
  { table }: Outside,
  resolved: Resolved,
  userId: number,
  asked: AskedSubscriptions,
): Promise<SubscribeSnapshot> {
  const { realm } = resolved;
  const ids = await loadChannelIds(table, realm, channelNames(asked));
  const people = principalIds(asked.principals, resolved, userId);
  return loadSubscribeSnapshot(table, realm, userId, ids, people, asked.settings);
}
