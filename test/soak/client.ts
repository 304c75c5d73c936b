import { setTimeout as wait } from 'node:timers/promises';
import type { Person } from '../support/realm.ts';
import type { Random } from './random-choice.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are what the soak looks into
export type Json = any;

/** A request as a program makes it. */
export interface Asked {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Behind `/api/v1/`. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** What came back from one try; `lost` when nothing did. */
export type Reply = { readonly status: number; readonly body: Json } | { readonly status: 'lost' };

/**
 * What became of a request, with the times (ms of this process) between which it took effect, if it did: of one that
 * was tried again after no answer, also an old try may still be under way after the last one's answer.
 */
export interface Outcome {
  readonly state: 'done' | 'refused' | 'unknown';
  readonly began: number;
  readonly ended: number;
  readonly body: Json;
}

/** What all clients of a soak count together. */
export class Tally {
  calls = 0;
  acknowledged = 0;
  refused = 0;
  unknown = 0;
  retried = 0;
  /** Replies by status. */
  readonly replies = new Map<string, number>();

  note(status: number | 'lost'): void {
    this.calls += 1;
    this.replies.set(String(status), (this.replies.get(String(status)) ?? 0) + 1);
  }
}

/** How long (ms) a client waits for an answer: longer than the service holds a poll. */
const patience = 40_000;

/** For how long (ms) a try may go on: one whose function has ended with a fault, and one that was not waited for. */
const aftermath = { answered: 8_000, lost: 38_000 } as const;

/** How often a client hangs up before it has the answer. */
const impatience = 0.015;

/** How often a client gives up what got no answer. */
const despair = 0.04;

const now = (): number => performance.now();

/** Text goes as it is, everything else as JSON, as clients of the reference send it. */
const encoded = (parameters: Readonly<Record<string, unknown>>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );

/** A program that calls the service over HTTP for a user, and loses its patience now and then. */
export class Client {
  readonly person: Person;
  readonly #address: string;
  readonly #tally: Tally;
  readonly #random: Random;
  /** In quiet times clients wait for every answer. */
  isPatient = true;

  constructor(address: string, person: Person, tally: Tally, random: Random) {
    this.#address = address;
    this.person = person;
    this.#tally = tally;
    this.#random = random;
  }

  /** Makes one try. */
  async ask({ method, path, parameters = {} }: Asked): Promise<Reply> {
    const { email, apiKey } = this.person;
    const form = encoded(parameters);
    const hangsUp = !this.isPatient && this.#random() < impatience;
    try {
      const url = `${this.#address}/api/v1/${path}${method === 'GET' ? `?${form}` : ''}`;
      const response = await fetch(url, {
        method,
        headers: { authorization: `Basic ${btoa(`${email}:${apiKey}`)}`, 'user-agent': 'ParlanceSoak/1.0' },
        ...(method !== 'GET' && { body: form }),
        signal: AbortSignal.timeout(hangsUp ? Math.ceil(this.#random() * 400) : patience),
      });
      const body: unknown = await response.json();
      this.#tally.note(response.status);
      return { status: response.status, body };
    } catch {
      this.#tally.note('lost');
      return { status: 'lost' };
    }
  }

  /**
   * Tries until there is an answer, as a program does that must be sure, or gives up now and then.
   *
   * @param already Refusals of a retry that show that an earlier try has worked, by their code or message.
   */
  async insist(asked: Asked, already?: RegExp): Promise<Outcome> {
    const began = now();
    let late = 0;
    for (let tries = 1; ; tries++) {
      const reply = await this.ask(asked);
      const { status } = reply;
      if (typeof status === 'number' && status < 500 && status !== 429) {
        const { body } = reply as { body: Json };
        const ended = Math.max(now(), late);
        const isDone = status === 200 || (tries > 1 && already?.test(`${body.code} ${body.msg}`) === true);
        return this.#ended(isDone ? 'done' : late > 0 ? 'unknown' : 'refused', began, ended, body);
      }
      const isAnswered = status !== 'lost' && status !== 504;
      late = now() + (isAnswered ? aftermath.answered : aftermath.lost);
      const isOver = !this.isPatient && this.#random() < despair;
      if (isOver || tries > 200) return this.#ended('unknown', began, late, undefined);
      this.#tally.retried += 1;
      await wait(this.#random() * Math.min(100 * 2 ** tries, 1_500));
    }
  }

  /** Insists on an answer that must be a success. */
  async must(asked: Asked): Promise<Json> {
    const { state, body } = await this.insist(asked);
    if (state !== 'done') {
      throw new Error(
        `${this.person.email}: ${asked.method} ${asked.path} was ${state}: ${JSON.stringify(body)}`,
      );
    }
    return body;
  }

  #ended(state: Outcome['state'], began: number, ended: number, body: Json): Outcome {
    this.#tally[state === 'done' ? 'acknowledged' : state] += 1;
    return { state, began, ended, body };
  }
}
