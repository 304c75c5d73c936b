import { brotliCompressSync, constants } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { emojiLines } from '../shared/markdown/emoji-source.ts';

/** Replaces the ascending hexadecimal numbers at the start of lines by their differences in base 36, which pack better. */
export function withDistances(lines: string): string {
  let last = 0;
  return lines.replace(/^[0-9a-f]+/gm, (hexadecimal) => {
    const distance = Number.parseInt(hexadecimal, 16) - last;
    last += distance;
    return distance.toString(36);
  });
}

/** Reverses `withDistances`. The bundle contains the text of this function, so it must not refer to anything else. */
export function withNumbers(lines: string): string {
  let last = 0;
  return lines.replace(/^[0-9a-z]+/gm, (distance) => {
    last += Number.parseInt(distance, 36);
    return last.toString(16).padStart(4, '0');
  });
}

/** Replaces `shared/markdown/emoji-source.ts` in a bundle: the same function with its result, compressed. */
const packedEmoji = (): string => {
  const quality = { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT };
  const packed = brotliCompressSync(withDistances(emojiLines()), { params: quality }).toString('base64');
  return `
    import { brotliDecompressSync } from 'node:zlib';
    const withNumbers = ${withNumbers};
    const packed = '${packed}';
    export const emojiLines = () => withNumbers(brotliDecompressSync(Buffer.from(packed, 'base64')).toString());
  `;
};

/** The five named characters that HTML itself needs. */
const FIVE_NAMES = `
  const characters = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" };
  export const decodeHTMLStrict = (text) => characters[text] ?? text;
`;

/** What finds addresses in a text. Ours does (`shared/markdown/link.ts`), and the parser only makes an instance. */
const NO_LINKIFY = 'export class LinkifyIt {}';

/** Classes of characters, which the parser's package spells out because it runs in old browsers too. */
const CLASSES = ['P', 'S', 'Z', 'Cc', 'Cf', 'Any']
  .map((name) => `export const ${name} = /\\p{${name}}/u;`)
  .join('\n');

/**
 * The files beside `index.mjs`, each with what it exports. A function loads them when it first needs them: for a text with
 * formulas, and for an organization with linkifiers.
 */
export const filesBeside: Readonly<Record<string, string>> = {
  'katex.mjs': "export { default } from 'katex';",
  'linkifiers.mjs': "export * from './shared/markdown/linkifier-engine.ts';",
};

/**
 * Makes functions that render Markdown small enough for their budget (DESIGN 7):
 *
 * - The names of emoji are compressed (24 KB); as JSON they take 64 KB.
 * - Of the two thousand names of HTML characters (24 KB) five stay. Our dialect does not decode character references in
 *   text, so the others are missing only inside the target of a link, where they are not written.
 * - The parser's own search for addresses (9 KB) is left out, and its classes of characters are the language's (5 KB).
 * - Addresses are shown as they were written, so what decodes them for show (1.3 KB) is left out.
 * - The typesetter of formulas (270 KB) and the engine of linkifiers (160 KB) are in files of their own, which most containers
 *   never load.
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
      build.onLoad({ filter: /[\\/]node_modules[\\/]linkify-it[\\/]build[\\/]index\.mjs$/ }, () => ({
        contents: NO_LINKIFY,
      }));
      build.onLoad({ filter: /[\\/]node_modules[\\/]uc\.micro[\\/]build[\\/]index\.mjs$/ }, () => ({
        contents: CLASSES,
      }));
      build.onLoad({ filter: /[\\/]node_modules[\\/]mdurl[\\/]lib[\\/]decode\.mjs$/ }, () => ({
        contents: 'export default (text) => text;',
      }));
      build.onResolve({ filter: /^katex$/ }, ({ kind }) =>
        kind === 'dynamic-import' ? { path: './katex.mjs', external: true } : undefined,
      );
      build.onResolve({ filter: /[\\/]linkifier-engine\.ts$/ }, ({ kind }) =>
        kind === 'dynamic-import' ? { path: './linkifiers.mjs', external: true } : undefined,
      );
    },
  };
}
