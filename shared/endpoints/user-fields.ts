import * as z from 'zod/mini';

/** The fields of a user object in replies and events (see `shared/model/user/object.ts`). */
export const userFields = {
  user_id: z.int(),
  email: z.string(),
  delivery_email: z.nullable(z.string()),
  full_name: z.string(),
  role: z.int(),
  is_owner: z.boolean(),
  is_admin: z.boolean(),
  is_guest: z.boolean(),
  is_bot: z.boolean(),
  bot_type: z.nullable(z.int()),
  bot_owner_id: z.optional(z.nullable(z.int())),
  is_system_bot: z.optional(z.boolean()),
  is_active: z.boolean(),
  is_deleted: z.boolean(),
  is_imported_stub: z.boolean(),
  date_joined: z.string(),
  avatar_url: z.nullable(z.string()),
  avatar_version: z.int(),
  timezone: z.string(),
  profile_data: z.optional(z.record(z.string(), z.unknown())),
} as const;
