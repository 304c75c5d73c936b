import { expect } from 'vitest';
import { numberOf } from '../../shared/domain/event/queue.ts';
import type { Event } from '../support/event-queue.ts';
import type { Person, TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import type { Known } from './known.ts';
import { isSubscribed, mayKnow } from './sight.ts';

/** What an organization was like after a step. */
interface Moment {
  /** The last number of the log that was handed out by then. */
  readonly upTo: number;
  readonly known: Known;
}

/** All earlier states of an organization, against which events are checked. */
export class History {
  readonly #moments: Moment[] = [];

  /** Records the present state. */
  async note(realm: TestRealm, known: Known): Promise<void> {
    this.#moments.push({ upTo: await lastNumber(realm), known });
  }

  get now(): Known {
    return (this.#moments.at(-1) as Moment).known;
  }

  /** Whether the last step took no number of the log. */
  get isQuiet(): boolean {
    return this.#moments.at(-1)?.upTo === this.#moments.at(-2)?.upTo;
  }

  /** The states just before and just after the step that sent the event. */
  #around(id: number): readonly Known[] {
    const after = this.#moments.findIndex(({ upTo }) => id <= upTo);
    return this.#moments.slice(Math.max(after - 1, 0), after + 1).map(({ known }) => known);
  }

  /**
   * Checks that an event has only what its reader could see at some time and may see now. Users may learn of their own
   * subscriptions, and of the removal of things that they could see once.
   */
  expectAllowed(event: Event, { userId, email }: Person): void {
    const what = `${email} hears ${JSON.stringify(event)}`;
    const then = this.#around(numberOf(event.id));
    const sees = (known: Known, id: number): boolean => mayKnow(known, userId, id);
    for (const id of forgottenIn(event)) {
      expect(
        this.#moments.some(({ known }) => sees(known, id)),
        `${what}: never seen`,
      ).toBe(true);
    }
    for (const id of ownIn(event)) {
      expect(
        then.some((known) => isSubscribed(known, userId, id)),
        `${what}: never theirs`,
      ).toBe(true);
    }
    for (const id of toldIn(event)) {
      expect(
        then.some((known) => sees(known, id)),
        `${what}: hidden then`,
      ).toBe(true);
    }
    for (const id of seenIn(event)) expect(sees(this.now, id), `${what}: hidden now`).toBe(true);
    const text = JSON.stringify(event);
    for (const name of this.#neverSeen(userId)) expect(text, what).not.toContain(`"${name}"`);
  }

  /** The names of channels that this user could never see, except names that a visible channel also had. */
  #neverSeen(userId: number): readonly string[] {
    const [seen, hidden] = [new Set<string>(), new Set<string>()];
    for (const { known } of this.#moments) {
      for (const { channelId, name } of known.channels) {
        (mayKnow(known, userId, channelId) ? seen : hidden).add(name);
      }
    }
    return [...hidden].filter((name) => !seen.has(name));
  }
}

type Ids = readonly number[];
const idsOf = (channels: readonly { readonly stream_id: number }[]): Ids =>
  channels.map(({ stream_id }) => stream_id);

const forgottenIn = ({ type, op, stream_ids }: Event): Ids =>
  type === 'stream' && op === 'delete' ? stream_ids : [];

/** Channels to which the listener themselves came, or which they left. */
const ownIn = ({ type, op, subscriptions }: Event): Ids =>
  type === 'subscription' && (op === 'add' || op === 'remove') ? idsOf(subscriptions) : [];

/** Channels of an event about something that was just done there. */
function toldIn(event: Event): Ids {
  if (event.type === 'message') return event.message.stream_id === undefined ? [] : [event.message.stream_id];
  return event.type === 'stream' && event.op === 'update' ? [event.stream_id] : [];
}

/** Channels of an event about their properties or their subscribers. */
function seenIn(event: Event): Ids {
  const { type, op, streams, stream_ids, subscriptions } = event;
  if (type === 'stream' && op === 'create') return idsOf(streams);
  if (type === 'subscription' && op?.startsWith('peer_')) return stream_ids;
  if (type === 'subscription' && op === 'add') return idsOf(subscriptions.filter(hasPeers));
  return toldIn(event);
}

const hasPeers = ({ subscribers }: { readonly subscribers?: Ids }): boolean => (subscribers?.length ?? 0) > 0;
