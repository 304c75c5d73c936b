import table from './emoji-names.json' with { type: 'json' };

/** The first code point of an emoji's code. */
const firstPoint = ([code]: readonly [string, ...unknown[]]): number => Number.parseInt(code, 16);

/**
 * Every built-in emoji, one per line, in ascending order of code point: its code, its name, its aliases. The table
 * `emoji-names.json` is the reference server's public one, so names mean the same emoji in every client.
 *
 * A bundle does not contain this file: `infra/markdown-bundle.ts` puts its compressed result there instead.
 */
export const emojiLines = (): string =>
  Object.entries(table.code_to_names)
    .sort((a, b) => firstPoint(a) - firstPoint(b))
    .map(([code, names]) => [code, ...names].join(' '))
    .join('\n');
