import { traceOf } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { chunksOf } from '../../lists.ts';
import { logOf, uncountMessages } from '../../log/log.ts';
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

/** Organizations processed in parallel. */
const CONCURRENCY = 8;
/** How long an organization is processed before the next one's turn. */
const TURN_MS = 60_000;
/** A run starts nothing new this long before its deadline: a step and its commit end within it. */
const MARGIN_MS = 30_000;
/** Each limit is checked once a day even if nothing is due, since older messages may have moved there. */
const RECHECK_MS = 86_400_000;

/** An organization, and its limits that are due. */
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
 * Removes messages that are older than the limit of their channel or organization (specification 4.2). Processes the
 * limits that are due, and stores when each is due again. Channels without a limit cost nothing; a limit that is not
 * due costs one item of a query.
 *
 * Each step is one complete transaction, so a run may end at any moment, and several may run at once. What is not done
 * by `deadline` (ms) waits for the next run.
 *
 * Throws `AggregateError` after everything else is done, if some limits failed.
 */
export async function enforceRetention(outside: Outside, deadline: number): Promise<void> {
  const ends = deadline - MARGIN_MS;
  const tally: Tally = { removed: 0, failures: [] };
  let waiting = turnsOf(await loadRetentionList(outside.table), outside.now());
  do {
    const unfinished: Turn[] = [];
    const faults = await runPool(waiting, CONCURRENCY, async (turn) => {
      const limited = await takeTurn(outside, turn, Math.min(ends, outside.now() + TURN_MS), tally);
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

/** The limits that are due, by organization, the oldest first. */
function turnsOf(limited: readonly RetentionEntry[], now: number): Turn[] {
  const due = limited.filter((one) => one.due <= now).sort((a, b) => a.due - b.due);
  return [...Map.groupBy(due, ({ realm }) => realm)].map(([realm, of]) => ({ realm, limited: of }));
}

/** Processes the due limits of an organization one by one. Returns those unfinished when the turn ends. */
async function takeTurn(
  outside: Outside,
  turn: Turn,
  ends: number,
  tally: Tally,
): Promise<readonly RetentionEntry[]> {
  const { realm } = turn;
  const log = logOf(outside, realm);
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
      await recordProgress(outside.table, limited, { due: Math.min(next, outside.now() + RECHECK_MS) });
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

/** Returns when (ms) the limit is due again; undefined if the time ran out. */
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

/** Removes what is due in channels without a limit of their own. `soonest`: when other messages are due. */
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
  for (const some of chunksOf(oldest, MAX_MESSAGES_AT_ONCE)) {
    const messages = await loadMessages(
      table,
      realm,
      some.flatMap(({ first }) => first ?? []),
    );
    const times = new Map(messages.map(({ id, timestamp }) => [id, dueAt(timestamp, limit)]));
    for (const { channelId, first } of some) {
      // If the oldest message is not stored, or is gone, search the channel.
      const due = (first && times.get(first)) ?? 0;
      const after = due > now() ? due : await expireInChannel(visit, channelId);
      if (after === undefined) return undefined;
      next = Math.min(next, after);
    }
  }
  return next;
}
