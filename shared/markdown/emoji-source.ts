import table from './emoji-names.json' with { type: 'json' };

/** The first code point of an emoji's code. */
const firstPoint = ([code]: readonly [string, ...unknown[]]): number => Number.parseInt(code, 16);

/**
 * Every built-in emoji, one on each line, by rising code point: its code, its name, its aliases. The table
 * `emoji-names.json` is the reference's public one, so that names and pickers of every client mean the same picture.
 *
 * A bundle does not carry this file: `infra/markdown-bundle.ts` puts its result there instead, compressed.
 */
export const emojiWords = (): string =>
  Object.entries(table.code_to_names)
    .sort((a, b) => firstPoint(a) - firstPoint(b))
    .map(([code, names]) => [code, ...names].join(' '))
    .join('\n');
