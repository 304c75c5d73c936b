/** Milliseconds between reports about a step that is not done yet. */
const patience = 3000;

/** Tells the person at the console what takes its time, each line with the seconds since the start. */
export class Progress {
  readonly #begin = performance.now();
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Prints a line with the time. */
  say(text: string): void {
    this.#print(`${((performance.now() - this.#begin) / 1000).toFixed(1).padStart(5)} s  ${text}`);
  }

  /** Does a step of the start and reports when it is done; a long one is also reported meanwhile. */
  async step<T>(text: string, work: Promise<T>): Promise<T> {
    const timer = setInterval(() => this.say(`${text} ...`), patience);
    try {
      const result = await work;
      this.say(`${text}: done`);
      return result;
    } finally {
      clearInterval(timer);
    }
  }
}
