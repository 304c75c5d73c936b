import { type Change, Stale } from '../../log/commit.ts';
import type { EventEntry, MessageSlot } from '../../log/slot.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import type { Caller } from '../caller.ts';
import { mayReadMessage, type Seen } from '../channel/channel-access.ts';
import { inConversation, readMessages, recentMessages } from '../fetch/message-reach.ts';
import { doLeave, type Job } from '../outbox/outbox.ts';
import type { Outside } from '../outside.ts';
import { badRequest } from '../problems.ts';
import { thinOut } from '../topic/topic-leave.ts';
import { leavesPeople } from './move-people.ts';
import { loadStep, type Move, oneStep, planStep, STEP } from './move-step.ts';
import { lowestOf } from './move-together.ts';
import type { PeopleTask } from './moved-people.ts';

/** How long (ms) one request moves messages and what goes with them: its function may run for 28 s. */
export const LONGEST = 20_000;

/** How often a step is tried when its messages or topics change meanwhile. */
const TRIES = 8;

/** What a move of several messages needs. */
export interface Moving {
  readonly outside: Outside;
  readonly caller: Caller;
  readonly commit: (
    count: number,
    plan: (numbers: readonly number[]) => Change<undefined>,
  ) => Promise<undefined>;
  readonly seen: Seen;
  readonly move: Move;
  /** When to stop, ms. */
  readonly ends: number;
  /** Gets the jobs that are left to the worker of the outbox. */
  readonly left: Job[];
  readonly event: (messages: readonly MessageSlot[]) => EventEntry;
}

/**
 * Moves the messages of a topic that go with `main`, but not that one itself: it goes last, so that a request that
 * broke off in between is repeated as it was and goes on where it ended. Each step is one transaction with one
 * event, so whatever was moved is told. Moves only what the caller may read. Returns how many were moved.
 */
export async function moveOthers(moving: Moving, main: MessageSlot): Promise<number> {
  const { outside, caller, move, ends } = moving;
  const { table } = outside;
  const { realmId: realm } = caller;
  const { conversation, channelId } = main;
  const place = { conversation, ...(channelId !== undefined && { channelId }) };
  const reach = inConversation(table, realm, place);
  const lowest = lowestOf(move.mode, main);
  let moved = 0;
  for (let from: number | undefined = lowest; from !== undefined; ) {
    if (outside.now() > ends) throw unfinished(moved);
    const { heads, until } = await reach({ from, to: LARGEST_NUMBER, side: 'newer', limit: STEP });
    moved += await moveThese(
      moving,
      main,
      heads.map(({ id }) => id),
    );
    from = until === undefined ? undefined : until + 1;
  }
  // What the index does not show yet.
  const recent = (await recentMessages(table, realm)).filter(
    (message) => message.conversation === conversation && message.id >= lowest,
  );
  return (
    moved +
    (await moveThese(
      moving,
      main,
      recent.map(({ id }) => id),
    ))
  );
}

const unfinished = (moved: number) =>
  badRequest(`${moved} messages were moved, and more are left; send the same request again.`);

/** Moves those of these messages that are still in the topic, in as many steps as they need. */
async function moveThese(moving: Moving, main: MessageSlot, ids: readonly number[]): Promise<number> {
  let moved = 0;
  let tries = 0;
  for (let open = ids.filter((id) => id !== main.id); open.length > 0; ) {
    const messages = await stillHere(moving, main, open);
    const step = oneStep(messages);
    const last = step.at(-1)?.id;
    if (last === undefined) break;
    try {
      await moveStep(moving, step);
      moved += step.length;
      tries = 0;
      open = open.filter((id) => id > last);
    } catch (error) {
      // Somebody wrote to one of the topics, or changed one of the messages: look again.
      if (!(error instanceof Stale) || ++tries === TRIES) throw error;
      await moving.outside.wait(Math.random() * 10 * 2 ** tries);
    }
  }
  return moved;
}

/** Those of the messages that are in the topic and that the caller may read, in rising order. */
async function stillHere(
  { outside: { table }, caller, seen, move: { to } }: Moving,
  { conversation }: MessageSlot,
  ids: readonly number[],
): Promise<MessageSlot[]> {
  const messages = await readMessages(table, caller.realmId, ids);
  return (
    messages
      .filter((message) => message.conversation === conversation)
      // Where only the spelling changes, a message that has it stays in its conversation.
      .filter(({ channelId, topic }) => channelId !== to.channelId || topic !== to.topic)
      .filter(({ id }) => mayReadMessage(caller.standing, seen, id))
      .sort((a, b) => a.id - b.id)
  );
}

async function moveStep(
  { outside, caller, commit, move, left: jobs, event }: Moving,
  step: readonly MessageSlot[],
): Promise<void> {
  const { realmId: realm } = caller;
  const ground = await loadStep(outside.table, realm, move, step);
  const leaving = { ...move.from, ids: step.map(({ id }) => id) };
  const left = await thinOut(outside.table, realm, leaving, ground.left, outside.uuid);
  const now = outside.now();
  const people: PeopleTask = { ids: leaving.ids };
  const tasks = leavesPeople(step) ? [{ realm, kind: 'people' as const, job: outside.uuid() }] : [];
  const { count, plan } = planStep(realm, move, {
    messages: step,
    ground: { ...ground, left },
    event: event(step),
    now,
    left: (number) => tasks.map((job) => doLeave(job, number, people, now)),
  });
  await commit(count, plan);
  jobs.push(...tasks);
}
