import type { Env } from 'markdown-it';

/** A person that a text may name. */
export interface FoundUser {
  readonly id: number;
  /** The name that is shown, whatever spelling the text used. */
  readonly fullName: string;
}

/** A user group that a text may name. */
export interface FoundGroup {
  readonly id: number;
  readonly name: string;
}

/** A channel that a text may name. The caller leaves out those whose existence the sender may not know. */
export interface FoundChannel {
  readonly id: number;
  readonly name: string;
  /** The newest message of each topic that the sender can read, by the topic as the text spells it. */
  readonly newestIn?: Lookup<string, number>;
}

/** An active custom emoji. */
export interface FoundEmoji {
  /** Where its image is: a path on this server, or an `https:` address. */
  readonly sourceUrl: string;
}

/** Anything that finds by key; a `Map` is one. */
export interface Lookup<K, V> {
  get(key: K): V | undefined;
}

/**
 * What the database knows of the names in one text. Names are looked up exactly as `wants` gave them: how each kind of
 * name is compared is the caller's business.
 */
export interface ResolvedReferences {
  readonly usersByName: Lookup<string, FoundUser>;
  readonly usersById: Lookup<number, FoundUser>;
  readonly groups: Lookup<string, FoundGroup>;
  readonly channels: Lookup<string, FoundChannel>;
  readonly emoji: Lookup<string, FoundEmoji>;
}

const nothing: Lookup<unknown, never> = { get: () => undefined };

/** A text whose names lead nowhere: mentions and channel links stay plain text. */
export const NOTHING_FOUND: ResolvedReferences = {
  usersByName: nothing,
  usersById: nothing,
  groups: nothing,
  channels: nothing,
  emoji: nothing,
};

const FOUND = Symbol('found');

/** The environment that carries what was found through the parser to our rules. */
export const envOf = (found: ResolvedReferences): Env => ({ [FOUND]: found });

/** What was found, for a rule at work. */
export const foundIn = (env: Env): ResolvedReferences =>
  (env[FOUND] as ResolvedReferences | undefined) ?? NOTHING_FOUND;
