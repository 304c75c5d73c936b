import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { hashPassword, type Password, passwordRules } from '../../model/user/password.ts';

/**
 * Checks a new password. `about` are words that belong to the person, which are easy to guess.
 *
 * The estimate of its strength is loaded when it is needed: it comes with a list of 30,000 common passwords.
 *
 * @throws Refusal `BAD_REQUEST` if it is too short, too long or too weak
 */
async function checkNewPassword(password: string, about: readonly string[]): Promise<void> {
  const { minLength, maxLength, minGuesses } = passwordRules;
  const length = [...password].length;
  if (length < minLength) throw badRequest(`A password has at least ${minLength} characters.`);
  if (length > maxLength) throw badRequest(`A password has at most ${maxLength} characters.`);
  const { guessesFor } = await import('./password-strength.ts');
  if (guessesFor(password, about) < minGuesses)
    throw badRequest('This password is too easy to guess; choose a longer or less common one.');
}

/** Checks a new password, and hashes it for storage. Throws as `checkNewPassword`. */
export async function newPassword(
  { now, passwordCost }: Pick<Outside, 'now' | 'passwordCost'>,
  password: string,
  about: readonly string[],
): Promise<Password> {
  await checkNewPassword(password, about);
  return { hash: await hashPassword(password, passwordCost), changed: Math.floor(now() / 1000) };
}
