import { expect, it } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import { operations } from './operations.ts';

it('every endpoint has an operation, and every operation an endpoint', () => {
  const measured = new Set(operations.map(({ endpoint }) => endpoint));
  expect([...measured].sort()).toEqual(endpoints.map(({ id }) => id).sort());
});

it('every operation has a name of its own', () => {
  const names = operations.map(({ name }) => name);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});
