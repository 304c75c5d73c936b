import { folded } from '../../kernel/text.ts';
import type { Message } from '../../log/message.ts';
import { hasWords, type Query, type Wanted } from './query.ts';
import { Stems } from './stems.ts';
import { charactersOf, foldedWord, isSearched, piecesOf, type Words, wordsOfMessage } from './words.ts';

type Text = Pick<Message, 'content' | 'rendered' | 'topic'>;

/** Decides whether messages match a query by their present text, and marks what matched in it. */
export class Judge {
  readonly #query: Query;
  readonly #stems: Stems;
  readonly #marked: ReadonlySet<string>;

  constructor(query: Query) {
    this.#query = query;
    this.#stems = new Stems([query, ...query.without].flatMap(({ words }) => words));
    this.#marked = new Set(query.words);
  }

  /** Those of the messages that match. A query that asks for nothing and excludes nothing matches none. */
  matching<T extends Text>(messages: readonly T[]): T[] {
    const { without } = this.#query;
    if (!hasWords(this.#query) && without.length === 0) return [];
    const texts = messages.map(wordsOfMessage);
    this.#stems.learn(texts.flatMap(({ words }) => words));
    return messages.filter((message, i) => {
      const text = texts[i] ?? wordsOfMessage(message);
      return (
        this.#holds(message, text, this.#query) && !without.some((one) => this.#holds(message, text, one))
      );
    });
  }

  #holds({ content, topic = '' }: Text, text: Words, { words, runs, phrases }: Wanted): boolean {
    const stems = new Set(text.words.flatMap((word) => this.#stems.of(word)));
    return (
      words.every((word) => stems.has(word)) &&
      runs.every((run) => text.runs.some((each) => placesOf(run, each).length > 0)) &&
      phrases.every((phrase) => [content, topic].some((each) => folded(each).includes(phrase)))
    );
  }

  /** HTML with the matches marked, never inside a tag (companion facts 1.15). */
  highlight(html: string): string {
    const pieces = piecesOf(html);
    this.#stems.learn(pieces.filter(({ kind }) => kind === 'word').map(({ text }) => foldedWord(text)));
    return pieces
      .map(({ kind, text }) => {
        if (kind === 'run') return this.#highlightRun(text);
        return kind === 'word' && this.#isFound(foldedWord(text)) ? mark(text) : text;
      })
      .join('');
  }

  #isFound(word: string): boolean {
    return isSearched(word) && this.#stems.of(word).some((searched) => this.#marked.has(searched));
  }

  #highlightRun(text: string): string {
    const characters = charactersOf(text);
    const run = characters.map(foldedWord);
    const isFound = run.map(() => false);
    for (const wanted of this.#query.runs)
      for (const start of placesOf(wanted, run)) isFound.fill(true, start, start + wanted.length);
    let html = '';
    for (let i = 0, end = 0; i < characters.length; i = end) {
      while (end < characters.length && isFound[end] === isFound[i]) end++;
      const part = characters.slice(i, end).join('');
      html += isFound[i] ? mark(part) : part;
    }
    return html;
  }
}

const mark = (text: string): string => `<span class="highlight">${text}</span>`;

/** Where one run stands in another. */
function placesOf(wanted: readonly string[], run: readonly string[]): number[] {
  return run.flatMap((_, start) =>
    wanted.every((character, i) => run[start + i] === character) ? [start] : [],
  );
}
