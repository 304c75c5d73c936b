import type { Role } from '../permission/system-group.ts';

/** A person or a bot, as stored. What others may see of them is made from this in `user-object.ts`. */
export interface User {
  readonly userId: number;
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly isBot: boolean;
  /** Bot types of the wire: 1 default, 2 incoming webhook. The bot of the service has none. */
  readonly botType?: 1 | 2;
  /** Owner of a bot. */
  readonly ownerId?: number;
  /** The ids of the bots that they own, active or not. */
  readonly bots?: ReadonlySet<number>;
  /**
   * Grows with whatever comes to be theirs and goes to sleep with them: an active bot, a subscription of their own or
   * of a bot. So a deactivation can be held to all of it.
   */
  readonly arrivals?: number;
  /** ISO 8601, when the account was made. */
  readonly dateJoined: string;
  readonly avatarUrl?: string;
  readonly avatarVersion: number;
  readonly timezone: string;
}

/** Whether it is the bot that speaks for the service: it has no owner, and no key lets anybody act as it. */
export const isSystemBot = ({ isBot, botType }: Pick<User, 'isBot' | 'botType'>): boolean =>
  isBot && botType === undefined;

/** What an email address leads to; also the guard that keeps addresses unique. */
export interface Account {
  readonly userId: number;
  /** SHA-256 of the API key, hex. The key itself is nowhere. */
  readonly keyDigest: string;
  /** Owner of a bot, so that their rights can be read beside the bot's. */
  readonly ownerId?: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    user: User;
    account: Account;
  }
}
