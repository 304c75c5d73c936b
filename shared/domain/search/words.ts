import type { Message } from '../../log/message.ts';

/*
 * The words of a text, as the search index holds them and as a search asks for them. Both come from here, so that they
 * always agree.
 *
 * - A word is a run of letters, digits and marks. Everything else separates words, and so do tags of HTML.
 * - Case, width and accents of European letters do not matter.
 * - Chinese, Japanese, Korean, Thai and their like write sentences without spaces between words, so their characters
 *   count one by one: the index holds single characters and pairs, and a search finds any part of a sentence.
 * - The commonest English words are not indexed. Endings of English words are removed by the index (`stems.ts`).
 */

/** Longest word in the index, in UTF-16 units. Only the beginning of a longer one counts. */
const MAX_WORD = 64;

/** A character of a script that is written without spaces, or with particles attached (Korean), with its marks. */
const UNSPACED =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Tibetan}ーｰ]\\p{M}*';
const CHARACTERS = new RegExp(UNSPACED, 'gu');

/** Pieces of HTML: a tag or an entity, a run of characters of scripts without spaces, a word, or anything else. */
const PIECES = new RegExp(
  [
    `<(?:"[^"]*"|'[^']*'|[^'">])*>|&[#\\w]+;`,
    `(?<run>(?:${UNSPACED})+)`,
    `(?<word>(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{M}])+)`,
    '[^\\p{L}\\p{N}\\p{M}<&]+|[<&]',
  ].join('|'),
  'gu',
);

/** A piece of HTML. Only words and runs are text to search in. */
export interface Piece {
  readonly kind: 'word' | 'run' | 'other';
  readonly text: string;
}

/** Splits HTML, or escaped text. The pieces joined again are the same. */
export const piecesOf = (html: string): Piece[] =>
  [...html.matchAll(PIECES)].map(({ 0: text, groups }) => {
    const { word, run } = groups ?? {};
    return { text, kind: word !== undefined ? 'word' : run !== undefined ? 'run' : 'other' };
  });

const ACCENTS = /[\u0300-\u036f]/gu;
const NO_LETTERS = /[^\p{L}\p{N}\p{M}]/gu;

/**
 * A word or run without differences of case, width and accents. Marks of other scripts stay: they are letters there.
 * What it consists of are letters, digits and marks, so that the index takes it for one word.
 */
export const foldedWord = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .toLowerCase()
    .normalize('NFC')
    .replace(NO_LETTERS, '')
    .slice(0, MAX_WORD);

/** The characters of a run, each with its marks. */
export const charactersOf = (run: string): string[] => run.match(CHARACTERS) ?? [];

/** The pairs of characters of a run. The index holds them beside the characters; a search asks for them. */
export const pairsOf = (characters: readonly string[]): string[] =>
  characters.slice(1).map((character, i) => `${characters[i]}${character}`);

/** The words of HTML but for stop words, and its runs, all folded. */
export interface Words {
  readonly words: readonly string[];
  readonly runs: readonly (readonly string[])[];
}

export function wordsOf(html: string): Words {
  const pieces = piecesOf(html);
  return {
    words: pieces
      .filter(({ kind }) => kind === 'word')
      .map(({ text }) => foldedWord(text))
      .filter(isSearched),
    runs: pieces.filter(({ kind }) => kind === 'run').map(({ text }) => charactersOf(text).map(foldedWord)),
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as HTML. */
export const escaped = (text: string): string => text.replace(/[&<>"']/gu, (sign) => ENTITIES[sign] ?? sign);

/** The words of a message and of its topic. */
export function wordsOfMessage({ rendered, topic = '' }: Pick<Message, 'rendered' | 'topic'>): Words {
  const [content, title] = [wordsOf(rendered), wordsOf(escaped(topic))];
  return { words: [...content.words, ...title.words], runs: [...content.runs, ...title.runs] };
}

/** Whether a folded word is searched for: nobody searches for stop words. */
export const isSearched = (word: string): boolean => word !== '' && !stopWords.has(word);

/** What the index holds: each word once, and the characters and pairs of runs. */
export function indexedWords({ words, runs }: Words): Set<string> {
  const ofRuns = runs.flatMap((run) => [...run, ...pairsOf(run)]);
  return new Set([...words, ...ofRuns]);
}

/** Words that are too common to search for; `/register` lists them, so that clients know. */
export const stopWords: ReadonlySet<string> = new Set(
  (
    'i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself ' +
    'it its itself they them their theirs themselves what which who whom this that these those am is are was were be ' +
    'been being have has had having do does did doing a an the and but if or because as until while of at by for with ' +
    'about against between into through during before after above below to from up down in out on off over under ' +
    'again further then once here there when where why how all any both each few more most other some such no nor not ' +
    'only own same so than too very s t can will just don should now'
  ).split(' '),
);
