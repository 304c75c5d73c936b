import type { Door } from '../../door.ts';
import type { Log } from '../../log/log.ts';
import { isRoom, type Stay } from '../../log/stay.ts';
import type { WaitingRoom } from '../../log/waiting-room.ts';
import { key } from '../../table/keys.ts';
import { isPassing } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import { claimQueue, type EventQueue, isNoteDue, loadQueue, notePoll, placeOf } from './queue.ts';

/**
 * How long (ms) a poll waits before it stores its claim. A newer poll ends an older one within twice this time: it stores
 * its claim within the first interval, and the older poll learns of it within the second. Where many claims are due at once,
 * they wait in line, so it takes a little longer. This bounds what one queue can occupy, and shorter polls cost no write.
 */
export const TURN = 5_000;

/** A note for a room: one of its polls was replaced. */
interface Replaced {
  readonly queueId: string;
  readonly userId: number;
  /** When DynamoDB may delete it, seconds. */
  readonly expires: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    replaced: Replaced;
  }
}

/** Seconds for which such a note is kept: by then the poll is over anyway. */
const NOTE_SECONDS = 120;

/** Most notes that are read at once. Polls whose notes are not read end by themselves. */
const MAX_NOTES = 200;

/** What a poll knows of its queue, and how it keeps others from waiting for the same queue. */
interface Waiting {
  readonly table: Table;
  readonly realm: string;
  readonly queue: EventQueue;
  /** The id of the poll, or of the room where it waits. */
  readonly claimant: string;
  /** Its place in that room, and the line of those who claim their queues there. */
  readonly stay: Stay | undefined;
  readonly claims: Door | undefined;
  /** When it began, ms. */
  readonly started: number;
  /** The time, ms. */
  readonly now: () => number;
  /** The number that its client has acknowledged. */
  readonly cursor: number;
  /** The end of the log, if it read that far. */
  readonly end: number | undefined;
}

/**
 * The turn of a poll at its queue. At most one poll of a queue waits, so that a client that polls again occupies one place
 * and not two (companion facts 6.1: a second poll ends the first). In one room a newer poll ends the older one at once.
 * Between processes the order of their claims decides which one is newer, not a clock.
 *
 * A poll in a function reads its queue in each interval, to see whether it still has its claim. A room holds many polls, so
 * a process that takes over from one of them leaves a note for the room, which reads all its notes together.
 */
export class Turn {
  readonly #waiting: Waiting;
  #queue: EventQueue;
  /** When there is something to do next, ms. */
  #next: number;
  #isClaimed: boolean;
  #isInLine = false;
  #fault: unknown;

  constructor(waiting: Waiting) {
    const { queue, claimant, started, stay } = waiting;
    this.#waiting = waiting;
    this.#queue = queue;
    // A room that has claimed the queue need not do so for each poll.
    this.#isClaimed = queue.waiting === claimant;
    if (stay) stay.isClaimed = this.#isClaimed;
    this.#next = stay?.isClaimed ? Number.POSITIVE_INFINITY : started + TURN;
  }

  /** When the poll must ask again whether it may go on, ms. */
  get next(): number {
    return this.#next;
  }

  /** Notes the poll in its queue if that is due, so that the queue lives on. A poll that is not noted must not be answered. */
  async noteIfDue(now: number): Promise<void> {
    const { table, realm, cursor, end } = this.#waiting;
    if (isNoteDue(this.#queue, now))
      this.#queue = await notePoll(table, realm, this.#queue, { cursor, end }, now);
  }

  /** The same if the store is not busy now: the end of the poll tries again. */
  async tryToNote(now: number): Promise<void> {
    try {
      await this.noteIfDue(now);
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
  }

  /** Throws the fault by which the claim failed, if it did. */
  checkClaim(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /**
   * Whether the poll may go on waiting at a time (ms). It may not if a newer poll has claimed the queue, or the queue is
   * deleted. After a passing error of the store it tries again later. A poll in a room hears of news while it claims, and
   * its stay ends if the claim fails.
   */
  async mayGoOn(now: number): Promise<boolean> {
    if (now < this.#next) return true;
    this.#next = now + TURN;
    const { stay, claims } = this.#waiting;
    if (stay && claims) {
      void this.#claimInLine(stay, claims);
      return true;
    }
    try {
      return this.#isClaimed ? await this.#hasClaim() : await this.#claim(now);
    } catch (error) {
      if (!isPassing(error)) throw error;
      return true;
    }
  }

  async #claimInLine(stay: Stay, claims: Door): Promise<void> {
    if (this.#isInLine) return;
    this.#isInLine = true;
    await claims.enter();
    try {
      if (!stay.isOver && !(await this.#claim(this.#waiting.now()))) stay.end();
    } catch (error) {
      if (!isPassing(error)) {
        this.#fault = error;
        stay.end();
      }
    } finally {
      claims.leave();
      this.#isInLine = false;
    }
  }

  async #hasClaim(): Promise<boolean> {
    const { table, realm, claimant } = this.#waiting;
    const { userId, queueId } = this.#queue;
    return (await loadQueue(table, realm, userId, queueId))?.waiting === claimant;
  }

  async #claim(now: number): Promise<boolean> {
    const { table, realm, claimant, stay, cursor, end } = this.#waiting;
    const claimed = await claimQueue(table, realm, this.#queue, { cursor, end, waiting: claimant }, now);
    if (claimed === undefined) return false;
    this.#isClaimed = true;
    this.#queue = claimed.queue;
    if (stay) {
      stay.isClaimed = true;
      this.#next = Number.POSITIVE_INFINITY;
    }
    const { former } = claimed;
    if (former !== undefined && former !== claimant && isRoom(former)) {
      const { userId, queueId } = this.#queue;
      const at = Math.floor(now / 1_000);
      const note = { queueId, userId, expires: at + NOTE_SECONDS };
      await table.put(key('replaced', { realm, room: former, at, queueId }), note);
    }
    return true;
  }
}

/** Ends the polls of a room that were replaced since a time (ms). One read for all of them, if there are none. */
export async function endReplaced(room: WaitingRoom, { table, realm }: Log, since: number): Promise<void> {
  // Clocks differ a little, and an eventually consistent read may miss the newest notes.
  const from = { at: Math.floor((since - TURN) / 1_000), queueId: '0' };
  const { items } = await table.page(
    'replaced',
    { realm, room: room.id },
    { from, limit: MAX_NOTES, eventually: true },
  );
  await Promise.all(
    items.map(async ({ userId, queueId }) => {
      const stay = room.at(placeOf(realm, queueId));
      // One that has not claimed the queue yet came after the one that left the note.
      if (!stay?.isClaimed) return;
      const queue = await loadQueue(table, realm, userId, queueId);
      if (queue?.waiting !== room.id) stay.end();
    }),
  );
}
