import { Door } from '../door.ts';
import { type Chore, Follower } from './follower.ts';
import type { Log } from './log.ts';
import { ROOM, Stay } from './stay.ts';

/** Most followers that are kept; idle ones go first. */
const MAX_IDLE = 1_000;

/** Claims that are stored at once, so that a crowd that came together does not write together. */
const CLAIMS_AT_ONCE = 8;

/** Where the polls of one process wait, if it holds many at once. */
export class WaitingRoom {
  /** Tells this process from others that hold polls. */
  readonly id: string;
  /** How long (ms) a poll is held without news. */
  readonly holdMs: number;
  /** Where those who store that they wait here stand in line. */
  readonly claims = new Door(CLAIMS_AT_ONCE);
  readonly #capacity: number;
  readonly #followers = new Map<string, Follower>();
  readonly #stays = new Map<string, Stay>();

  /** `capacity` is the most polls that may wait here. */
  constructor({ id, holdMs, capacity }: { id: string; holdMs: number; capacity: number }) {
    this.id = ROOM + id;
    this.holdMs = holdMs;
    this.#capacity = capacity;
  }

  /** How many polls are here. */
  get size(): number {
    return this.#stays.size;
  }

  /** The follower of this log, which does its chore. */
  follower(log: Log, chore: Chore): Follower {
    const found = this.#followers.get(log.realm);
    if (found !== undefined) return found;
    if (this.#followers.size >= MAX_IDLE) this.#removeIdle();
    const follower = new Follower(log, chore);
    this.#followers.set(log.realm, follower);
    return follower;
  }

  /**
   * Takes the place of a poll, which ends the poll that had it. Undefined if the room is full.
   *
   * @param place names the queue; one poll waits in each place
   */
  enter(place: string): Stay | undefined {
    const older = this.#stays.get(place);
    if (older === undefined && this.#stays.size >= this.#capacity) return undefined;
    older?.end();
    const stay = new Stay();
    this.#stays.set(place, stay);
    return stay;
  }

  /** Gives up the place, if the poll still has it. */
  leave(place: string, stay: Stay): void {
    stay.end();
    if (this.#stays.get(place) === stay) this.#stays.delete(place);
  }

  /** The poll in this place, if there is one. */
  at(place: string): Stay | undefined {
    return this.#stays.get(place);
  }

  #removeIdle(): void {
    for (const [realm, follower] of this.#followers) if (follower.isIdle) this.#followers.delete(realm);
  }
}
