import { badRequest } from '../../kernel/errors.ts';
import { sha256 } from '../../kernel/text.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersionOrNone, type Write } from '../../table/write.ts';
import type { TokenKind } from './device.ts';
import { BASE64 } from './registration.ts';

/**
 * The tokens with which older clients ask for notifications that are not encrypted (companion facts 3.11). Nothing is sent
 * to them (docs/LIMITS.md), so only digests are kept, to know a token again.
 */
export interface LegacyTokens {
  /** Kind and digest of each, newest last. */
  readonly tokens: readonly string[];
  /** Incremented by each change, for optimistic locking. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    legacyTokens: LegacyTokens;
  }
}

/** Most tokens of one user: the oldest makes room for one more. */
export const MAX_LEGACY_TOKENS = 100;

const MAX_LENGTH = 4_096;

const NONE: LegacyTokens = { tokens: [], version: 0 };

const tokensKey = (realm: string, userId: number): Key<'legacyTokens'> =>
  key('legacyTokens', { realm, userId });

/** The tokens of a user. One round trip. */
export const loadLegacyTokens = async (table: Table, realm: string, userId: number): Promise<LegacyTokens> =>
  (await table.get(tokensKey(realm, userId))) ?? NONE;

/** How a token is kept. Throws `BAD_REQUEST` for one that no device can have. */
export function parseLegacyToken(kind: TokenKind, token: string): string {
  if (token === '' || token.length > MAX_LENGTH) {
    throw badRequest(`A token has 1 to ${MAX_LENGTH} characters.`);
  }
  if (kind === 'apns' && !BASE64.test(token)) throw badRequest('A token of Apple is base64.');
  return `${kind}:${sha256(token).toString('base64url')}`;
}

/** Refuses a token that the user does not have. */
export function checkHasToken({ tokens }: LegacyTokens, token: string): void {
  if (!tokens.includes(token)) throw badRequest('You have no device with this token.');
}

const doStore = (
  realm: string,
  userId: number,
  { version }: LegacyTokens,
  tokens: readonly string[],
): Write[] => [
  {
    put: tokensKey(realm, userId),
    item: { tokens, version: version + 1 },
    when: hasVersionOrNone(version),
  },
];

/** Adds a token; no writes if the user has it. Fails if the tokens have changed since they were read. */
export const doAddLegacyToken = (
  realm: string,
  userId: number,
  before: LegacyTokens,
  token: string,
): Write[] =>
  before.tokens.includes(token)
    ? []
    : doStore(realm, userId, before, [...before.tokens, token].slice(-MAX_LEGACY_TOKENS));

/** Removes a token. Fails if the tokens have changed since they were read. */
export const doRemoveLegacyToken = (
  realm: string,
  userId: number,
  before: LegacyTokens,
  token: string,
): Write[] =>
  doStore(
    realm,
    userId,
    before,
    before.tokens.filter((each) => each !== token),
  );
