import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });

/** About how many guesses an attacker needs who knows the texts `about` the person, such as their name. */
export const guessesFor = (password: string, about: readonly string[]): number =>
  estimator.check(password, about.flatMap(wordsOf)).guesses;

/** A text, its words, and its words as one. */
const wordsOf = (text: string): string[] => {
  const words = text.split(/[^\p{L}\p{N}]+/u);
  return [text, words.join(''), ...words].filter((word) => word.length > 2);
};
