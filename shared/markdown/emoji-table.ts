import { emojiLines } from './emoji-source.ts';

interface Table {
  readonly codes: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
}

// Parsed on first use: most requests have no emoji, and parsing takes a millisecond or two.
let parsed: Table | undefined;

function table(): Table {
  if (parsed) return parsed;
  const all = emojiNames();
  const codes = new Map(all.flatMap(([code, names]) => names.map((name) => [name, code] as const)));
  parsed = { codes, names: new Map(all.map(([code, [name = '']]) => [code, name])) };
  return parsed;
}

/** Every built-in emoji in ascending order of code: the code, then the name and its aliases. */
export const emojiNames = (): (readonly [code: string, names: readonly string[]])[] =>
  emojiLines()
    .split('\n')
    .map((line) => {
      const [code = '', ...names] = line.split(' ');
      return [code, names];
    });

/** Whether this is the name of an emoji that every Zulip client can draw. */
export const isBuiltInEmoji = (name: string): boolean => emojiCode(name) !== undefined;

/** The code of a built-in emoji as Zulip writes it (`1f642`, `1f1e9-1f1ea`), undefined for any other name. */
export const emojiCode = (name: string): string | undefined => table().codes.get(name);

/** The name that is shown for the code of a built-in emoji, undefined for any other code. */
export const emojiName = (code: string): string | undefined => table().names.get(code);
