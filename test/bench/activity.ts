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
  /** Requests of which one meets a container that has to start, and the milliseconds that it takes. */
  coldOneIn: 100,
  coldStart: 600,
  /** Bytes of headers that go with a reply, and of the lines that Lambda itself logs. */
  headers: 900,
  logged: 500,
  /** Bytes that a message takes in the table and in its two indexes. */
  stored: 3_000,
} as const;

/** Memory of the function that is polled, MB. */
export const pollMemory: number = getEvents.memory ?? defaultMemory;

/** Seconds that a poll is held when nothing happens (`functions/events/get.ts`). */
export const HELD = 24;

/** How many people the page tells of. */
export const PEOPLE = [5, 50, 500, 5_000] as const;
