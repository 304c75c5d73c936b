import { badRequest } from '../../kernel/errors.ts';
import { checkPrintable, codePoints } from '../../kernel/folding.ts';
import { limits } from '../../model/realm/realm.ts';
import {
  type Choice,
  type FieldData,
  type FieldType,
  fieldObjects,
  fieldTypes,
  isLink,
  knownAccount,
  type NewField,
  type ProfileField,
  type ProfileFields,
} from './field.ts';

/** What a request says of a field, in the words of the wire. */
export interface AskedField {
  readonly name?: string;
  readonly hint?: string;
  readonly field_data?: SentData;
  readonly display_in_profile_summary?: boolean;
  readonly required?: boolean;
  readonly editable_by_user?: boolean;
  readonly use_for_user_matching?: boolean;
}

/** Most bytes of all fields together: each of their events tells all of them, and is one item of the table. */
const MAX_BYTES = 100_000;

/** The field with this id, or a refusal. */
export function accessField(fieldId: number, { fields }: ProfileFields): ProfileField {
  const field = fields.find((each) => each.fieldId === fieldId);
  if (field === undefined) throw badRequest(`There is no custom profile field with the ID ${fieldId}.`);
  return field;
}

/** Decides on a new field (specification 4.4), in the order of wire facts 6. */
export function checkNewField(type: number, asked: AskedField, all: ProfileFields): NewField {
  if (asked.display_in_profile_summary) checkSummaryHasRoom(all);
  const data = checkFieldData(type, asked.field_data ?? {}, [], all.version + 1);
  const label = checkLabel(asked, data, '');
  const field = {
    ...data,
    type: checkType(type),
    hint: label.hint,
    inSummary: asked.display_in_profile_summary ?? false,
    required: asked.required ?? false,
    editableByUser: asked.editable_by_user ?? true,
    forMatching: asked.use_for_user_matching ?? false,
  };
  checkUses(field);
  const name = label.name ?? freeName(field.type, all);
  checkNameIsFree(name, all.fields);
  checkSize([...all.fields, { ...field, name, fieldId: Number.MAX_SAFE_INTEGER }]);
  return { ...field, name };
}

/** Decides on a change of a field, and tells what the fields are after it (the rules of specification 4.4). */
export function checkFieldEdit(
  fieldId: number,
  asked: AskedField,
  all: ProfileFields,
): readonly ProfileField[] {
  const before = accessField(fieldId, all);
  const { choices = [], account } = before;
  if (asked.display_in_profile_summary && !before.inSummary) checkSummaryHasRoom(all);
  const data =
    asked.field_data === undefined
      ? { ...(before.choices && { choices }), ...(account && { account }) }
      : checkFieldData(before.type, asked.field_data, choices, all.version + 1);
  if (account && knownAccount(account.subtype)) checkIsKept(before, asked, data);
  const after: ProfileField = {
    fieldId,
    type: before.type,
    ...data,
    name: before.name,
    ...checkLabel(asked, data, before.hint),
    inSummary: asked.display_in_profile_summary ?? before.inSummary,
    required: asked.required ?? before.required,
    editableByUser: asked.editable_by_user ?? before.editableByUser,
    forMatching: asked.use_for_user_matching ?? before.forMatching,
  };
  checkUses(after);
  checkNameIsFree(
    after.name,
    all.fields.filter((field) => field !== before),
  );
  const fields = all.fields.map((field) => (field === before ? after : field));
  checkSize(fields);
  return fields;
}

/** Tells the fields without one of them, or refuses. */
export function checkFieldRemoval(fieldId: number, all: ProfileFields): readonly ProfileField[] {
  const field = accessField(fieldId, all);
  return all.fields.filter((each) => each !== field);
}

/** Decides whether these are the ids of all fields, each once, and tells the fields in that order. */
export function checkFieldOrder(order: readonly number[], all: ProfileFields): readonly ProfileField[] {
  if (order.length !== all.fields.length || new Set(order).size !== order.length) {
    throw badRequest("'order' must name each custom profile field once.");
  }
  return order.map((fieldId) => accessField(fieldId, all));
}

/** At most two fields are in the summary of profiles (specification 4.4, 8). */
function checkSummaryHasRoom({ fields }: ProfileFields): void {
  if (fields.filter(({ inSummary }) => inSummary).length >= limits.profileSummary) {
    throw badRequest(`At most ${limits.profileSummary} custom profile fields can be in the profile summary.`);
  }
}

/**
 * The name, where one is given, and the hint, which may stay as it was. An external account that everybody knows has
 * a name and a hint of its own, whatever is given (wire facts 6).
 */
function checkLabel(
  asked: AskedField,
  { account }: FieldData,
  before: string,
): { readonly name?: string; readonly hint: string } {
  const known = account && knownAccount(account.subtype);
  if (known) return { name: known.name, hint: known.hint };
  const hint = asked.hint ?? before;
  if (codePoints(hint) > limits.profileFieldHint) {
    throw badRequest(`The hint of a custom profile field has at most ${limits.profileFieldHint} characters.`);
  }
  checkPrintable('The hint of the custom profile field', hint);
  return { ...(asked.name !== undefined && { name: checkName(asked.name) }), hint };
}

function checkName(given: string): string {
  const name = given.trim();
  if (name === '') throw badRequest('The name of a custom profile field must not be blank.');
  if (codePoints(name) > limits.profileFieldName) {
    throw badRequest(`The name of a custom profile field has at most ${limits.profileFieldName} characters.`);
  }
  checkPrintable('The name of the custom profile field', name);
  return name;
}

function checkType(type: number): FieldType {
  const known = Object.values(fieldTypes).find(({ id }) => id === type);
  if (known === undefined) throw badRequest("'field_type' must be one of 1 to 8.");
  return known.id;
}

/** Not every type can be shown in the summary, nor used to find people (specification 4.4). */
function checkUses({ type, inSummary, forMatching }: Omit<NewField, 'name'>): void {
  if (inSummary && type === fieldTypes.USER.id) {
    throw badRequest('Fields of this type cannot be in the profile summary.');
  }
  if (forMatching && type !== fieldTypes.SHORT_TEXT.id && type !== fieldTypes.EXTERNAL_ACCOUNT.id) {
    throw badRequest('Fields of this type cannot be used to find people.');
  }
}

function checkNameIsFree(name: string, fields: readonly ProfileField[]): void {
  if (fields.some((field) => field.name === name)) {
    throw badRequest('There is already a custom profile field with this name.');
  }
}

/** A name may be left out (specification 4.4): the field is then called what it is, with a number if it must be. */
function freeName(type: FieldType, { fields }: ProfileFields): string {
  const base = Object.values(fieldTypes).find(({ id }) => id === type)?.name ?? '';
  const taken = new Set(fields.map(({ name }) => name));
  for (let name = base, n = 2; ; name = `${base} ${n++}`) if (!taken.has(name)) return name;
}

/** An account that everybody knows stays what it is (wire facts 6); it may only be used otherwise. */
function checkIsKept(before: ProfileField, asked: AskedField, data: FieldData): void {
  const isKept =
    (asked.name?.trim() ?? before.name) === before.name &&
    (asked.hint ?? before.hint) === before.hint &&
    data.account?.subtype === before.account?.subtype;
  if (!isKept) throw badRequest('The name, hint and data of this external account are fixed.');
}

function checkSize(fields: readonly ProfileField[]): void {
  if (Buffer.byteLength(JSON.stringify(fieldObjects(fields))) > MAX_BYTES) {
    throw badRequest('The custom profile fields are too large together: shorten choices, or remove fields.');
  }
}

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
