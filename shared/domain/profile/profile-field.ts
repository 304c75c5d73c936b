import type { Table } from '../../table/table.ts';

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

/**
 * The fields of an organization in their order, as stored: one item, since each event tells all of them, and since
 * their names, their order and the two of the summary are decided on together.
 */
export interface ProfileFields {
  readonly fields: readonly ProfileField[];
  /** Grows with each change; 0 while there has never been a field. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    profileFields: ProfileFields;
  }
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
