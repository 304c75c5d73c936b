import { expect, it } from 'vitest';
import { project } from '../checks.ts';
import { circles, fileImports, mutualPairs } from './imports.ts';
import { measures, readCode } from './measures.ts';

const code = await readCode(project);

it.each(measures.filter(({ held }) => held))('$name: at most $wanted', ({ wanted, count, list }) => {
  expect(count(code), list?.(code).join('\n')).toBeLessThanOrEqual(wanted);
});

it('the import graph includes type imports', () => {
  const graph = fileImports(
    new Map([
      ['a/one.ts', "import type { Two } from '../b/two.ts';\nexport { x } from './three.ts';"],
      ['a/three.ts', "import { join } from 'node:path';"],
      ['b/two.ts', "type One = import('../a/one.ts').One;"],
    ]),
  );
  expect([...(graph.get('a/one.ts') ?? [])]).toEqual(['b/two.ts', 'a/three.ts']);
  expect(circles(graph)).toEqual([['a/one.ts', 'b/two.ts']]);
  expect(mutualPairs(graph)).toEqual([['a/one.ts', 'b/two.ts']]);
});
