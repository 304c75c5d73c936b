import { carryOut } from '../../log/carry-out.ts';
import { key } from '../../table/keys.ts';
import { isRefused } from '../../table/outcome.ts';
import type { Write } from '../../table/write.ts';
import { isActiveDevice, loadDevices } from './device.ts';
import { type Follower, loadFollower } from './follower.ts';
import type { PushWorld } from './push-world.ts';

/**
 * Somebody comes to have a device: from this number on the log is followed for them, and everybody who changes it
 * wakes the worker.
 */
export const subscribePush = (realm: string, userId: number, seq: number): Write[] => [
  {
    update: key('pushFollower', { realm }),
    change: { setOnce: { cursor: seq }, add: { holders: new Set([userId]), version: 1 } },
  },
  { update: key('realm', { realm }), change: { set: { hasPushDevices: true } }, when: { absent: false } },
];

/**
 * Takes people out who have no device any more, and with the last one the follower itself: then sends cost nothing
 * again. Nothing rests on it that it happens soon; where somebody comes to have a device meanwhile it does nothing.
 */
export async function dropHolders(world: PushWorld, userIds: readonly number[]): Promise<void> {
  const { outside, realm } = world;
  const { table } = outside;
  const follower = await loadFollower(table, realm);
  if (follower === undefined) return;
  const devices = await Promise.all(userIds.map((userId) => loadDevices(table, realm, userId)));
  const gone = userIds.filter(
    (userId, i) => follower.holders?.has(userId) && !devices[i]?.some(isActiveDevice),
  );
  if (gone.length === 0) return;
  const left = await without(world, follower, gone);
  if (left === undefined || left.holders !== undefined) return;
  await carryOut(outside, [
    {
      delete: key('pushFollower', { realm }),
      when: { equals: { version: left.version, holders: undefined } },
    },
    { update: key('realm', { realm }), change: { remove: ['hasPushDevices'] }, when: { absent: false } },
  ]);
}

/** The follower without these people, or undefined where somebody changed it meanwhile. */
async function without(
  { outside, realm }: PushWorld,
  { version }: Follower,
  gone: readonly number[],
): Promise<Follower | undefined> {
  const change = { take: { holders: new Set(gone) }, add: { version: 1 } };
  try {
    return await outside.table.update(key('pushFollower', { realm }), change, { equals: { version } });
  } catch (error) {
    if (!isRefused(error)) throw error;
    return undefined;
  }
}
