import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import { coverageOf, withAbsentList } from './coverage.ts';

test('every declared endpoint is in the list, and no absent one is declared', () => {
  expect(coverageOf().errors).toEqual([]);
});

test('the check names each mismatch', () => {
  const [first = expect.fail('no endpoint'), second = expect.fail('no second one')] = endpoints;
  const routeOf = ({ method, path }: typeof first) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`;
  const api = [first, second];
  const list = { 'GET /gone': 'offered', [routeOf(second)]: { absent: 'too hard' } } as const;
  expect(coverageOf(list, api, api).errors).toEqual([
    `${routeOf(first)} has no line`,
    'GET /gone is not declared',
    `${routeOf(second)} is declared`,
  ]);
});

test('the README lists the missing endpoints (npm run api-coverage)', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  expect(withAbsentList(readme, coverageOf())).toBe(readme);
});
