import type { Outcome } from './client.ts';

/** A value that a writer set, and whether the writer got a success. */
interface Claim {
  readonly value: string;
  readonly state: 'done' | 'unknown';
  readonly began: number;
  readonly ended: number;
}

/** A message that a user sent. */
interface Sent {
  /** A text that is only in this message. */
  readonly marker: string;
  readonly state: Outcome['state'];
  /** Its id, if there was a reply. */
  readonly id: number | undefined;
}

/**
 * The replies to all writers of a soak, and what must therefore be true at its end. Values are text: the content of
 * a message, its channel and topic, whether a user is subscribed.
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

  /** The names of the things that were changed. */
  get things(): readonly string[] {
    return [...this.#things.keys()];
  }

  /** Records a send. */
  send(marker: string, state: Outcome['state'], id: number | undefined): void {
    this.#sent.push({ marker, state, id });
  }

  /** Records a new value of a thing, which had the value `first` (undefined: unknown) before its first change. */
  give(thing: string, first: string | undefined, value: string, { state, began, ended }: Outcome): void {
    if (state === 'refused') return;
    const known = this.#things.get(thing) ?? { first, claims: [] };
    this.#things.set(thing, known);
    known.claims.push({ value, state, began, ended });
  }

  /**
   * The values that a thing may have: those of changes after which no other one was started and acknowledged.
   * Overlapping changes may have happened in either order, and a change without a reply may have happened or not.
   * Undefined if it may have any value.
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

  /** Whether a user deleted a message, or may have. */
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
