import { type Refusal, refusal } from '../../kernel/errors.ts';
import { firstCodePoints } from '../../kernel/folding.ts';
import { isOwner, type Standing } from '../permission/permission.ts';

/** How the request keeps messages for ever, as stored. */
const FOR_EVER = -1;

/** The longest retention, days: what comes of it is still a date. */
const MAX_DAYS = 1_000_000;

/**
 * How long a channel keeps its messages: days, -1 for ever, undefined as the organization says (wire facts 4.4).
 * Words are taken raw or as JSON text, since clients of both habits are about.
 */
export function checkRetention(given: string): number | undefined {
  const word = given.replace(/^"(.*)"$/, '$1');
  if (word === 'realm_default') return undefined;
  if (word === 'unlimited') return FOR_EVER;
  const days = /^\d+$/.test(given) ? Number(given) : 0;
  if (days < 1 || days > MAX_DAYS) {
    throw invalidWord('message_retention_days', given);
  }
  return days;
}

/**
 * The refusal of a value that is a word or an integer: clients are told an integer as such, anything else as the text that
 * they sent (`REQUEST_VARIABLE_INVALID`, wire facts 1.3).
 */
export function invalidWord(name: string, given: string): Refusal {
  const number = Number(given);
  const isInteger = /^-?\d+$/.test(given) && Number.isSafeInteger(number);
  return refusal('invalidParameter', { name, value: isInteger ? number : firstCodePoints(given, 100) });
}

/** Decides whether someone may give a channel a retention of its own: only owners may (wire facts 4.4). */
export function checkSettingRetention(who: Standing, retention: number | undefined): void {
  if (retention !== undefined && !isOwner(who)) throw refusal('notOwner');
}
