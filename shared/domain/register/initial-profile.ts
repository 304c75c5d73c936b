import { fieldObjects, fieldTypes, loadProfileFields } from '../profile/field.ts';
import type { Section } from './section.ts';

/** The custom profile fields and their types. What people say in them is told with the people. */
const customProfileFields: Section = async ({ outside, caller }) => {
  const { fields } = await loadProfileFields(outside.table, caller.realmId);
  return { custom_profile_fields: fieldObjects(fields), custom_profile_field_types: fieldTypes };
};

export const profileSections = {
  custom_profile_fields: customProfileFields,
} satisfies Record<string, Section>;
