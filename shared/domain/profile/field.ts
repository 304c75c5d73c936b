import { unprintableAt } from '../../kernel/folding.ts';
import type { Commit } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    profileFields: ProfileFields;
  }
}

/** The types of custom profile fields (specification 2.6), as `/register` tells them. */
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
   * The version of the fields in which it came. A key that is taken away and later used again is another choice:
   * who had chosen the first one has not chosen the second one.
   */
  readonly since: number;
}

/** What else a field needs by its type: the choices of a dropdown, or which external account it is. */
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
 * The fields of an organization in their order, as stored: one item, since each event tells all of them, and since
 * their names, their order and the two of the summary are decided on together.
 */
export interface ProfileFields {
  readonly fields: readonly ProfileField[];
  /** Grows with each change; 0 while there has never been a field. */
  readonly version: number;
}

/** Reads the fields. One round trip, with whatever is read beside it. */
export const loadProfileFields = async (table: Table, realm: string): Promise<ProfileFields> =>
  (await table.get('profileFields', { realm })) ?? { fields: [], version: 0 };

/** The fields as clients see them, in their order (wire facts 6). */
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

/** What is particular to the type as JSON text; the empty text where there is nothing (wire facts 6). */
function encodedData({ choices, account }: FieldData): string {
  if (choices) {
    return JSON.stringify(Object.fromEntries(choices.map(({ key, text, order }) => [key, { text, order }])));
  }
  return account ? JSON.stringify(account) : '';
}

/** External accounts whose addresses clients can make themselves (wire facts 6): what a field for one is called. */
export const externalAccounts: Readonly<Record<string, ExternalAccount>> = {
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

interface ExternalAccount {
  readonly text: string;
  readonly name: string;
  readonly hint: string;
  readonly url_pattern: string;
}

/** The external account of this name, if it is one that everybody knows. */
export const knownAccount = (subtype: string): ExternalAccount | undefined =>
  Object.hasOwn(externalAccounts, subtype) ? externalAccounts[subtype] : undefined;

/** Longest address that a link may have. */
const LONGEST = 2_048;

/** Characters that no address has (RFC 3986), and that end an attribute or begin an element in HTML. */
const MARKUP = /[<>"`\\\s]/;

/**
 * Whether text is the address of a page on the web, written so that it can stand in HTML as it is. `javascript:` and
 * the like lead nowhere.
 */
export const isLink = (text: string): boolean =>
  text.length <= LONGEST &&
  /^https?:\/\/[^/]/i.test(text) &&
  !MARKUP.test(text) &&
  unprintableAt(text) === undefined &&
  URL.canParse(text);

/**
 * Puts other fields in the place of those that a decision was made on, held to them, and tells everybody. So of many
 * who add a field to the summary at once, one after the other is done, and each is decided on by what is there.
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
      when: before.version === 0 ? { absent: true } : { equals: { version: before.version } },
      lastWriterWins: true,
    },
  ],
  entries: [
    {
      kind: 'event',
      hearers: { everyone: 'all' },
      payload: { type: 'custom_profile_fields', fields: fieldObjects(fields) },
    },
  ],
  result: {},
});

/** Adds a field that was decided on as the last one. */
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

/** Changes the fields as it was decided, unless clients would see no difference. */
export const changeFields = async (
  commit: Commit,
  realm: string,
  before: ProfileFields,
  after: readonly ProfileField[],
): Promise<Record<string, never>> =>
  isChanged(before, after) ? commit(1, () => doChangeFields(realm, before, after)) : {};
