/** A reply that comes later. Meanwhile nothing is kept of the request. */
export class Held<R extends object = object> {
  readonly reply: Promise<R>;
  /** Lets the reply come at once: its client has gone, or the process ends. */
  readonly end: () => void;

  constructor(reply: Promise<R>, end: () => void) {
    this.reply = reply;
    this.end = end;
  }
}
