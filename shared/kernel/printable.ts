import { badRequest } from './errors.ts';
import { unprintableAt } from './folding.ts';

/** What is wrong with a line of text that has a character which cannot be shown, as a sentence; undefined if nothing. */
export function unprintableProblem(what: string, text: string): string | undefined {
  const position = unprintableAt(text);
  return position === undefined
    ? undefined
    : `${what} has a character at position ${position} that cannot be shown.`;
}

/**
 * Decides that a line of text that people read as a name has only characters that can be shown (wire facts 3.4).
 *
 * @param what how the refusal begins: `The topic`
 * @throws Refusal `BAD_REQUEST` with the position of the first other character
 */
export function checkPrintable(what: string, text: string): void {
  const problem = unprintableProblem(what, text);
  if (problem !== undefined) throw badRequest(problem);
}
