import { badRequest } from '../../kernel/errors.ts';
import { checkPrintable, codePoints } from '../../kernel/text.ts';
import { limits } from '../../model/realm/realm.ts';
import {
  builtInAccount,
  type Choice,
  type FieldData,
  type FieldType,
  fieldObjects,
  fieldTypes,
  isLink,
  type NewField,
  type ProfileField,
  type ProfileFields,
} from './field.ts';

/** The parameters of a field. */
interface FieldInput {
  readonly name?: string;
  readonly hint?: string;
  readonly field_data?: SentData;
  readonly display_in_profile_summary?: boolean;
  readonly required?: boolean;
  readonly editable_by_user?: boolean;
  readonly use_for_user_matching?: boolean;
}

/** Most bytes of all fields together: each event has all of them, in one item of the table. */
const MAX_BYTES = 100_000;

/** Returns the field with this id, or refuses. */
export function accessField(fieldId: number, { fields }: ProfileFields): ProfileField {
  const field = fields.find((each) => each.fieldId === fieldId);
  if (field === undefined) throw badRequest(`There is no custom profile field with the ID ${fieldId}.`);
  return field;
}

/** Checks a new field (specification 4.4), in the order of wire facts 6. */
export function checkNewField(type: number, asked: FieldInput, all: ProfileFields): NewField {
  if (asked.display_in_profile_summary) checkSummaryHasRoom(all);
  const data = checkFieldData(type, asked.field_data ?? {}, [], all.version + 1);
  const label = checkLabel(asked, data, '');
  const field = {
    ...data,
    type: checkType(type),
    hint: label.hint,
    ...flagsOf(asked, { inSummary: false, required: false, editableByUser: true, forMatching: false }),
  };
  checkUses(field);
  const name = label.name ?? freeName(field.type, all);
  checkFields([...all.fields, { ...field, name, fieldId: Number.MAX_SAFE_INTEGER }]);
  return { ...field, name };
}

/** Checks a change of a field (specification 4.4). Returns all fields after it. */
export function checkFieldEdit(
  fieldId: number,
  asked: FieldInput,
  all: ProfileFields,
): readonly ProfileField[] {
  const before = accessField(fieldId, all);
  const { choices, account, ...kept } = before;
  if (asked.display_in_profile_summary && !before.inSummary) checkSummaryHasRoom(all);
  const data =
    asked.field_data === undefined
      ? { ...(choices && { choices }), ...(account && { account }) }
      : checkFieldData(before.type, asked.field_data, choices ?? [], all.version + 1);
  if (account && builtInAccount(account.subtype)) checkIsKept(before, asked, data);
  const label = checkLabel(asked, data, before.hint);
  const after: ProfileField = { ...kept, ...data, ...label, ...flagsOf(asked, before) };
  checkUses(after);
  const fields = all.fields.map((field) => (field === before ? after : field));
  checkFields(fields);
  return fields;
}

/** The flags of a field after a request that may set some of them. */
const flagsOf = (
  asked: FieldInput,
  before: Pick<ProfileField, 'inSummary' | 'required' | 'editableByUser' | 'forMatching'>,
) => ({
  inSummary: asked.display_in_profile_summary ?? before.inSummary,
  required: asked.required ?? before.required,
  editableByUser: asked.editable_by_user ?? before.editableByUser,
  forMatching: asked.use_for_user_matching ?? before.forMatching,
});

/** Returns the fields without one of them, or refuses. */
export function checkFieldRemoval(fieldId: number, all: ProfileFields): readonly ProfileField[] {
  const field = accessField(fieldId, all);
  return all.fields.filter((each) => each !== field);
}

/** Checks that `order` has the id of each field once. Returns the fields in that order. */
export function checkFieldOrder(order: readonly number[], all: ProfileFields): readonly ProfileField[] {
  if (order.length !== all.fields.length || new Set(order).size !== order.length) {
    throw badRequest("'order' must name each custom profile field once.");
  }
  return order.map((fieldId) => accessField(fieldId, all));
}

/** At most two fields can be in the summary (specification 4.4, 8). */
function checkSummaryHasRoom({ fields }: ProfileFields): void {
  if (fields.filter(({ inSummary }) => inSummary).length >= limits.profileSummary) {
    throw badRequest(`At most ${limits.profileSummary} custom profile fields can be in the profile summary.`);
  }
}

/** The name, if it changes, and the hint. A built-in external account has a fixed name and hint (wire facts 6). */
function checkLabel(
  asked: FieldInput,
  { account }: FieldData,
  before: string,
): { readonly name?: string; readonly hint: string } {
  const known = account && builtInAccount(account.subtype);
  if (known) return { name: known.name, hint: known.hint };
  const hint = asked.hint ?? before;
  checkText('hint', hint, limits.profileFieldHint);
  if (asked.name === undefined) return { hint };
  const name = asked.name.trim();
  if (name === '') throw badRequest('The name of a custom profile field must not be blank.');
  checkText('name', name, limits.profileFieldName);
  return { name, hint };
}

function checkText(what: 'name' | 'hint', text: string, most: number): void {
  if (codePoints(text) > most) {
    throw badRequest(`The ${what} of a custom profile field has at most ${most} characters.`);
  }
  checkPrintable(`The ${what} of the custom profile field`, text);
}

function checkType(type: number): FieldType {
  const known = Object.values(fieldTypes).find(({ id }) => id === type);
  if (known === undefined) throw badRequest("'field_type' must be one of 1 to 8.");
  return known.id;
}

/** Not every type can be in the summary or be used to find users (specification 4.4). */
function checkUses({ type, inSummary, forMatching }: Omit<NewField, 'name'>): void {
  if (inSummary && type === fieldTypes.USER.id) {
    throw badRequest('Fields of this type cannot be in the profile summary.');
  }
  if (forMatching && type !== fieldTypes.SHORT_TEXT.id && type !== fieldTypes.EXTERNAL_ACCOUNT.id) {
    throw badRequest('Fields of this type cannot be used to find people.');
  }
}

/** A field without a name (specification 4.4) is called like its type, with a number if that is taken. */
function freeName(type: FieldType, { fields }: ProfileFields): string {
  const base = Object.values(fieldTypes).find(({ id }) => id === type)?.name ?? '';
  const taken = new Set(fields.map(({ name }) => name));
  for (let name = base, n = 2; ; name = `${base} ${n++}`) if (!taken.has(name)) return name;
}

/** A built-in external account cannot change its name, hint and data (wire facts 6). */
function checkIsKept(before: ProfileField, asked: FieldInput, data: FieldData): void {
  const isKept =
    (asked.name?.trim() ?? before.name) === before.name &&
    (asked.hint ?? before.hint) === before.hint &&
    data.account?.subtype === before.account?.subtype;
  if (!isKept) throw badRequest('The name, hint and data of this external account are fixed.');
}

/** Checks all fields together. */
function checkFields(fields: readonly ProfileField[]): void {
  if (new Set(fields.map(({ name }) => name)).size < fields.length) {
    throw badRequest('There is already a custom profile field with this name.');
  }
  if (Buffer.byteLength(JSON.stringify(fieldObjects(fields))) > MAX_BYTES) {
    throw badRequest('The custom profile fields are too large in total: shorten choices, or remove fields.');
  }
}

/** `field_data` as parsed: an object of texts, or of objects of texts (wire facts 6). */
type SentData = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/**
 * Checks the data of a field by its type (specification 4.4): dropdowns have choices, external accounts a kind; other
 * types ignore it.
 *
 * @param before the current choices of the dropdown
 * @param version the version of the fields that adds new choices
 */
function checkFieldData(type: number, sent: SentData, before: readonly Choice[], version: number): FieldData {
  if (type === fieldTypes.SELECT.id) return { choices: checkChoices(sent, before, version) };
  if (type === fieldTypes.EXTERNAL_ACCOUNT.id) return { account: checkAccount(sent) };
  return {};
}

const isBlank = (text: string): boolean => text.trim() === '';

function checkChoices(sent: SentData, before: readonly Choice[], version: number): Choice[] {
  const known = new Map(before.map((choice) => [choice.key, choice]));
  const choices = Object.entries(sent).map(([key, given]): Choice => {
    if (isBlank(key)) throw badRequest('The key of a choice must not be blank.');
    // The text of a choice may change: values refer to the key.
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

/** The placeholder for the account name in a URL. */
const USERNAME = '%(username)s';

function checkAccount({ subtype, url_pattern, ...others }: SentData): NonNullable<FieldData['account']> {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw badRequest("The data of an external account has only 'subtype' and 'url_pattern'.");
  }
  if (typeof subtype !== 'string' || isBlank(subtype)) {
    throw badRequest("The data of an external account needs a 'subtype'.");
  }
  if (builtInAccount(subtype)) return { subtype };
  if (subtype !== 'custom') throw badRequest('This kind of external account is not known; use "custom".');
  if (typeof url_pattern !== 'string') {
    throw badRequest("The data of a custom external account needs a 'url_pattern'.");
  }
  if (url_pattern.split(USERNAME).length !== 2) {
    throw badRequest(`'url_pattern' must contain ${USERNAME} exactly once.`);
  }
  if (!isLink(url_pattern.replace(USERNAME, 'username'))) {
    throw badRequest("'url_pattern' must be a valid URL.");
  }
  return { subtype, url_pattern };
}
