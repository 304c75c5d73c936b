import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import { coverageOf, withAbsentList } from './coverage.ts';

test('every declared endpoint has a line in the list, and only those that are not absent are declared', () => {
  expect(coverageOf().errors).toEqual([]);
});

test('what does not fit is named', () => {
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

test('the README says what is not there (npm run api-coverage)', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  expect(withAbsentList(readme, coverageOf())).toBe(readme);
});
