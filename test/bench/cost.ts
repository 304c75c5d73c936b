import { activity, running } from './activity.ts';
import { COSTED, type Counted, callCost, GB, type Line, rate, shown, slopeOf } from './call-cost.ts';
import type { GrowthRow } from './growth.ts';
import { costOf } from './prices.ts';
import { inServer, type Waiting } from './waiting.ts';

/** What one of so many active people costs a month, line by line. */
export const personCost = (
  counted: Counted,
  people: number,
  waiting: Waiting = inServer(),
): readonly Line[] => [...waiting(counted, people), ...requestLines(counted, people), storageLine()];

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
export const monthCost = (counted: Counted, people: number, waiting?: Waiting): number =>
  people * personCost(counted, people, waiting).reduce((sum, { dollars }) => sum + dollars, 0);
