import { defaultMemory } from '../../infra/endpoint-function.ts';
import { tracedShare } from '../../infra/tracing.ts';
import { TURN } from '../../shared/domain/event/poll.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { getEvents } from '../../shared/endpoints/events.ts';
import { activity, HELD, pollMemory, running } from './activity.ts';
import type { Count, CountRow } from './counts.ts';
import type { GrowthRow } from './growth.ts';
import { costOf, type PriceName, prices } from './prices.ts';

/** What was counted, from which costs follow. */
export interface Counted {
  readonly counts: readonly CountRow[];
  readonly growth: readonly GrowthRow[];
}

/** The operations of which the costs are made. */
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

const GB = 1_000_000_000;
const LAMBDA_GB = 1_024;

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

/** What the units of a call cost. */
const unitCost = ({ readUnits, writeUnits }: Pick<Count, 'readUnits' | 'writeUnits'>): number =>
  costOf('readUnit', readUnits) + costOf('writeUnit', writeUnits);

/** What so many milliseconds of a function with so much memory (MB) cost. */
const timeCost = (ms: number, memory: number): number =>
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

const shown = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : 0 });

/** A price as the price list has it. */
const rate = (name: PriceName): string => `$${prices[name].dollars}`;

/** How many read units more a call takes for each one more of something, between the two largest sizes counted. */
export function slopeOf({ growth }: Pick<Counted, 'growth'>, of: GrowthRow['of'], operation: string): number {
  const rows = growth.filter((row) => row.of === of && row.operation === operation);
  const [less, more] = rows.slice(-2);
  if (!less || !more) throw new Error(`'${operation}' was not counted among ${of}`);
  return Math.max(0, (more.warm.readUnits - less.warm.readUnits) / (more.size - less.size));
}

/** How one person's client polls while so many people are active; the figures of an hour that it is open. */
export function polling(people: number) {
  const { channelMessages, directMessages, reactions, edits, mostHeard, hours } = activity;
  const entries = ((channelMessages + reactions + edits) * people) / hours;
  const heard = (Math.min(mostHeard, channelMessages * people) + 2 * directMessages) / hours;
  const rate = heard / 3_600;
  // A poll ends with the first event, or when its time is up.
  const mean = (1 - Math.exp(-rate * HELD)) / rate;
  const polls = 3_600 / mean;
  // Each poll that waits for its first turn is noted in its queue; where all are shorter, one in a minute is.
  const notes = Math.max(60, polls * Math.exp((-rate * TURN) / 1_000));
  return { entries, heard, overheard: Math.max(0, entries - heard), polls, mean, notes };
}

/** Hours of a month that a person's client is open. */
export const monthlyHours = activity.days * activity.hours;

/** Read units a second that a poll takes while it is held. */
export const holdingUnits = (counted: Pick<Counted, 'counts'>): number =>
  (warmOf(counted, COSTED.hold).readUnits - warmOf(counted, COSTED.poll).readUnits) / HELD;

/** Read units of its queue in that time: at each turn but the first, when it writes there. */
export const turns = Math.floor((HELD * 1_000) / TURN) - 1;

/** Read units a second that it takes of the log's partition. */
export const lookingUnits = (counted: Pick<Counted, 'counts'>): number =>
  holdingUnits(counted) - turns / HELD;

/** What one of so many active people costs a month, line by line. */
export function personCost(counted: Counted, people: number, memory = pollMemory): readonly Line[] {
  return [...pollLines(counted, people, memory), ...requestLines(counted, people), storageLine()];
}

function pollLines(counted: Counted, people: number, memory: number): Line[] {
  const hours = monthlyHours;
  const { polls, notes, heard, overheard } = polling(people);
  const holding = holdingUnits(counted);
  const poll = warmOf(counted, COSTED.poll);
  const hear = warmOf(counted, COSTED.hear).readUnits - poll.readUnits;
  const overhear = Math.max(0, warmOf(counted, COSTED.overhear).readUnits - poll.readUnits);
  const seconds = hours * 3_600;
  const share = memory / LAMBDA_GB;
  const sent = costOf('transfer', (poll.replyBytes + running.headers) / GB);
  return [
    {
      item: 'polls: the function that holds them',
      arithmetic: `${hours} h × 3,600 s × ${share} GB × ${rate('lambdaTime')}`,
      dollars: costOf('lambdaTime', seconds * share),
    },
    {
      item: 'polls: looking for news',
      arithmetic: `${hours} h × 3,600 s × ${shown(holding)} units × ${rate('readUnit')} a million`,
      dollars: costOf('readUnit', seconds * holding),
    },
    {
      item: 'polls: hearing of news',
      arithmetic: `${hours} h × (${shown(heard)} for one × ${hear} units + ${shown(overheard)} for others × ${overhear} units) × ${rate('readUnit')} a million`,
      dollars: costOf('readUnit', hours * (heard * hear + overheard * overhear)),
    },
    {
      item: 'polls: asking',
      arithmetic: `${hours} h × (${shown(polls)} polls × ($${(requestCost('polls') * 1e6).toFixed(2)} + ${poll.readUnits} units × ${rate('readUnit')} + the reply) + ${shown(notes)} notes × ${rate('writeUnit')}) a million`,
      dollars:
        hours * polls * (requestCost('polls') + unitCost(poll) + sent) + costOf('writeUnit', hours * notes),
    },
  ];
}

function requestLines(counted: Counted, people: number): Line[] {
  const { days, channelMessages, directMessages, fetches, registrations, reactions, edits } = activity;
  const costs = new Map(counted.counts.map((row) => [row.operation, callCost(row)]));
  const each = (name: string): number => costs.get(name) ?? 0;
  const perMillion = (name: string, more = 0): string =>
    `$${((each(name) + more) * 1e6).toFixed(2)} a million`;
  const times = (item: string, daily: number, name: string, more = 0): Line => ({
    item,
    arithmetic: `${days} days × ${shown(daily)} × ${perMillion(name, more)}`,
    dollars: days * daily * (each(name) + more),
  });
  const heard = Math.min(activity.mostHeard, channelMessages * people) + directMessages;
  const more = (of: GrowthRow['of'], name: string): number =>
    costOf('readUnit', people * slopeOf(counted, of, name));
  const pings = (activity.hours * 3_600) / activity.pingEvery;
  const first = pings / 5;
  return [
    times('pings', pings - first, COSTED.ping, more('people online', COSTED.ping)),
    times('pings, once in five minutes', first, COSTED.firstPing, more('people online', COSTED.ping)),
    times('sending to channels', channelMessages, COSTED.toChannel),
    times('sending to people', directMessages, COSTED.toPeople),
    times('fetching messages', fetches, COSTED.fetch),
    times('marking as read', heard / activity.readAtOnce, COSTED.markRead),
    times('registering', registrations, COSTED.register, more('members', COSTED.register)),
    times('reactions', reactions, COSTED.react),
    times('edits', edits, COSTED.edit),
  ];
}

function storageLine(): Line {
  const { days, channelMessages, directMessages } = activity;
  const messages = 12 * days * (channelMessages + directMessages);
  return {
    item: 'keeping the messages of a year',
    arithmetic: `${shown(messages)} × ${shown(running.stored)} bytes × ${rate('tableStorage')} a GB`,
    dollars: costOf('tableStorage', (messages * running.stored) / GB),
  };
}

/** What so many active people cost a month. */
export const monthCost = (counted: Counted, people: number, memory = pollMemory): number =>
  people * personCost(counted, people, memory).reduce((sum, { dollars }) => sum + dollars, 0);
