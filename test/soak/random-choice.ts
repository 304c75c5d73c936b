import { randomFrom } from '../support/random.ts';

/** Numbers between 0 and 1. */
export type Random = () => number;

/** Random numbers for a part of a soak: always the same for the same seed and name. */
export function randomOf(seed: number, name: string): Random {
  let mixed = seed;
  for (const letter of name) mixed = (Math.imul(mixed, 31) + letter.charCodeAt(0)) | 0;
  const random = randomFrom(mixed);
  // The first numbers of seeds that are near each other are near each other too.
  for (let i = 0; i < 20; i++) random();
  return random;
}

/** One of a list that is not empty. */
export const pick = <T>(random: Random, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T;
