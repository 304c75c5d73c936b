import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markdownBundle, withDistances, withNumbers } from '../../infra/markdown-bundle.ts';
import { emojiLines } from '../../shared/markdown/emoji-source.ts';
import type * as emojiTable from '../../shared/markdown/emoji-table.ts';
import { extractReferences } from '../../shared/markdown/references.ts';
import { render } from '../../shared/markdown/render.ts';
import { hostileText } from '../support/hostile-text.ts';
import { KNOWN } from '../support/known-names.ts';

type Bundled = typeof emojiTable & { render: typeof render; extractReferences: typeof extractReferences };

let folder: string;
let bytes: number;
let bundled: Bundled;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'markdown-bundle-'));
  const outfile = join(folder, 'index.mjs');
  const modules = ['render', 'references', 'emoji-table'].map((name) => `export * from './${name}.ts';`);
  const result = await build({
    stdin: { contents: modules.join('\n'), resolveDir: join(import.meta.dirname, '../../shared/markdown') },
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    plugins: [markdownBundle()],
    metafile: true,
  });
  bytes = Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
  bundled = await import(pathToFileURL(outfile).href);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the Markdown part of a bundle', () => {
  it('fits the budget of functions that render (DESIGN 7)', () => {
    expect(bytes).toBeLessThanOrEqual(110_000);
  });

  it('has every emoji of the source', () => {
    for (const line of emojiLines().split('\n')) {
      const [code = '', ...names] = line.split(' ');
      expect(bundled.emojiName(code)).toBe(names[0]);
      for (const name of names) expect(bundled.emojiCode(name)).toBe(code);
    }
  });

  it('renders as the source does', () => {
    // Other named characters inside link targets are the one known difference; hostile texts have only the five.
    const sameNames = hostileText.filter((text) => !text.includes('&colon;'));
    fc.assert(
      fc.property(sameNames, (text) => {
        expect(bundled.render(text, KNOWN)).toEqual(render(text, KNOWN));
        expect(bundled.extractReferences(text)).toEqual(extractReferences(text));
      }),
      { numRuns: 500 },
    );
    expect(bundled.render('[a](/b?c=&lt;&amp;&quot;&gt;&apos;&#64;)', KNOWN)).toEqual(
      render('[a](/b?c=&lt;&amp;&quot;&gt;&apos;&#64;)', KNOWN),
    );
  });
});

describe('packing numbers as differences', () => {
  it('is reversed exactly', () => {
    const rising = fc
      .uniqueArray(fc.integer({ min: 1, max: 0x10ffff }))
      .map((numbers) => numbers.sort((a, b) => a - b))
      .map((numbers) => numbers.map((n) => `${n.toString(16).padStart(4, '0')}-200d beef a1`).join('\n'));
    fc.assert(
      fc.property(rising, (lines) => {
        expect(withNumbers(withDistances(lines))).toBe(lines);
      }),
    );
  });
});
