import { Follower } from './follower.ts';
import type { Log } from './log.ts';

/** Most followers that are kept; idle ones go first. */
const MAX_IDLE = 1_000;

/** A poll in its place. */
export interface Stay {
  /** Aborted when the poll must end: its client has gone, a newer poll has come, or the process ends. */
  readonly signal: AbortSignal;
  readonly leave: () => void;
}

/** Where the polls of one process wait, if it holds many at once. */
export class WaitingRoom {
  /** Tells this process from others that hold polls. */
  readonly id: string;
  /** How long (ms) a poll is held without news. */
  readonly holdMs: number;
  readonly #capacity: number;
  readonly #followers = new Map<string, Follower>();
  readonly #stays = new Map<string, AbortController>();

  /** `capacity` is the most polls that may wait here. */
  constructor({ id, holdMs, capacity }: { id: string; holdMs: number; capacity: number }) {
    this.id = id;
    this.holdMs = holdMs;
    this.#capacity = capacity;
  }

  /** How many polls are here. */
  get size(): number {
    return this.#stays.size;
  }

  /** The follower of this log. */
  follower(log: Log): Follower {
    const found = this.#followers.get(log.realm);
    if (found !== undefined) return found;
    if (this.#followers.size >= MAX_IDLE) this.#removeIdle();
    const follower = new Follower(log);
    this.#followers.set(log.realm, follower);
    return follower;
  }

  /**
   * Takes the place of a poll, which ends the poll that had it. Undefined if the room is full.
   *
   * @param place names the queue; one poll waits in each place
   * @param gone aborted when the client has gone or the process ends
   */
  enter(place: string, gone: AbortSignal | undefined): Stay | undefined {
    const older = this.#stays.get(place);
    if (older === undefined && this.#stays.size >= this.#capacity) return undefined;
    older?.abort();
    const controller = new AbortController();
    const end = (): void => controller.abort();
    if (gone?.aborted) end();
    gone?.addEventListener('abort', end);
    this.#stays.set(place, controller);
    return {
      signal: controller.signal,
      leave: () => {
        gone?.removeEventListener('abort', end);
        if (this.#stays.get(place) === controller) this.#stays.delete(place);
      },
    };
  }

  /** Ends the poll in this place, if there is one. */
  end(place: string): void {
    this.#stays.get(place)?.abort();
  }

  #removeIdle(): void {
    for (const [realm, follower] of this.#followers) if (follower.isIdle) this.#followers.delete(realm);
  }
}
