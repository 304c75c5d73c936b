import { folded } from '../../kernel/folding.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { MAX_AT_ONCE } from '../../log/bulk.ts';
import { checkChannelName } from '../../model/channel/channel.ts';
import { directGroups } from '../../model/user/caller.ts';
import { type Principals, principalIds, principalLookupKeys } from '../../model/user/principals.ts';
import { checkPairs } from './subscribe-check.ts';
import { knownChannelIds, loadChannelIds, loadSnapshot, type Snapshot } from './subscription-snapshot.ts';

/** Subscriptions that somebody asks to end: the channels, each named once, and the people. */
export interface AskedRemovals {
  readonly names: readonly string[];
  readonly principals: Principals | undefined;
}

/** Interprets the parameters. Throws `BAD_REQUEST` for what cannot be a name, and for too many subscriptions at once. */
export function parseRemovals({
  subscriptions,
  principals,
}: {
  readonly subscriptions: readonly string[];
  readonly principals?: Principals | undefined;
}): AskedRemovals {
  const byFolded = new Map(subscriptions.map(checkChannelName).map((name) => [folded(name), name]));
  checkPairs(byFolded.size, principals?.length ?? 1);
  return { names: [...byFolded.values()], principals };
}

/** The channels and the people. */
export const removalLookupKeys = ({ names, principals }: AskedRemovals): LookupKey[] => [
  ...names.map((name): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
  ...principalLookupKeys(principals),
];

/** How many people one transaction takes out of a channel. */
const PEOPLE_IN_ONE = 32;

/** More numbers than one transaction of this kind usually has events. */
const MAX_NUMBERS = 26;

/**
 * What the subscriber hears, what their clients forget, and for each channel the news for the others; for each of the
 * first transactions, where people leave one channel.
 */
export function numbersOfRemovals({ names, principals }: AskedRemovals): number[] {
  const steps = names.length > 1 ? 1 : Math.ceil((principals?.length ?? 1) / PEOPLE_IN_ONE);
  const numbers = Math.min(names.length + 2, MAX_NUMBERS);
  return Array<number>(Math.max(1, Math.min(steps, MAX_AT_ONCE))).fill(numbers);
}

/** What a request to end subscriptions reads. */
export interface RemovalsSnapshot {
  readonly snapshot: Snapshot;
  /** Person -> named groups, which tell who loses sight of a channel. */
  readonly groups: ReadonlyMap<number, readonly number[]>;
}

/** Reads it, in one round trip. */
export async function loadRemovals(
  outside: Outside,
  resolved: Resolved,
  userId: number,
  { names, principals }: AskedRemovals,
): Promise<RemovalsSnapshot> {
  const { realm } = resolved;
  const people = principalIds(principals, resolved, userId);
  const others = people.filter((id) => id !== userId);
  const [snapshot, groups] = await Promise.all([
    loadSnapshot(outside.table, realm, userId, knownChannelIds(names, resolved), people),
    Promise.all(others.map((id) => directGroups(outside, realm, id))),
  ]);
  return { snapshot, groups: new Map(others.map((id, i) => [id, groups[i] ?? []])) };
}

/** Reads the snapshot anew: somebody else changed it. Two round trips. */
export async function reloadRemovals(
  { table }: Outside,
  resolved: Resolved,
  userId: number,
  { names, principals }: AskedRemovals,
): Promise<Snapshot> {
  const { realm } = resolved;
  const ids = await loadChannelIds(table, realm, names);
  return loadSnapshot(table, realm, userId, ids, principalIds(principals, resolved, userId));
}
