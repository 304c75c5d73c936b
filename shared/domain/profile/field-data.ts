import { badRequest } from '../../kernel/errors.ts';
import { checkPrintable } from '../../kernel/printable.ts';
import { knownAccount } from './external-account.ts';
import { isLink } from './link.ts';
import { type Choice, type FieldData, fieldTypes } from './profile-field.ts';

/** `field_data` as it is sent: an object of texts, or of objects of texts (wire facts 6). */
export type SentData = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/**
 * Decides on what a field needs by its type (specification 4.4): dropdowns have choices, external accounts say which
 * they are, and for the others whatever is sent does not matter.
 *
 * @param before the choices that the dropdown has so far
 * @param version the version in which new choices come
 */
export function checkFieldData(
  type: number,
  sent: SentData,
  before: readonly Choice[],
  version: number,
): FieldData {
  if (type === fieldTypes.SELECT.id) return { choices: checkChoices(sent, before, version) };
  if (type === fieldTypes.EXTERNAL_ACCOUNT.id) return { account: checkAccount(sent) };
  return {};
}

const isBlank = (text: string): boolean => text.trim() === '';

function checkChoices(sent: SentData, before: readonly Choice[], version: number): Choice[] {
  const known = new Map(before.map((choice) => [choice.key, choice]));
  const choices = Object.entries(sent).map(([key, given]): Choice => {
    if (isBlank(key)) throw badRequest('The key of a choice must not be blank.');
    // The text of a choice may change; it is the key that people have chosen.
    return { key, ...checkChoice(given), since: known.get(key)?.since ?? version };
  });
  if (choices.length === 0) throw badRequest('A dropdown needs at least one choice.');
  if (new Set(choices.map(({ text }) => text)).size < choices.length) {
    throw badRequest('The choices of a dropdown must have different texts.');
  }
  return choices;
}

function checkChoice(given: SentData[string]): Pick<Choice, 'text' | 'order'> {
  const { text, order, ...others } = typeof given === 'string' ? {} : given;
  if (text === undefined || order === undefined || Object.keys(others).length > 0) {
    throw badRequest("A choice is an object with 'text' and 'order', and nothing else.");
  }
  if (isBlank(text) || isBlank(order))
    throw badRequest('The text and the order of a choice must not be blank.');
  checkPrintable('The text of a choice', text);
  return { text, order };
}

/** Where the name of an account stands in an address. */
const PLACE = '%(username)s';

function checkAccount({ subtype, url_pattern, ...others }: SentData): NonNullable<FieldData['account']> {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw badRequest("The data of an external account are 'subtype' and 'url_pattern', and nothing else.");
  }
  if (typeof subtype !== 'string' || isBlank(subtype)) {
    throw badRequest("The data of an external account need a 'subtype'.");
  }
  if (knownAccount(subtype)) return { subtype };
  if (subtype !== 'custom') throw badRequest('This kind of external account is not known; use "custom".');
  if (typeof url_pattern !== 'string') {
    throw badRequest("The data of a custom external account need a 'url_pattern'.");
  }
  if (url_pattern.split(PLACE).length !== 2) {
    throw badRequest(`'url_pattern' must have ${PLACE} in it, exactly once.`);
  }
  if (!isLink(url_pattern.replace(PLACE, 'username'))) {
    throw badRequest("'url_pattern' must make a valid address.");
  }
  return { subtype, url_pattern };
}
