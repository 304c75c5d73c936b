/** What the id of a room begins with. A function that holds a poll has an id without it. */
export const ROOM = 'room/';

/** Whether this is the id of a room, and not of a poll in a function. */
export const isRoom = (id: string): boolean => id.startsWith(ROOM);

/** A poll in its place. */
export class Stay {
  /** Whether the poll has stored that it waits here. */
  isClaimed = false;
  /** Called once when the poll must end. */
  onEnd: (() => void) | undefined;
  #isOver = false;

  /** Whether the poll has ended or must: its client has gone, a newer poll has come, or the process ends. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onEnd?.();
  }
}
