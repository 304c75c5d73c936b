/** Cuts a list into lists of at most `size` items. */
export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

/** Each number once, in rising order. */
export const uniqueSorted = (numbers: Iterable<number>): number[] =>
  [...new Set(numbers)].sort((a, b) => a - b);
