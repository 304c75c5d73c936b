import { defaultMemory } from '../../infra/endpoint-function.ts';
import { tracedShare } from '../../infra/tracing.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { getEvents } from '../../shared/endpoints/events.ts';
import { HELD, running } from './activity.ts';
import type { Count, CountRow } from './counts.ts';
import type { GrowthRow } from './growth.ts';
import { costOf, type PriceName, prices } from './prices.ts';

/** What was counted, from which costs follow. */
export interface Counted {
  readonly counts: readonly CountRow[];
  readonly growth: readonly GrowthRow[];
}

/** The operations from which costs are computed. */
export const COSTED = {
  toChannel: 'messages.send:channel with local_id',
  toPeople: 'messages.send:direct',
  fetch: 'messages.list:newest of a topic',
  markRead: 'messages.updateFlags:read 20',
  register: 'events.register:everything',
  ping: 'presence.update',
  firstPing: 'presence.update:once in five minutes',
  react: 'reactions.add',
  edit: 'messages.update:content',
  hear: 'events.get:a message is there',
  overhear: 'events.get:a message is there for others',
  poll: 'events.get:nothing is there',
  hold: 'events.get:held to the end',
} as const;

/** What a warm call of an operation takes. */
export function warmOf({ counts }: Pick<Counted, 'counts'>, name: string): Count {
  const row = counts.find(({ operation }) => operation === name);
  if (!row) throw new Error(`'${name}' was not counted`);
  return row.warm;
}

export const GB = 1_000_000_000;
export const LAMBDA_GB = 1_024;

/** Megabytes of the function of an endpoint. */
const memoryOf = (endpoint: string): number =>
  endpoints.find(({ id }) => id === endpoint)?.memory ?? defaultMemory;

/** What every request of a kind costs, whatever it does: the edge, the gateway, Lambda, its log and its traces. */
export const requestCost = (kind: keyof typeof tracedShare): number =>
  costOf('edgeRequest', 1) +
  costOf('edgeFunction', 1) +
  costOf('gatewayRequest', 1) +
  costOf('lambdaRequest', 1) +
  costOf('log', running.logged / GB) +
  costOf('trace', tracedShare[kind]);

/**
 * What every poll costs that a Web Function holds, whatever it does: the edge and Lambda. The gateway is not on its way, and
 * neither a line of a log nor a trace is written for it.
 *
 * @param factor what the assumed price is multiplied with
 */
export const pollRequestCost = (factor = 1): number =>
  costOf('edgeRequest', 1) + costOf('edgeFunction', 1) + factor * costOf('webRequest', 1);

/** What the units of a call cost. */
export const unitCost = ({ readUnits, writeUnits }: Pick<Count, 'readUnits' | 'writeUnits'>): number =>
  costOf('readUnit', readUnits) + costOf('writeUnit', writeUnits);

/** What so many milliseconds of a function with so much memory (MB) cost. */
export const timeCost = (ms: number, memory: number): number =>
  costOf('lambdaTime', (ms / 1_000) * (memory / LAMBDA_GB));

/** What one call costs in all, in dollars; one that is held lasts that long besides. */
export function callCost({ operation, endpoint, warm }: CountRow): number {
  const isHeld = operation === COSTED.hold;
  const ms = isHeld ? HELD * 1_000 : running.base + running.roundTrip * warm.roundTrips;
  const time = timeCost(ms + running.coldStart / running.coldOneIn, memoryOf(endpoint));
  const others = costOf('queueRequest', warm.others.SQS ?? 0) + costOf('objectPut', warm.others.S3 ?? 0);
  const told = costOf('transfer', (warm.replyBytes + running.headers) / GB);
  return (
    requestCost(endpoint === getEvents.id ? 'polls' : 'requests') + unitCost(warm) + time + others + told
  );
}

/** One line of what a person costs a month. */
export interface Line {
  readonly item: string;
  /** How it comes about, in figures. */
  readonly arithmetic: string;
  readonly dollars: number;
}

/** A figure in an arithmetic. */
export const shown = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : 0 });

/** A price as the price list has it. */
export const rate = (name: PriceName): string => `$${prices[name].dollars}`;

/** How many read units more a call takes for each one more of something, between the two largest sizes counted. */
export function slopeOf({ growth }: Pick<Counted, 'growth'>, of: GrowthRow['of'], operation: string): number {
  const rows = growth.filter((row) => row.of === of && row.operation === operation);
  const [less, more] = rows.slice(-2);
  if (!less || !more) throw new Error(`'${operation}' was not counted among ${of}`);
  return Math.max(0, (more.warm.readUnits - less.warm.readUnits) / (more.size - less.size));
}
