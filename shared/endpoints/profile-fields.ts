import * as z from 'zod/mini';
import { endpoint, readsItems, writes } from './endpoint.ts';
import { profileFieldFields } from './objects.ts';
import { boolean, ids, integer, json, optional, pathId, text } from './parameter.ts';

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
  route: 'POST /api/v1/realm/profile_fields',
  source: 'specification 4.4, wire facts 6',
  description: 'Creates a custom profile field.',
  access: 'administrator',
  parameters: { field_type: integer('The type, 1 to 8.'), ...properties },
  reply: z.object({ id: z.int() }),
  needs: { table: writes },
});

export const listProfileFields = endpoint({
  id: 'profileFields.list',
  route: 'GET /api/v1/realm/profile_fields',
  source: 'https://zulip.com/api/get-custom-profile-fields, wire facts 6',
  description: 'Lists the custom profile fields, in order.',
  access: 'user',
  reply: z.object({ custom_fields: z.array(z.object(profileFieldFields)) }),
  needs: { table: readsItems },
});

export const reorderProfileFields = endpoint({
  id: 'profileFields.reorder',
  route: 'PATCH /api/v1/realm/profile_fields',
  source: 'https://zulip.com/api/reorder-custom-profile-fields',
  description: 'Reorders the custom profile fields.',
  access: 'administrator',
  parameters: { order: ids('The IDs of all fields, each once.') },
  needs: { table: writes },
});

export const updateProfileField = endpoint({
  id: 'profileFields.update',
  route: 'PATCH /api/v1/realm/profile_fields/{field_id}',
  source: 'specification 4.4, wire facts 6',
  description: 'Updates a custom profile field; all changes are made, or none.',
  access: 'administrator',
  parameters: { field_id: pathId('The ID of the field.'), ...properties },
  needs: { table: writes },
});

export const deleteProfileField = endpoint({
  id: 'profileFields.delete',
  route: 'DELETE /api/v1/realm/profile_fields/{field_id}',
  source: 'https://zulip.com/api/delete-custom-profile-field',
  description: 'Deletes a custom profile field, and its values in all profiles.',
  access: 'administrator',
  parameters: { field_id: pathId('The ID of the field.') },
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
  route: 'PATCH /api/v1/users/me/profile_data',
  source: 'specification 2.6, https://zulip.com/api/update-profile-data',
  description: "Sets custom fields of the caller's profile; all changes are made, or none.",
  access: 'human',
  parameters: {
    data: json('The `id` and the `value` of each field; an empty value removes it.', profileValues),
  },
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const removeProfileData = endpoint({
  id: 'users.removeProfileData',
  route: 'DELETE /api/v1/users/me/profile_data',
  source: 'specification 2.6, https://zulip.com/api/update-profile-data',
  description: "Removes values of custom fields from the caller's profile.",
  access: 'human',
  parameters: { data: ids('The IDs of the fields.', MAX_FIELDS) },
  needs: { table: [...writes, 'ConditionCheckItem'] },
});
