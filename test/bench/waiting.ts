import { TURN } from '../../shared/domain/event/turn.ts';
import { eventListener } from '../../shared/endpoints/listener.ts';
import { activity, HELD, pollMemory, running, server } from './activity.ts';
import {
  COSTED,
  type Counted,
  GB,
  LAMBDA_GB,
  type Line,
  pollRequestCost,
  rate,
  requestCost,
  shown,
  unitCost,
  warmOf,
} from './call-cost.ts';
import { costOf } from './prices.ts';

/** What waiting costs one of so many active people a month, line by line. */
export type Waiting = (counted: Counted, people: number) => readonly Line[];

/** How one person's client polls while so many are active, if a poll is held for so long; figures of an open hour. */
export function polling(people: number, held: number) {
  const { channelMessages, directMessages, reactions, edits, mostHeard, hours } = activity;
  const entries = ((channelMessages + reactions + edits) * people) / hours;
  const heard = (Math.min(mostHeard, channelMessages * people) + 2 * directMessages) / hours;
  const perSecond = heard / 3_600;
  // A poll ends with the first event, or when its time is up.
  const mean = (1 - Math.exp(-perSecond * held)) / perSecond;
  const polls = 3_600 / mean;
  // Those that wait for their first turn.
  const long = polls * Math.exp((-perSecond * TURN) / 1_000);
  // Each of them is noted in its queue; where all are shorter, one in a minute is.
  const notes = Math.max(60, long);
  return { entries, heard, overheard: Math.max(0, entries - heard), polls, mean, long, notes };
}

/** Hours of a month that a person's client is open. */
export const monthlyHours = activity.days * activity.hours;

/** Read units a second that a poll takes while a function holds it. */
export const holdingUnits = (counted: Pick<Counted, 'counts'>): number =>
  (warmOf(counted, COSTED.hold).readUnits - warmOf(counted, COSTED.poll).readUnits) / HELD;

/** Read units of its queue in that time: at each turn but the first, when it writes there. */
export const turns = Math.floor((HELD * 1_000) / TURN) - 1;

/** Read units a second that one who follows the log takes of its partition. */
export const lookingUnits = (counted: Pick<Counted, 'counts'>): number =>
  holdingUnits(counted) - turns / HELD;

/** Read units of hearing one event, besides those of the poll. */
const hearingUnits = (counted: Counted, name: string): number =>
  Math.max(0, warmOf(counted, name).readUnits - warmOf(counted, COSTED.poll).readUnits);

const replyCost = (counted: Counted): number =>
  costOf('transfer', (warmOf(counted, COSTED.poll).replyBytes + running.headers) / GB);

/** Each client waits in a function (`wait` = `function`) of so much memory (MB). */
export const inFunctions =
  (memory: number = pollMemory): Waiting =>
  (counted, people) => {
    const hours = monthlyHours;
    const { polls, notes, heard, overheard } = polling(people, HELD);
    const holding = holdingUnits(counted);
    const poll = warmOf(counted, COSTED.poll);
    const [hear, overhear] = [hearingUnits(counted, COSTED.hear), hearingUnits(counted, COSTED.overhear)];
    const seconds = hours * 3_600;
    const share = memory / LAMBDA_GB;
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
          hours * polls * (requestCost('polls') + unitCost(poll) + replyCost(counted)) +
          costOf('writeUnit', hours * notes),
      },
    ];
  };

/** Environments that hold the polls of so many people. */
export const environmentsOf = (people: number): number => Math.ceil(people / server.clients);

/** Read units a second of an environment for its notes about polls that were replaced: a query that finds nothing, in each turn. */
const noteUnits = 0.5 / (TURN / 1_000);

/**
 * What one client writes in an hour. A poll that waits for its turn claims its queue, and leaves a note for where the last
 * one waited, unless that was the same environment. Besides, one poll in a minute is noted in its queue.
 */
const writesOf = (long: number, environments: number): number =>
  60 + 2 * long * ((environments - 1) / environments);

/** Megabytes of an environment that holds its share of so many polls. */
const memoryOf = (people: number): number =>
  server.memory + (server.clientMemory * people) / environmentsOf(people);

/**
 * One server holds many polls (`wait` = `web`): memory and looks at the log are those of an environment, and those who
 * wait there share them.
 *
 * @param factor what the assumed prices of Web Functions are multiplied with
 */
export const inServer =
  (factor = 1): Waiting =>
  (counted, people) => {
    const hours = monthlyHours;
    const { entries, polls, long, heard } = polling(people, eventListener.holdSeconds);
    const environments = environmentsOf(people);
    const [memory, looking] = [memoryOf(people), lookingUnits(counted) + noteUnits];
    const writes = writesOf(long, environments);
    const poll = warmOf(counted, COSTED.poll);
    const [hear, shared] = [hearingUnits(counted, COSTED.hear), hearingUnits(counted, COSTED.overhear)];
    const seconds = hours * 3_600;
    const request = pollRequestCost(factor);
    const looks = server.looks * server.lookMs;
    // Milliseconds of a processor in an hour, of each person's share.
    const active = polls * server.pollMs + heard * server.hearMs + (3_600 * looks * environments) / people;
    return [
      {
        item: 'polls: memory of the server',
        arithmetic: `${environments} × ${hours} h × 3,600 s × ${shown(memory)} / 1,024 GB × ${rate('webMemory')} / ${shown(people)}`,
        dollars: (factor * environments * costOf('webMemory', (seconds * memory) / LAMBDA_GB)) / people,
      },
      {
        item: 'polls: processor of the server',
        arithmetic: `${hours} h × (${shown(polls)} polls × ${server.pollMs} ms + ${shown(heard)} events × ${server.hearMs} ms + ${environments} × 3,600 s × ${server.looks} looks × ${server.lookMs} ms / ${shown(people)}) × ${rate('webProcessor')} a second`,
        dollars: factor * costOf('webProcessor', (hours * active) / 1_000),
      },
      {
        item: 'polls: looking for news',
        arithmetic: `${environments} × ${hours} h × 3,600 s × ${shown(looking)} units × ${rate('readUnit')} a million / ${shown(people)}`,
        dollars: costOf('readUnit', (seconds * looking * environments) / people),
      },
      {
        item: 'polls: hearing of news',
        arithmetic: `${hours} h × (${shown(heard)} for one × ${hear} units + ${shown(entries)} of all × ${shared} units × ${environments} / ${shown(people)}) × ${rate('readUnit')} a million`,
        dollars: costOf('readUnit', hours * (heard * hear + (entries * shared * environments) / people)),
      },
      {
        item: 'polls: asking',
        arithmetic: `${hours} h × (${shown(polls)} polls × ($${(request * 1e6).toFixed(2)} + ${poll.readUnits} units × ${rate('readUnit')} + the reply) + ${shown(writes)} notes and claims × ${rate('writeUnit')}) a million`,
        dollars:
          hours * polls * (request + unitCost(poll) + replyCost(counted)) +
          costOf('writeUnit', hours * writes),
      },
    ];
  };

/** What one client that waits costs an hour, while so many of a deployment do. */
export const waitingHour = (counted: Counted, people: number, waiting: Waiting): number =>
  waiting(counted, people).reduce((sum, { dollars }) => sum + dollars, 0) / monthlyHours;
