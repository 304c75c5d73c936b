import { gemoji } from 'gemoji';
import { ZULIP_EMOJI } from './zulip-emoji.ts';

/** A picture's code as Zulip writes it: its code points in lower-case hexadecimal, without the variation selector. */
function codeOf(emoji: string): string {
  const points = [...emoji].map((character) => (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0'));
  return points.filter((point) => point !== 'fe0f').join('-');
}

/**
 * Every built-in emoji, one a line, by rising code point: its code, the word that is shown for it, its other words. Zulip's words come
 * first and win; the GitHub words of the `gemoji` package follow where they do not mean another picture to Zulip.
 *
 * The bundle does not carry this file: `infra/markdown-bundle.ts` puts its result there instead, compressed, because
 * the package with its descriptions is twenty times as large.
 */
export function emojiWords(): string {
  const zulip = new Map(
    ZULIP_EMOJI.trim()
      .split(/,\s+/)
      .map((entry) => entry.split(' '))
      .map(([code = '', ...words]) => [code, words]),
  );
  const taken = new Set([...zulip.values()].flat());
  const lines = gemoji.map(({ emoji, names }) => {
    const code = codeOf(emoji);
    return [code, ...(zulip.get(code) ?? []), ...names.filter((name) => !taken.has(name))];
  });
  const firstPoint = (words: readonly string[]): number => Number.parseInt(words[0] ?? '', 16);
  return lines
    .filter((words) => words.length > 1)
    .sort((a, b) => firstPoint(a) - firstPoint(b))
    .map((words) => words.join(' '))
    .join('\n');
}
