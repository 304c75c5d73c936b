import type { Outside } from '../../kernel/outside.ts';
import type { Commit } from '../../log/bulk.ts';
import { MAX_WRITES } from '../../log/commit.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { MAX_PARTICIPANTS } from '../../model/message/leave.ts';
import type { Write } from '../../table/write.ts';
import { loadLeft, loadRemoved, MAX_EDITS, makeRoom, planRemoval } from './removal.ts';

/** Messages of one conversation that one transaction removes. */
export type RemovalStep = readonly [MessageSlot, ...MessageSlot[]];

/**
 * Milliseconds to wait per removed message. The log of an organization is one partition with 1,000 write units a
 * second. This uses at most a quarter of them, so that users can write at the same time.
 */
export const REMOVAL_PACE = 10;

/**
 * Most writes of a step, not counting its messages: its slot of the log, the checks of the limit, two jobs for the outbox, and
 * either a topic with participants and the counts of its channel, or a direct conversation with at most 80 people.
 */
const FIXED_WRITES = { topic: 1 + 2 + 2 + 1 + MAX_PARTICIPANTS + 1, direct: 1 + 1 + 2 + 1 + 80 };

/** Writes that a message takes at most: its tombstone, its reactions, and what is kept of its earlier versions. */
const writesOf = ({ history = [] }: MessageSlot): number => 2 + Math.min(history.length, MAX_EDITS);

/** Splits messages, in their order, into steps of one conversation that fit into one transaction. */
export function removalSteps(messages: readonly MessageSlot[]): RemovalStep[] {
  const steps: RemovalStep[] = [];
  for (const together of Map.groupBy(messages, ({ conversation }) => conversation).values()) {
    let step: [MessageSlot, ...MessageSlot[]] | undefined;
    let room = 0;
    for (const message of together) {
      room -= writesOf(message);
      if (step !== undefined && room >= 0) {
        step.push(message);
        continue;
      }
      room =
        MAX_WRITES - FIXED_WRITES[message.channelId === undefined ? 'direct' : 'topic'] - writesOf(message);
      step = [message];
      steps.push(step);
    }
  }
  return steps;
}

/**
 * Removes the messages of a step in one transaction, on the conditions of `snapshot`. Two round trips.
 *
 * @throws ConflictError if a condition, a message or the conversation has changed; then nothing is removed
 */
export async function removeTogether(
  outside: Pick<Outside, 'table' | 'now' | 'cache' | 'uuid'>,
  realm: string,
  commit: Commit,
  step: RemovalStep,
  snapshot: readonly Write[] = [],
): Promise<void> {
  const { table, uuid, now } = outside;
  const [left, removed] = await Promise.all([
    loadLeft(outside, realm, step),
    Promise.all(step.map((message) => loadRemoved(table, realm, message))),
  ]);
  const fitting = await makeRoom({ table, realm, uuid, snapshot }, removed, left);
  const { count, plan } = planRemoval(realm, fitting.removed, fitting.left, now(), snapshot);
  await commit(count, plan);
}
