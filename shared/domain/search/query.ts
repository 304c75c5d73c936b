import { folded } from '../../kernel/text.ts';
import { escaped, pairsOf, wordsOf } from './words.ts';

/** What a message must hold. */
export interface Wanted {
  /** Folded words, which are compared by their stems. */
  readonly words: readonly string[];
  /** Characters of scripts without spaces, which must follow each other. */
  readonly runs: readonly (readonly string[])[];
  /** Folded texts that must stand as they are in the Markdown of the message, or in its topic. */
  readonly phrases: readonly string[];
}

/** A parsed search (companion facts 1.15). */
export interface Query extends Wanted {
  /** A message that holds all of one of these does not match. */
  readonly without: readonly Wanted[];
}

/** A part of a search: a word or a quoted phrase, perhaps with a minus before it. A quote that is never closed is none. */
const PARTS = /(-?)"([^"]+)"|(\S+)/gu;

/** Parses what somebody searches for. Every text is a search: what is neither a word nor a phrase is ignored. */
export function parseQuery(text: string): Query {
  const positive: Wanted[] = [];
  const without: Wanted[] = [];
  for (const [, minus, phrase, word = ''] of text.matchAll(PARTS)) {
    const isNegative = phrase === undefined ? word.startsWith('-') : minus === '-';
    const part = wantedIn(phrase ?? word, phrase);
    if (!isNegative) positive.push(part);
    else if (!isEmpty(part)) without.push(part);
  }
  return {
    words: [...new Set(positive.flatMap(({ words }) => words))],
    runs: positive.flatMap(({ runs }) => runs),
    phrases: [...new Set(positive.flatMap(({ phrases }) => phrases))],
    without,
  };
}

function wantedIn(text: string, phrase: string | undefined): Wanted {
  return { ...wordsOf(escaped(text)), phrases: phrase === undefined ? [] : [folded(phrase)] };
}

const isEmpty = ({ words, runs }: Wanted): boolean => words.length === 0 && runs.length === 0;

/** Whether there is anything to find. A search for stop words and punctuation only finds nothing. */
export const hasWords = (query: Query): boolean => !isEmpty(query);

/** Most words that the index is asked for. Of a longer search the longest words are probably the rarest. */
const MAX_ASKED = 24;

/** The words that the index is asked for: each message that matches has all of them. */
export function askedWords({ words, runs }: Query): string[] {
  const ofRuns = runs.flatMap((run) => (run.length === 1 ? run : pairsOf(run)));
  return [...new Set([...words, ...ofRuns])].sort((a, b) => b.length - a.length).slice(0, MAX_ASKED);
}
