import type { Commit } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import { key } from '../../table/keys.ts';
import { fieldObjects, type ProfileField, type ProfileFields } from './profile-field.ts';
import type { NewField } from './profile-field-check.ts';

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
