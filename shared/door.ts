/** Lets in a few at once. The others wait in line, in the order in which they came. */
export class Door {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async enter(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
  }

  leave(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#free += 1;
  }
}
