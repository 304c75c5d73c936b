import { defaultMemory } from '../../infra/endpoint-function.ts';
import { getEvents } from '../../shared/endpoints/events.ts';

/*
 * What the cost page supposes. Everything here is a choice; everything that it is multiplied with is counted or
 * published.
 */

/** What one active person does, with one client that is open all day. */
export const activity = {
  /** Working days of a month, and hours of each that a client of theirs is open. */
  days: 21,
  hours: 8,
  /** A day: messages to channels and to people, and how many of the channels' messages are for one at most. */
  channelMessages: 15,
  directMessages: 5,
  mostHeard: 300,
  /** A day: fetches of messages, changes of places; messages that are marked as read at once. */
  fetches: 30,
  readAtOnce: 8,
  /** A day: reloads of the client, reactions, and edits. */
  registrations: 3,
  reactions: 3,
  edits: 1,
  /** Seconds between two pings of a client. */
  pingEvery: 60,
} as const;

/** How requests run on Lambda, where nothing was measured. */
export const running = {
  /** Milliseconds of a request, and of each round trip to DynamoDB. */
  base: 12,
  roundTrip: 6,
  /** The number of requests for each cold start, and the milliseconds that a cold start takes. */
  coldOneIn: 100,
  coldStart: 600,
  /** Bytes of headers that go with a reply, and of the lines that Lambda itself logs. */
  headers: 900,
  logged: 500,
  /** Bytes that a message takes in the table and in its two indexes. */
  stored: 3_000,
} as const;

/** The server that holds polls, where nothing was measured on AWS. */
export const server = {
  /** Clients that one environment holds, of the 128 that it may: Lambda keeps room, and decides by itself. */
  clients: 64,
  /** MB of an environment without waiting clients, and of each waiting client. */
  memory: 128,
  clientMemory: 0.1,
  /** Looks at the end of the log in a second, for each organization and environment. */
  looks: 6.7,
  /** Milliseconds of processor time for a probe, a poll, and a delivered event. */
  lookMs: 1,
  pollMs: 10,
  hearMs: 10,
} as const;

/** Memory of the function that is polled, MB. */
export const pollMemory: number = getEvents.memory ?? defaultMemory;

/** Seconds that a function holds a poll when nothing happens (`functions/events/get.ts`). */
export const HELD = 24;

/** The numbers of users on the page. */
export const PEOPLE = [5, 50, 500, 5_000] as const;
