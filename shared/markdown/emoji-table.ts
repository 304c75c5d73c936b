import { emojiWords } from './emoji-source.ts';

interface Table {
  readonly codes: ReadonlyMap<string, string>;
  readonly words: ReadonlyMap<string, string>;
}

// Read on first use: most requests never meet an emoji, and reading it takes a millisecond or two.
let table: Table | undefined;

function read(): Table {
  const codes = new Map<string, string>();
  const words = new Map<string, string>();
  for (const [code, names] of emojiNames()) {
    words.set(code, names[0] ?? '');
    for (const name of names) codes.set(name, code);
  }
  return { codes, words };
}

/** Every built-in emoji: its code, then its name and its aliases, in the order of the codes. */
export const emojiNames = (): (readonly [code: string, names: readonly string[]])[] =>
  emojiWords()
    .split('\n')
    .map((line) => {
      const [code = '', ...names] = line.split(' ');
      return [code, names];
    });

/** Whether this is the name of an emoji that every Zulip client draws by itself. */
export const isBuiltInEmoji = (name: string): boolean => emojiCode(name) !== undefined;

/** The code of a built-in emoji as Zulip writes it (`1f642`, `1f1e9-1f1ea`), undefined for any other name. */
export function emojiCode(name: string): string | undefined {
  table ??= read();
  return table.codes.get(name);
}

/** The name that is shown for the code of a built-in emoji, undefined for any other code. */
export function emojiName(code: string): string | undefined {
  table ??= read();
  return table.words.get(code);
}
