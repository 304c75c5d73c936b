import type { Outcome } from './client.ts';

/** A value that somebody gave to a thing, as far as they know. */
interface Claim {
  readonly value: string;
  readonly state: 'done' | 'unknown';
  readonly began: number;
  readonly ended: number;
}

/** A message that somebody sent. */
interface Sent {
  /** A text that stands in this message only. */
  readonly marker: string;
  readonly state: Outcome['state'];
  /** Its id, as far as it was told. */
  readonly id: number | undefined;
}

/**
 * What all writers of a soak were told, and what must therefore be true at its end. Values are text: the content of
 * a message, its place, whether somebody is subscribed.
 */
export class Claims {
  readonly #sent: Sent[] = [];
  readonly #things = new Map<string, { readonly first: string | undefined; readonly claims: Claim[] }>();

  /** How many messages and how many other changes were acknowledged. */
  get acknowledged(): { readonly sent: number; readonly changed: number } {
    const claims = [...this.#things.values()].flatMap(({ claims }) => claims);
    return {
      sent: this.#sent.filter(({ state }) => state === 'done').length,
      changed: claims.filter(({ state }) => state === 'done').length,
    };
  }

  /** The things that somebody changed, by their names. */
  get things(): readonly string[] {
    return [...this.#things.keys()];
  }

  /** Notes a send. */
  send(marker: string, state: Outcome['state'], id: number | undefined): void {
    this.#sent.push({ marker, state, id });
  }

  /** Notes that somebody gave a value to a thing, which was `first` (undefined: nobody knows) as long as nobody did. */
  give(thing: string, first: string | undefined, value: string, { state, began, ended }: Outcome): void {
    if (state === 'refused') return;
    const known = this.#things.get(thing) ?? { first, claims: [] };
    this.#things.set(thing, known);
    known.claims.push({ value, state, began, ended });
  }

  /**
   * The values that a thing may have: of each change behind which no other was begun and acknowledged after its end.
   * Those that overlap may have come in either order, and of what was not acknowledged it is not known whether it came.
   * Undefined where it may be anything.
   */
  allowed(thing: string): ReadonlySet<string> | undefined {
    const known = this.#things.get(thing);
    if (known === undefined) return undefined;
    const { first, claims } = known;
    const done = claims.filter(({ state }) => state === 'done');
    const last = claims.filter(({ ended }) => !done.some(({ began }) => began > ended));
    const values = new Set(last.map(({ value }) => value));
    if (done.length > 0) return values;
    return first === undefined ? undefined : values.add(first);
  }

  /** Whether somebody deleted a message, or may have. */
  mayBeGone(id: number): boolean {
    return this.allowed(goneOf(id))?.has('gone') === true;
  }

  /** What is wrong with the messages that there are, by their markers: one sentence for each thing. */
  wrongSends(there: ReadonlyMap<string, readonly number[]>): string[] {
    return this.#sent.flatMap(({ marker, state, id }) => {
      const ids = there.get(marker) ?? [];
      if (ids.length > 1) return [`${marker} is there ${ids.length} times: ${ids.join(', ')}`];
      if (state === 'refused' && ids.length > 0) return [`${marker} was refused, and is there as ${ids[0]}`];
      if (state !== 'done' || id === undefined) return [];
      if (ids.length === 0 && !this.mayBeGone(id))
        return [`${marker} was acknowledged as ${id}, and is lost`];
      return ids.length === 1 && ids[0] !== id
        ? [`${marker} was acknowledged as ${id}, and is ${ids[0]}`]
        : [];
    });
  }

  /** What is wrong with a thing that has this value at the end, if anything. */
  wrongValue(thing: string, value: string): string[] {
    const allowed = this.allowed(thing);
    if (allowed === undefined || allowed.has(value)) return [];
    const said = [...allowed].map((each) => `'${each}'`).join(' or ');
    return [`${thing} is '${value}', and was acknowledged to be ${said}`];
  }
}

/** The names of things. */
export const goneOf = (id: number): string => `whether message ${id} is gone`;
export const contentOf = (id: number): string => `the content of message ${id}`;
export const placeOf = (id: number): string => `the place of message ${id}`;
export const reactionOf = (id: number, userId: number, emoji: string): string =>
  `reaction ${emoji} of user ${userId} to message ${id}`;
export const starOf = (id: number, userId: number): string => `star of user ${userId} on message ${id}`;
export const subscriptionOf = (userId: number, channel: string): string =>
  `subscription of user ${userId} to ${channel}`;
export const settingOf = (userId: number, name: string): string => `setting ${name} of user ${userId}`;
export const policyOf = (userId: number, channelId: number, topic: string): string =>
  `policy of user ${userId} for ${channelId}/${topic}`;
export const descriptionOf = (channelId: number): string => `the description of channel ${channelId}`;
export const memberOf = (groupId: number, userId: number): string => `user ${userId} in group ${groupId}`;
export const nameTaken = (kind: 'channel' | 'group' | 'account', name: string): string => `${kind} ${name}`;
