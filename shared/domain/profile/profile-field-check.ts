import { badRequest } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/folding.ts';
import { checkPrintable } from '../../kernel/printable.ts';
import { limits } from '../../model/realm/realm.ts';
import { knownAccount } from './external-account.ts';
import { checkFieldData, type SentData } from './field-data.ts';
import {
  type FieldData,
  type FieldType,
  fieldObjects,
  fieldTypes,
  type ProfileField,
  type ProfileFields,
} from './profile-field.ts';

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

/** A field before it has an id. */
export type NewField = Omit<ProfileField, 'fieldId'>;

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
