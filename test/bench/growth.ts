import { systemGroups } from '../../shared/model/permission/permission.ts';
import { newRealm } from '../support/realm.ts';
import { avoidMidnight } from '../support/same-day.ts';
import { benchClock } from './bench-clock.ts';
import { type CountRow, countOperation } from './counts.ts';
import { type CrowdName, crowds } from './crowd.ts';
import { operationNamed } from './operations.ts';

/** How much there is of something when it is counted what operations take. */
const SIZES = [10, 1_000, 10_000];

/** The same of what has a limit: a little more than is made meanwhile stays free. */
const LIMITED_SIZES: Partial<Readonly<Record<CrowdName, readonly number[]>>> = {
  channels: [10, 500, 2_000],
  reactions: [10, 500, 1_990],
};

export interface GrowthRow extends CountRow {
  readonly of: CrowdName;
  readonly size: number;
}

/** What one could think grows with each of them: what everybody does all the time, and what lists them. */
const watched: Readonly<Record<CrowdName, readonly string[]>> = {
  subscribers: [
    'messages.send:channel',
    'messages.send:wildcard mention',
    'events.get:a message is there',
    'messages.list:newest of a channel',
    'channels.get',
    'channels.update',
    'subscriptions.list',
    'subscriptions.list:with subscribers',
    'channels.listMembers',
    'events.register:everything',
  ],
  members: [
    'messages.send:channel',
    'messages.send:direct',
    'messages.send:with a mention',
    'events.get:a message is there',
    'presence.update',
    'users.get',
    'users.create',
    'users.update',
    'users.deactivate',
    'subscriptions.add:a new channel',
    'users.list',
    'events.register:messages only',
    'events.register:everything',
  ],
  'people online': ['presence.update', 'messages.send:channel', 'presence.list'],
  channels: [
    'messages.send:channel',
    'events.get:a message is there',
    'messages.list:newest of a channel',
    'messages.list:newest of all',
    'subscriptions.add:a new channel',
    'subscriptions.list',
    'channels.list',
    'channels.update',
    'users.deactivate',
    'events.register:messages only',
    'events.register:everything',
  ],
  reactions: [
    'reactions.add:to a busy message',
    'messages.get:a busy message',
    'messages.list:a busy message',
  ],
  emoji: [
    'messages.send:with a mention',
    'reactions.add',
    'emoji.add',
    'emoji.list',
    'events.register:everything',
  ],
  queues: [
    'messages.send:channel',
    'events.register:messages only',
    'events.get:a message is there',
    'events.get:nothing is there',
    'events.delete',
  ],
  'nested groups': [
    'users.getOwn',
    'messages.send:channel',
    'events.get:a message is there',
    'userGroups.create',
    'userGroups.updateMembers',
    'userGroups.isMember',
    'userGroups.list',
    'events.register:everything',
  ],
  'unread messages': [
    'messages.send:channel',
    'messages.list:first unread',
    'messages.updateFlags:read 1',
    'events.register:messages only',
    'events.register:everything',
  ],
  messages: [
    'messages.send:channel',
    'messages.send:direct',
    'messages.list:newest of a channel',
    'messages.list:newest of a topic',
    'messages.list:newest of all',
    'messages.list:first unread',
    'messages.get',
    'messages.updateFlags:read 1',
    'messages.update:content',
    'messages.delete',
    'topics.list',
    'events.get:a message is there',
    'events.register:everything',
  ],
};

/** Counts what could grow with one thing, in an organization that has so much of it. */
export async function countAmong(
  of: CrowdName,
  size: number,
  names: readonly string[] = watched[of],
): Promise<readonly GrowthRow[]> {
  const made = await newRealm({ can_mention_many_users_group: systemGroups.everyone.id });

  avoidMidnight(made);
  const { pass, ...clock } = benchClock(made.outside.now());
  const newContainer = () => made.container(undefined, clock);
  const bench = { realm: { ...newContainer(), pass }, people: { ...made.people }, pass };
  await crowds[of](bench.realm, size);
  const rows: GrowthRow[] = [];
  for (const name of names) {
    rows.push({ of, size, ...(await countOperation(bench, operationNamed(name), newContainer)) });
  }
  return rows;
}

/** Counts what could grow with each thing (or only with `wanted`), at each size (or only at `sizes`). */
export async function measureGrowth(
  wanted: readonly string[] = Object.keys(crowds),
  sizes?: readonly number[],
): Promise<readonly GrowthRow[]> {
  const unknown = wanted.find((name) => !Object.hasOwn(crowds, name));
  if (unknown !== undefined) throw new Error(`'${unknown}' is none of ${Object.keys(crowds).join(', ')}.`);
  const rows: GrowthRow[] = [];
  for (const of of wanted as CrowdName[]) {
    for (const size of sizes ?? LIMITED_SIZES[of] ?? SIZES) rows.push(...(await countAmong(of, size)));
  }
  return rows;
}

export type Verdict = 'the same' | 'levels off' | 'with the reply' | 'grows';

/** Bytes of items that one read unit is for. */
const READ_UNIT = 4_096;

/** Bytes of items that may be read for each byte of the reply, which may have only the id of a user whose item is read. */
const READ_FOR_TOLD = 8;

/**
 * What becomes of an operation from the smallest size to the largest: the same round trips and units; no more from the
 * second size on; more units, as the reply tells more; or more, whatever it tells.
 */
export function verdictOf(rows: readonly GrowthRow[]): Verdict {
  const [least, most, before] = [rows[0], rows.at(-1), rows.at(-2)];
  if (!least || !most || !before) throw new Error('nothing was counted');
  const units = ({ warm }: GrowthRow): number => warm.readUnits + warm.writeUnits;
  const isNoMore = (than: GrowthRow): boolean =>
    units(most) <= units(than) && most.warm.roundTrips <= than.warm.roundTrips;
  if (isNoMore(least)) return 'the same';
  if (rows.length > 2 && isNoMore(before)) return 'levels off';
  const read = (units(most) - units(least)) * READ_UNIT;
  return read > 0 && read <= (most.warm.toldBytes - least.warm.toldBytes) * READ_FOR_TOLD
    ? 'with the reply'
    : 'grows';
}
