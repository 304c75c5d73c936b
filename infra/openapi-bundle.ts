import { brotliCompressSync } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { openApiText } from '../shared/openapi/document-text.ts';

/** The module that stands for `shared/openapi/document-text.ts` in a bundle: the same function, its work done. */
const packedDocument = (): string => `
  import { brotliDecompressSync } from 'node:zlib';
  const packed = '${brotliCompressSync(openApiText()).toString('base64')}';
  let text;
  export const openApiText = () => (text ??= brotliDecompressSync(Buffer.from(packed, 'base64')).toString());
`;

/** Puts the finished OpenAPI document into the bundle of the function that serves it, without its sources. */
export function openApiBundle(): Plugin {
  return {
    name: 'openapi-bundle',
    setup(build) {
      build.onLoad({ filter: /[\\/]shared[\\/]openapi[\\/]document-text\.ts$/ }, () => ({
        contents: packedDocument(),
      }));
    },
  };
}
