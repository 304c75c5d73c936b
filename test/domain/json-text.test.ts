import { expect, test } from 'vitest';
import { isWithin } from '../../shared/kernel/text.ts';

const bounds = { depth: 3, values: 5 };

test.each([
  ['[[[1]]]', true],
  ['[[[[1]]]]', false],
  ['{"a":{"b":[1]}}', true],
  ['{"a":{"b":[{}]}}', false],
  ['[1,2,3,4,5]', true],
  ['[1,2,3,4,5,6]', false],
  ['{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}', false],
  ['[[],[],[],[]]', false],
  ['"[[[[,,,,,,,,"', true],
  ['["\\"[[[[,,,,,,,,\\\\"]', true],
  ['["\\\\",1,2,3,4,5]', false],
  ['', true],
])('%s is within bounds: %s', (text, within) => {
  expect(isWithin(text, bounds)).toBe(within);
});
