import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the reference page. */
export interface ReferenceFile {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Every file of the page, with its media type: our own, and those of Swagger UI. */
const types: ReadonlyMap<string, string> = new Map([
  ['page.js', SCRIPT],
  ['page.css', CSS],
  ['swagger-ui-bundle.js', SCRIPT],
  ['swagger-ui.css', CSS],
  ['favicon-32x32.png', 'image/png'],
]);

/** The names of all files. */
export const referenceFiles: readonly string[] = [...types.keys()];

/** Reads a file of the page; undefined if it has none of this name. No other name ever becomes part of a path. */
export async function loadReferenceFile(name: string): Promise<ReferenceFile | undefined> {
  const contentType = types.get(name);
  if (contentType === undefined) return undefined;
  return { contentType, bytes: await readFile(placeOf(name)) };
}

/** Where a file is: beside the bundle of a function they all are, here Swagger UI is a package. */
export function placeOf(name: string): string {
  const own = join(import.meta.dirname, 'reference', name);
  if (existsSync(own)) return own;
  return join(dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json'))), name);
}

/** What the page may do: run and show what comes from here, call the API, and show images that it answers with. */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The page: Swagger UI shows the OpenAPI document, and calls the API.
 *
 * @param root what comes before every path: nothing, or at API Gateway's own address the name of the stage
 */
export const referencePage = (root: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parlance API reference</title>
<link rel="icon" type="image/png" sizes="32x32" href="${root}/api/reference/favicon-32x32.png">
<link rel="stylesheet" href="${root}/api/reference/swagger-ui.css">
<link rel="stylesheet" href="${root}/api/reference/page.css">
</head>
<body>
<main id="reference">
<noscript>This page needs JavaScript; programs read <a href="${root}/api/v1/openapi.json">openapi.json</a>.</noscript>
</main>
<script src="${root}/api/reference/swagger-ui-bundle.js"></script>
<script src="${root}/api/reference/page.js"></script>
</body>
</html>
`;
