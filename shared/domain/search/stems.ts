import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** The tokenizer of the index: words come separated by spaces, and English endings are removed. */
export const TOKENIZER = 'porter ascii';

/** A word as FTS5 takes it in a query: a string, in which nothing is an operator. Words hold no quotes. */
export const quoted = (word: string): string => `"${word}"`;

/**
 * Which words of texts have the stem of a searched word. It asks the tokenizer of the index itself, in a table of its
 * own in memory, so that a text is judged exactly as it was indexed.
 */
export class Stems {
  readonly #searched: readonly string[];
  readonly #initials: ReadonlySet<string>;
  readonly #known = new Map<string, readonly string[]>();
  #table:
    | { readonly insert: StatementSync; readonly find: StatementSync; readonly database: DatabaseSync }
    | undefined;

  constructor(searched: readonly string[]) {
    this.#searched = searched;
    this.#initials = new Set(searched.map(initialOf));
  }

  /** Prepares for many words in one transaction. */
  learn(words: Iterable<string>): void {
    // An ending is all that a stem lacks of its word: words that begin differently have different stems.
    const unknown = [...new Set(words)].filter(
      (word) => !this.#known.has(word) && this.#initials.has(initialOf(word)),
    );
    if (unknown.length === 0) return;
    const { database, insert, find } = this.#open();
    database.exec('DELETE FROM words; BEGIN');
    for (const [i, word] of unknown.entries()) insert.run(i + 1, word);
    database.exec('COMMIT');
    const found = unknown.map((): string[] => []);
    for (const searched of this.#searched)
      for (const { id } of find.all(quoted(searched))) found[Number(id) - 1]?.push(searched);
    for (const [i, word] of unknown.entries()) this.#known.set(word, found[i] ?? []);
  }

  /** The searched words that have the same stem as this one. */
  of(word: string): readonly string[] {
    if (!this.#known.has(word)) this.learn([word]);
    return this.#known.get(word) ?? [];
  }

  #open() {
    if (this.#table) return this.#table;
    // Loaded when somebody searches: no other request needs it.
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    const database = new DatabaseSync(':memory:');
    database.exec(
      `CREATE VIRTUAL TABLE words USING fts5(word, content='', contentless_delete=1, detail=none, tokenize='${TOKENIZER}')`,
    );
    this.#table = {
      database,
      insert: database.prepare('INSERT INTO words(rowid, word) VALUES (?, ?)'),
      find: database.prepare('SELECT rowid AS id FROM words WHERE words MATCH ?'),
    };
    return this.#table;
  }
}

const initialOf = (word: string): string => word.slice(0, 1);
