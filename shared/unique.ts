/** Each number once, in rising order. */
export const uniqueSorted = (numbers: Iterable<number>): number[] =>
  [...new Set(numbers)].sort((a, b) => a - b);
