import type { Outside } from '../../kernel/outside.ts';
import { commitAndCheckpoint } from '../../log/checkpoint.ts';
import { MAX_WRITES } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import type { MessageSlot } from '../../log/slot.ts';
import type { RetentionLimit } from '../../model/channel/retention.ts';
import { MAX_PARTICIPANTS } from '../../model/message/leave.ts';
import { loadLeft, loadRemoved, MAX_EDITS, makeRoom, planRemoval } from '../edit/removal.ts';

/** Messages of one conversation that one transaction removes. */
export type Step = readonly [MessageSlot, ...MessageSlot[]];

/**
 * Writes of a step besides those of its messages, at most: its slot of the log, the checks of the limit, a job for the
 * outbox, and either a topic that vanishes with people who took part in it and the counts of its channel, or a direct
 * conversation that vanishes with its people, of whom there are at most 80.
 */
const BESIDES = { topic: 1 + 2 + 1 + 1 + MAX_PARTICIPANTS + 1, direct: 1 + 1 + 1 + 1 + 80 };

/** Writes that a message takes at most: its tombstone, its reactions, and what is kept of its earlier versions. */
const writesOf = ({ history = [] }: MessageSlot): number => 2 + Math.min(history.length, MAX_EDITS);

/** Splits messages, oldest first, into steps of one conversation that fit into one transaction. */
export function stepsOf(messages: readonly MessageSlot[]): Step[] {
  const steps: Step[] = [];
  for (const together of Map.groupBy(messages, ({ conversation }) => conversation).values()) {
    let step: [MessageSlot, ...MessageSlot[]] | undefined;
    let room = 0;
    for (const message of together) {
      room -= writesOf(message);
      if (step !== undefined && room >= 0) {
        step.push(message);
        continue;
      }
      room = MAX_WRITES - BESIDES[message.channelId === undefined ? 'direct' : 'topic'] - writesOf(message);
      step = [message];
      steps.push(step);
    }
  }
  return steps;
}

/**
 * Removes the messages of a step in one transaction, which checks that their limit has not changed. Throws
 * `ConflictError` if that, a message or the conversation has changed; then nothing is removed.
 */
export async function expire(
  outside: Outside,
  log: Log,
  step: Step,
  { snapshot }: RetentionLimit,
): Promise<void> {
  const { table, uuid, now } = outside;
  const { realm } = log;
  const [left, removed] = await Promise.all([
    loadLeft(outside, realm, step),
    Promise.all(step.map((message) => loadRemoved(table, realm, message))),
  ]);
  const fitting = await makeRoom({ table, realm, uuid, snapshot }, removed, left);
  const { count, plan } = planRemoval(realm, fitting.removed, fitting.left, now(), snapshot);
  await commitAndCheckpoint(log, outside.report, count, plan);
}
