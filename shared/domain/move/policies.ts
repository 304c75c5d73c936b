import { chunksOf } from '../../lists.ts';
import { commit, retryOnConflict } from '../../log/commit.ts';
import { hasContentAccess } from '../../model/channel/access.ts';
import type { Channel } from '../../model/channel/channel.ts';
import {
  doMovePolicies,
  hasEffect,
  loadTopicPolicies,
  type PoliciesTask,
  type PolicyChange,
  policyChange,
  type UserTopic,
  userTopicKey,
  visibility,
} from '../../model/message/user-topic.ts';
import { standingOf } from '../../model/permission/permission.ts';
import { directGroups } from '../../model/user/caller.ts';
import type { Left, OutboxRun } from '../outbox/outbox.ts';

declare module '../outbox/outbox.ts' {
  interface Tasks {
    policies: PoliciesTask;
  }
}

/** Users per transaction: each takes four writes. */
const STEP = 22;

/**
 * Moves the users' policies of a topic to where it moved. Users who cannot read the target channel only lose theirs.
 *
 * A policy that was set after the move stays. This also makes the job idempotent: what it wrote counts as set later.
 */
export async function followPolicies(world: OutboxRun, task: PoliciesTask & Left): Promise<void> {
  const { outside, realmId: realm } = world;
  const { table } = outside;
  const { from, to } = task;
  const [channel, old, there] = await Promise.all([
    table.get('channel', { realm, channelId: to.channelId }),
    loadTopicPolicies(table, realm, from),
    loadTopicPolicies(table, realm, to),
  ]);
  if (channel === undefined) return;
  const people = [...new Set([...old, ...there].map(({ userId }) => userId))];
  for (const some of chunksOf(people, STEP)) {
    // A user may set a policy concurrently, or another run may be faster.
    await retryOnConflict(outside, () => followSome(world, task, channel, some));
  }
}

async function followSome(
  world: OutboxRun,
  task: PoliciesTask & Left,
  channel: Channel,
  people: readonly number[],
): Promise<void> {
  const { outside, log, realmId: realm } = world;
  const { from, to, merges, part: moved } = task;
  const decided = await Promise.all(
    people.map(async (userId): Promise<PolicyChange[]> => {
      const [old, there, mayRead] = await Promise.all([
        outside.table.get(userTopicKey(realm, from, userId)),
        outside.table.get(userTopicKey(realm, to, userId)),
        from.channelId === to.channelId || mayReadIn(world, channel, userId),
      ]);
      // A policy set for the old name since then is for its present messages.
      if (isSince(old, moved)) return [];
      const before = there?.policy ?? visibility.inherit;
      const change = policyChange(userId, old?.policy ?? visibility.inherit, before, merges);
      const goes = mayRead && !isSince(there, moved);
      return [goes ? change : { ...change, to: { before, after: before } }];
    }),
  );
  const changes = decided.flat().filter(hasEffect);
  if (changes.length === 0) return;
  const change = doMovePolicies(realm, task, changes, Math.floor(outside.now() / 1000), moved);
  await commit(log, change.entries.length, () => ({ ...change, result: undefined }));
}

/** Whether a policy was set with the move or after it. */
const isSince = (stored: UserTopic | undefined, moved: number): boolean =>
  (stored?.asOf ?? stored?.changed ?? 0) >= moved;

/** Whether a user may read the target channel. */
async function mayReadIn(
  { outside, realmId: realm, realm: { settings }, graph }: OutboxRun,
  channel: Channel,
  userId: number,
): Promise<boolean> {
  const { channelId } = channel;
  const [user, subscription, groups] = await Promise.all([
    outside.table.get('user', { realm, userId }),
    outside.table.get('subscription', { realm, userId, channelId }),
    channel.isPrivate ? directGroups(outside, realm, userId) : [],
  ]);
  if (user === undefined) return false;
  const standing = standingOf(user, groups, graph, settings.waiting_period_threshold, outside.now());
  return hasContentAccess(standing, { channel, subscription });
}
