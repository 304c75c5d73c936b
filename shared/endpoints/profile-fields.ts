import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { boolean, integer, json, optional, pathId, text } from './parameter.ts';

/** The fields of a custom profile field in replies and events (see `shared/domain/profile/field.ts`). */
const profileFieldFields = {
  id: z.int(),
  name: z.string(),
  type: z.int(),
  hint: z.string(),
  field_data: z.string(),
  order: z.int(),
  required: z.boolean(),
  editable_by_user: z.boolean(),
  display_in_profile_summary: z.optional(z.boolean()),
  use_for_user_matching: z.optional(z.boolean()),
} as const;

/** What both the creation and the change of a field may say. */
const about = {
  name: optional(
    text('The name, at most 40 characters and unique; a new field without one is named for its type.'),
  ),
  hint: optional(text('Help for those who fill the field in, at most 80 characters.')),
  field_data: optional(
    json(
      'The choices of a dropdown, each with `text` and `order`; `subtype` and `url_pattern` of an external account.',
      z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
    ),
  ),
  display_in_profile_summary: optional(
    boolean('Whether it is in the summary of profiles; two fields may be.'),
  ),
  required: optional(boolean('Whether a value is wanted; profiles may lack one all the same.')),
  editable_by_user: optional(boolean('Whether people may fill it in themselves; yes if absent at creation.')),
  use_for_user_matching: optional(
    boolean('Whether people are found by it; only for short texts and external accounts.'),
  ),
} as const;

export const createProfileField = endpoint({
  id: 'profileFields.create',
  method: 'POST',
  path: '/api/v1/realm/profile_fields',
  source: 'specification 4.4, wire facts 6',
  description: 'Creates a custom profile field.',
  access: 'administrator',
  parameters: { field_type: integer('The type, 1 to 8.'), ...about },
  reply: z.object({ id: z.int() }),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const listProfileFields = endpoint({
  id: 'profileFields.list',
  method: 'GET',
  path: '/api/v1/realm/profile_fields',
  source: 'https://zulip.com/api/get-custom-profile-fields, wire facts 6',
  description: 'Lists the custom profile fields in their order.',
  access: 'user',
  parameters: {},
  reply: z.object({ custom_fields: z.array(z.object(profileFieldFields)) }),
  errors: [],
  needs: { table: reads },
});

export const reorderProfileFields = endpoint({
  id: 'profileFields.reorder',
  method: 'PATCH',
  path: '/api/v1/realm/profile_fields',
  source: 'https://zulip.com/api/reorder-custom-profile-fields',
  description: 'Sorts the custom profile fields.',
  access: 'administrator',
  parameters: { order: json('The IDs of all fields, each once.', z.array(z.int())) },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const updateProfileField = endpoint({
  id: 'profileFields.update',
  method: 'PATCH',
  path: '/api/v1/realm/profile_fields/{field_id}',
  source: 'specification 4.4, wire facts 6',
  description: 'Changes a custom profile field: all that is asked for, or nothing.',
  access: 'administrator',
  parameters: { field_id: pathId('The ID of the field.'), ...about },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const deleteProfileField = endpoint({
  id: 'profileFields.delete',
  method: 'DELETE',
  path: '/api/v1/realm/profile_fields/{field_id}',
  source: 'https://zulip.com/api/delete-custom-profile-field',
  description: 'Removes a custom profile field, and with it what profiles say in it.',
  access: 'administrator',
  parameters: { field_id: pathId('The ID of the field.') },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

/** More fields than this there cannot be, since all of them together have a limit. */
const MAX_FIELDS = 1_000;

/** Values for fields of a profile, as they are sent for the caller's own and for somebody else's. */
export const profileValues = z
  .array(z.object({ id: z.int(), value: z.nullable(z.union([z.string(), z.array(z.int())])) }))
  .check(z.maxLength(MAX_FIELDS));

export const updateProfileData = endpoint({
  id: 'users.updateProfileData',
  method: 'PATCH',
  path: '/api/v1/users/me/profile_data',
  source: 'specification 2.6, https://zulip.com/api/update-profile-data',
  description: "Fills in custom profile fields of the caller's profile: all that is asked for, or nothing.",
  access: 'human',
  parameters: {
    data: json('The `id` of each field and its `value`; an empty value takes it away.', profileValues),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const removeProfileData = endpoint({
  id: 'users.removeProfileData',
  method: 'DELETE',
  path: '/api/v1/users/me/profile_data',
  source: 'specification 2.6, https://zulip.com/api/update-profile-data',
  description: "Takes away what the caller's profile says in custom profile fields.",
  access: 'human',
  parameters: { data: json('The IDs of the fields.', z.array(z.int()).check(z.maxLength(MAX_FIELDS))) },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});
