import { badRequest } from '../../kernel/errors.ts';
import { codePoints, folded } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { eventFor } from '../../log/slot.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';

/** Code points of a word. */
const MAX_WORD = 100;

/** Most alert words of one user, and most bytes of all (docs/LIMITS.md): they stand in the user's own item. */
export const MAX_WORDS = 100;
const MAX_BYTES = 3_000;

/** Words as a request may add them, trimmed and without blank ones. Throws `BAD_REQUEST` (companion facts 3.1). */
export function parseAlertWords(given: readonly string[]): string[] {
  const words = given.map((word) => word.trim()).filter((word) => word !== '');
  if (words.some((word) => codePoints(word) > MAX_WORD))
    throw badRequest(`An alert word has at most ${MAX_WORD} characters.`);
  return words;
}

/**
 * The user's words with these added. A word that they have in another spelling stays as it is; of several spellings in one
 * request the last one counts. Throws `BAD_REQUEST` if there are too many.
 */
export function checkAlertWords({ alertWords = [] }: User, added: readonly string[]): readonly string[] {
  const known = new Set(alertWords.map(folded));
  const fresh = new Map(added.filter((word) => !known.has(folded(word))).map((word) => [folded(word), word]));
  if (fresh.size === 0) return alertWords;
  const words = [...alertWords, ...fresh.values()];
  if (words.length > MAX_WORDS || Buffer.byteLength(words.join('')) > MAX_BYTES)
    throw badRequest(`You can have at most ${MAX_WORDS} alert words, of ${MAX_BYTES} bytes together.`);
  return words;
}

/** The user's words without these, in whatever case they are. */
export function withoutAlertWords({ alertWords = [] }: User, removed: readonly string[]): readonly string[] {
  const gone = new Set(removed.map(folded));
  return alertWords.filter((word) => !gone.has(folded(word)));
}

/** Stores the words and tells them to the user, even if nothing changed. Fails if they changed since they were read. */
export const doSetAlertWords = (
  realm: string,
  { userId, alertWords: before }: User,
  words: readonly string[],
): Change<{ alert_words: string[] }> => ({
  writes: [
    {
      update: key('user', { realm, userId }),
      change: { set: { alertWords: words } },
      when: { equals: { alertWords: before } },
      lastWriterWins: true,
    },
  ],
  entries: [eventFor({ users: [userId] }, { type: 'alert_words', alert_words: words })],
  result: { alert_words: [...words] },
});
