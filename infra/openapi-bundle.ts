import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { openApiText } from '../shared/openapi/document-text.ts';

/** One less than the highest, which takes three times as long (0.4 s, for which all bundles would wait) and saves 0.9 KB. */
const quality = { [constants.BROTLI_PARAM_QUALITY]: 10 };

/** The module that stands for `shared/openapi/document-text.ts` in a bundle: the same function, its work done. */
async function packedDocument(): Promise<string> {
  const packed = await promisify(brotliCompress)(openApiText(), { params: quality });
  return `
    import { brotliDecompressSync } from 'node:zlib';
    const packed = '${packed.toString('base64')}';
    let text;
    export const openApiText = () => (text ??= brotliDecompressSync(Buffer.from(packed, 'base64')).toString());
  `;
}

/** Puts the finished OpenAPI document into the bundle of the function that serves it, without its sources. */
export function openApiBundle(): Plugin {
  return {
    name: 'openapi-bundle',
    setup(build) {
      build.onLoad({ filter: /[\\/]shared[\\/]openapi[\\/]document-text\.ts$/ }, async () => ({
        contents: await packedDocument(),
      }));
    },
  };
}
