/**
 * Event ids (wire facts 14.2, companion facts 6.1: each id is greater than the one before, heartbeats included).
 *
 * An event's id is the number of its log entry times `ROOM`. The ids in between belong to heartbeats, which have no
 * entry. Nothing else converts between the two: the domain speaks of numbers of the log, and message ids are numbers.
 */
const ROOM = 1_000;

/** The id of the event with this number of the log. */
export const eventIdOf = (seq: number): number => seq * ROOM;

/** The number of the log that a client has reached when it acknowledges this id; negative for a negative id. */
export const numberOf = (eventId: number): number => Math.floor(eventId / ROOM);

/**
 * The id of a heartbeat for a client that acknowledged `last`, when the log was examined up to `head`. Undefined when
 * there is no id left before the next event's: after 999 heartbeats without any new number (some seven hours).
 */
export function heartbeatId(last: number, head: number): number | undefined {
  const id = Math.max(last, eventIdOf(head)) + 1;
  return numberOf(id) === head ? id : undefined;
}
