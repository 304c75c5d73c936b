import { unprintableAt } from '../../kernel/text.ts';
import type { Commit } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import { eventForEveryone } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersionOrNone } from '../../table/write.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    profileFields: ProfileFields;
  }
}

/** The types of custom profile fields (specification 2.6), as in `/register`. */
export const fieldTypes = {
  SHORT_TEXT: { id: 1, name: 'Short text' },
  LONG_TEXT: { id: 2, name: 'Paragraph' },
  SELECT: { id: 3, name: 'Dropdown' },
  DATE: { id: 4, name: 'Date' },
  URL: { id: 5, name: 'Link' },
  USER: { id: 6, name: 'Users' },
  EXTERNAL_ACCOUNT: { id: 7, name: 'External account' },
  PRONOUNS: { id: 8, name: 'Pronouns' },
} as const;

export type FieldType = (typeof fieldTypes)[keyof typeof fieldTypes]['id'];

/** A choice of a dropdown. */
export interface Choice {
  readonly key: string;
  readonly text: string;
  readonly order: string;
  /**
   * The version of the fields that added it. A key that is removed and added again is a new choice, which nobody has
   * selected yet.
   */
  readonly since: number;
}

/** The data of some types: the choices of a dropdown, or the kind of external account. */
export interface FieldData {
  readonly choices?: readonly Choice[];
  readonly account?: { readonly subtype: string; readonly url_pattern?: string };
}

/** A custom profile field, as stored. */
export interface ProfileField extends FieldData {
  readonly fieldId: number;
  readonly type: FieldType;
  readonly name: string;
  readonly hint: string;
  readonly inSummary: boolean;
  readonly required: boolean;
  readonly editableByUser: boolean;
  readonly forMatching: boolean;
}

/** A field without its id. */
export type NewField = Omit<ProfileField, 'fieldId'>;

/**
 * The fields of an organization in order. One item, since each event has all fields, and since names, order and
 * summary fields are checked together.
 */
export interface ProfileFields {
  readonly fields: readonly ProfileField[];
  /** Incremented by each change; 0 before the first field. */
  readonly version: number;
}

/** One round trip. */
export const loadProfileFields = async (table: Table, realm: string): Promise<ProfileFields> =>
  (await table.get('profileFields', { realm })) ?? { fields: [], version: 0 };

/** The fields as clients see them, in order (wire facts 6). */
export const fieldObjects = (fields: readonly ProfileField[]) =>
  fields.map((field, order) => ({
    id: field.fieldId,
    name: field.name,
    type: field.type,
    hint: field.hint,
    field_data: encodedData(field),
    order,
    required: field.required,
    editable_by_user: field.editableByUser,
    ...(field.inSummary && { display_in_profile_summary: true }),
    ...(field.forMatching && { use_for_user_matching: true }),
  }));

/** The data of the type as JSON text, or empty text (wire facts 6). */
function encodedData({ choices, account }: FieldData): string {
  if (choices) {
    return JSON.stringify(Object.fromEntries(choices.map(({ key, text, order }) => [key, { text, order }])));
  }
  return account ? JSON.stringify(account) : '';
}

/** Built-in external accounts (wire facts 6): clients know how to link to them. */
export const externalAccounts = {
  github: {
    text: 'GitHub',
    name: 'GitHub username',
    hint: 'Enter your GitHub username',
    url_pattern: 'https://github.com/%(username)s',
  },
  twitter: {
    text: 'Twitter',
    name: 'Twitter username',
    hint: 'Do not include the @',
    url_pattern: 'https://twitter.com/%(username)s',
  },
};

/** The built-in external account with this name. */
export const builtInAccount = (subtype: string) => new Map(Object.entries(externalAccounts)).get(subtype);

/** Longest URL of a link. */
const MAX_LINK = 2_048;

/** Characters that are invalid in a URL (RFC 3986), or end an attribute or begin an element in HTML. */
const MARKUP = /[<>"`\\\s]/;

/** Whether text is an http(s) URL that is safe in HTML as it is. */
export const isLink = (text: string): boolean =>
  text.length <= MAX_LINK &&
  /^https?:\/\/[^/]/i.test(text) &&
  !MARKUP.test(text) &&
  unprintableAt(text) === undefined &&
  URL.canParse(text);

/**
 * Replaces the fields, on condition that they are unchanged. So concurrent changes are checked one after the other.
 */
const doChangeFields = (
  realm: string,
  before: ProfileFields,
  fields: readonly ProfileField[],
): Change<Record<string, never>> => ({
  writes: [
    {
      put: key('profileFields', { realm }),
      item: { fields, version: before.version + 1 },
      when: hasVersionOrNone(before.version),
      lastWriterWins: true,
    },
  ],
  entries: [eventForEveryone({ type: 'custom_profile_fields', fields: fieldObjects(fields) })],
  result: {},
});

/** Adds a field at the end. */
export const doCreateField = (
  realm: string,
  before: ProfileFields,
  fieldId: number,
  field: NewField,
): Change<{ readonly id: number }> => ({
  ...doChangeFields(realm, before, [...before.fields, { fieldId, ...field }]),
  result: { id: fieldId },
});

const isChanged = ({ fields }: ProfileFields, after: readonly ProfileField[]): boolean =>
  JSON.stringify(fieldObjects(fields)) !== JSON.stringify(fieldObjects(after));

/** Commits a change of the fields, unless clients would see no difference. */
export const changeFields = async (
  commit: Commit,
  realm: string,
  before: ProfileFields,
  after: readonly ProfileField[],
): Promise<Record<string, never>> =>
  isChanged(before, after) ? commit(1, () => doChangeFields(realm, before, after)) : {};
