import { brotliCompressSync, constants } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { emojiWords } from '../shared/markdown/emoji-source.ts';

/** Lines that begin with rising hexadecimal numbers, each number but the first replaced by its distance in base 36. */
export function withDistances(lines: string): string {
  let last = 0;
  return lines.replace(/^[0-9a-f]+/gm, (hexadecimal) => {
    const distance = Number.parseInt(hexadecimal, 16) - last;
    last += distance;
    return distance.toString(36);
  });
}

/** The reverse of `withDistances`. The bundle gets the text of this function, so it must not refer to anything else. */
export function withNumbers(lines: string): string {
  let last = 0;
  return lines.replace(/^[0-9a-z]+/gm, (distance) => {
    last += Number.parseInt(distance, 36);
    return last.toString(16).padStart(4, '0');
  });
}

/** The module that stands for `shared/markdown/emoji-source.ts` in a bundle: the same function, its work done. */
const packedEmoji = (): string => {
  const quality = { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT };
  const packed = brotliCompressSync(withDistances(emojiWords()), { params: quality }).toString('base64');
  return `
    import { brotliDecompressSync } from 'node:zlib';
    const withNumbers = ${withNumbers};
    const packed = '${packed}';
    export const emojiWords = () => withNumbers(brotliDecompressSync(Buffer.from(packed, 'base64')).toString());
  `;
};

/** The five named characters that HTML itself needs. */
const FIVE_NAMES = `
  const characters = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" };
  export const decodeHTMLStrict = (text) => characters[text] ?? text;
`;

/**
 * Makes functions that render Markdown small enough for their budget (DESIGN 7):
 *
 * - The names of emoji are carried compressed (24 KB); as JSON they are 64 KB.
 * - Of the two thousand names of HTML characters (24 KB) five stay. Our dialect hands character references in text on
 *   undecoded, so all that is lost are the others' names inside the target of a link, where nobody writes them.
 */
export function markdownBundle(): Plugin {
  return {
    name: 'markdown-bundle',
    setup(build) {
      build.onLoad({ filter: /[\\/]shared[\\/]markdown[\\/]emoji-source\.ts$/ }, () => ({
        contents: packedEmoji(),
      }));
      build.onLoad({ filter: /[\\/]node_modules[\\/]entities[\\/]dist[\\/]index\.js$/ }, () => ({
        contents: FIVE_NAMES,
      }));
    },
  };
}
