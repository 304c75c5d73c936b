import { expect, it } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import { operations } from './operations.ts';

it('has an operation for each endpoint, and none for another (issue 6)', () => {
  const measured = new Set(operations.map(({ endpoint }) => endpoint));
  expect([...measured].sort()).toEqual(endpoints.map(({ id }) => id).sort());
});

it('gives each operation a name of its own', () => {
  const names = operations.map(({ name }) => name);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});
