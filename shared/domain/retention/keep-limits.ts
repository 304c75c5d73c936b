import { traceOf } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { type Log, uncountMessages } from '../../log/log.ts';
import { rememberedFirst } from '../../model/channel/first-message.ts';
import {
  dueAt,
  limitOfOrganization,
  loadRetentionList,
  type RetentionEntry,
  recordProgress,
} from '../../model/channel/retention.ts';
import { loadMessages, MAX_MESSAGES_AT_ONCE } from '../../model/message/load.ts';
import { runPool } from '../../pool.ts';
import { expireDirect, expireInChannel, type Visit } from './walk.ts';

/** Organizations that are visited at once. */
const WIDTH = 8;
/** How long (ms) an organization is visited before it is another one's turn. */
const TURN = 60_000;
/** What is left (ms) of a run's time when it begins nothing new: a step and its commit end within it. */
const MARGIN = 30_000;
/** Something is looked at once a day even if nothing in it is due, since older messages may have been moved there. */
const DAY = 86_400_000;

/** An organization, and what of it must be looked at. */
interface Turn {
  readonly realm: string;
  readonly limited: readonly RetentionEntry[];
}

/** What a run has done. */
interface Tally {
  removed: number;
  readonly failures: unknown[];
}

/**
 * Removes the messages that have had the days of their channel or organization (specification 4.2), from what is on
 * the list of limits and due, and notes when it will be due again. Nothing else is read: what keeps everything costs
 * nothing, what has nothing due an item of one query.
 *
 * Each step is one transaction that is whole by itself and leaves the list right, so a run may be ended at any moment,
 * and others may be at it at the same time. What does not get done until `deadline` (ms) waits for the next run.
 *
 * Throws when something could not be done at all, after everything else was.
 */
export async function enforceRetention(outside: Outside, deadline: number): Promise<void> {
  const ends = deadline - MARGIN;
  const tally: Tally = { removed: 0, failures: [] };
  let waiting = turnsOf(await loadRetentionList(outside.table), outside.now());
  do {
    const unfinished: Turn[] = [];
    const faults = await runPool(waiting, WIDTH, async (turn) => {
      const limited = await takeTurn(outside, turn, Math.min(ends, outside.now() + TURN), tally);
      if (limited.length > 0) unfinished.push({ ...turn, limited });
    });
    tally.failures.push(...faults);
    waiting = unfinished;
  } while (waiting.length > 0 && outside.now() < ends);
  if (tally.removed > 0 || waiting.length > 0) {
    outside.report({
      level: 'INFO',
      message: 'expired messages removed',
      worker: 'retention',
      removed: tally.removed,
      unfinished: waiting.length,
    });
  }
  if (tally.failures.length > 0) throw new AggregateError(tally.failures, 'some limits could not be kept');
}

/** What is due, by organization, the one that waits longest first. */
function turnsOf(limited: readonly RetentionEntry[], now: number): Turn[] {
  const due = limited.filter((one) => one.due <= now).sort((a, b) => a.due - b.due);
  return [...Map.groupBy(due, ({ realm }) => realm)].map(([realm, of]) => ({ realm, limited: of }));
}

/** Visits what is due of an organization, one after the other; returns what is unfinished when the turn ends. */
async function takeTurn(
  outside: Outside,
  turn: Turn,
  ends: number,
  tally: Tally,
): Promise<readonly RetentionEntry[]> {
  const { realm } = turn;
  const { table, now, wait } = outside;
  const log: Log = { table, realm, now, wait };
  for (const [i, limited] of turn.limited.entries()) {
    let removed = 0;
    const onRemoved = (count: number): void => {
      tally.removed += count;
      removed += count;
    };
    try {
      const next = await visitOne({ outside, log, ends, onRemoved }, limited);
      if (removed > 0) await uncountMessages(log, removed);
      if (next === undefined) return turn.limited.slice(i);
      await recordProgress(table, limited, { due: Math.min(next, now() + DAY) });
    } catch (error) {
      const { channelId } = limited;
      outside.report({
        level: 'ERROR',
        message: 'expired messages not removed',
        worker: 'retention',
        realm,
        channelId,
        error: traceOf(error),
      });
      tally.failures.push(error);
    }
  }
  return [];
}

/** Returns when (ms) something is due again; undefined where the visit ended first. */
const visitOne = (visit: Visit, limited: RetentionEntry): Promise<number | undefined> =>
  limited.channelId === undefined
    ? visitOrganization(visit, limited)
    : expireInChannel(visit, limited.channelId);

async function visitOrganization(visit: Visit, limited: RetentionEntry): Promise<number | undefined> {
  const { table } = visit.outside;
  const direct = await expireDirect(visit, (limited.gone ?? 0) + 1, (gone) =>
    recordProgress(table, limited, { gone }),
  );
  return direct === undefined ? undefined : expireInChannels(visit, direct);
}

/** Removes what is due in the channels that follow their organization. `soonest` is when something else is due. */
async function expireInChannels(visit: Visit, soonest: number): Promise<number | undefined> {
  const { outside, log } = visit;
  const { table, now } = outside;
  const { realm } = log;
  const [organization, channels, counts] = await Promise.all([
    table.get('realm', { realm }),
    table.all('channel', { realm }, { eventually: true }),
    table.all('channelCount', { realm }, { eventually: true }),
  ]);
  const limit = limitOfOrganization(realm, organization);
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const following = new Set(
    channels
      .filter((channel) => channel.messageRetentionDays === undefined)
      .map(({ channelId }) => channelId),
  );
  const oldest = counts
    .filter(({ channelId }) => following.has(channelId))
    .flatMap((count) => {
      const first = rememberedFirst(count);
      return first === null ? [] : [{ channelId: count.channelId, first }];
    });
  let next = soonest;
  for (let start = 0; start < oldest.length; start += MAX_MESSAGES_AT_ONCE) {
    const some = oldest.slice(start, start + MAX_MESSAGES_AT_ONCE);
    const messages = await loadMessages(
      table,
      realm,
      some.flatMap(({ first }) => first ?? []),
    );
    const times = new Map(messages.map(({ id, timestamp }) => [id, dueAt(timestamp, limit)]));
    for (const { channelId, first } of some) {
      // Where it is forgotten, or went meanwhile, it is looked up anew.
      const due = (first && times.get(first)) ?? 0;
      const after = due > now() ? due : await expireInChannel(visit, channelId);
      if (after === undefined) return undefined;
      next = Math.min(next, after);
    }
  }
  return next;
}
