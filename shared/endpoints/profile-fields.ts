import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { profileFieldFields } from './objects.ts';
import { boolean, integer, json, optional, pathId, text } from './parameter.ts';

/** The parameters of creating and of updating a field. */
const properties = {
  name: optional(
    text('The name, unique and at most 40 characters. A new field without a name is named after its type.'),
  ),
  hint: optional(text('A hint for users who fill in the field, at most 80 characters.')),
  field_data: optional(
    json(
      'For a dropdown, its choices, each with `text` and `order`; for an external account, its `subtype` and `url_pattern`.',
      z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
    ),
  ),
  display_in_profile_summary: optional(
    boolean('Whether the field is part of the profile summary. At most two fields are.'),
  ),
  required: optional(
    boolean('Whether clients ask users to fill it in. Profiles without a value remain valid.'),
  ),
  editable_by_user: optional(
    boolean('Whether users may fill it in themselves; true by default for a new field.'),
  ),
  use_for_user_matching: optional(
    boolean('Whether users can be found by its value. Only for short texts and external accounts.'),
  ),
} as const;

export const createProfileField = endpoint({
  id: 'profileFields.create',
  method: 'POST',
  path: '/api/v1/realm/profile_fields',
  source: 'specification 4.4, wire facts 6',
  description: 'Creates a custom profile field.',
  access: 'administrator',
  parameters: { field_type: integer('The type, 1 to 8.'), ...properties },
  reply: z.object({ id: z.int() }),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const listProfileFields = endpoint({
  id: 'profileFields.list',
  method: 'GET',
  path: '/api/v1/realm/profile_fields',
  source: 'https://zulip.com/api/get-custom-profile-fields, wire facts 6',
  description: 'Lists the custom profile fields, in order.',
  access: 'user',
  reply: z.object({ custom_fields: z.array(z.object(profileFieldFields)) }),
  needs: { table: reads },
});

export const reorderProfileFields = endpoint({
  id: 'profileFields.reorder',
  method: 'PATCH',
  path: '/api/v1/realm/profile_fields',
  source: 'https://zulip.com/api/reorder-custom-profile-fields',
  description: 'Reorders the custom profile fields.',
  access: 'administrator',
  parameters: { order: json('The IDs of all fields, each once.', z.array(z.int())) },
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const updateProfileField = endpoint({
  id: 'profileFields.update',
  method: 'PATCH',
  path: '/api/v1/realm/profile_fields/{field_id}',
  source: 'specification 4.4, wire facts 6',
  description: 'Updates a custom profile field; all changes are made, or none.',
  access: 'administrator',
  parameters: { field_id: pathId('The ID of the field.'), ...properties },
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const deleteProfileField = endpoint({
  id: 'profileFields.delete',
  method: 'DELETE',
  path: '/api/v1/realm/profile_fields/{field_id}',
  source: 'https://zulip.com/api/delete-custom-profile-field',
  description: 'Deletes a custom profile field, and its values in all profiles.',
  access: 'administrator',
  parameters: { field_id: pathId('The ID of the field.') },
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

/** More than this many fields cannot exist, because their total size is limited. */
const MAX_FIELDS = 1_000;

/** Values of profile fields in requests. */
export const profileValues = z
  .array(z.object({ id: z.int(), value: z.nullable(z.union([z.string(), z.array(z.int())])) }))
  .check(z.maxLength(MAX_FIELDS));

export const updateProfileData = endpoint({
  id: 'users.updateProfileData',
  method: 'PATCH',
  path: '/api/v1/users/me/profile_data',
  source: 'specification 2.6, https://zulip.com/api/update-profile-data',
  description: "Sets custom fields of the caller's profile; all changes are made, or none.",
  access: 'human',
  parameters: {
    data: json('The `id` and the `value` of each field; an empty value removes it.', profileValues),
  },
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const removeProfileData = endpoint({
  id: 'users.removeProfileData',
  method: 'DELETE',
  path: '/api/v1/users/me/profile_data',
  source: 'specification 2.6, https://zulip.com/api/update-profile-data',
  description: "Removes values of custom fields from the caller's profile.",
  access: 'human',
  parameters: { data: json('The IDs of the fields.', z.array(z.int()).check(z.maxLength(MAX_FIELDS))) },
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});
