import * as z from 'zod/mini';
import { channelFields } from '../endpoints/channel-fields.ts';
import { messageFields } from '../endpoints/message-fields.ts';
import { userFields } from '../endpoints/user-fields.ts';
import { userGroupFields } from '../endpoints/user-group-fields.ts';
import { groupSettingChangeSchema, groupSettingSchema } from '../model/permission/permission.ts';

/** Objects that several endpoints take or tell, by the names under which the document describes them once. */
export const shapes: Readonly<Record<string, z.ZodMiniType>> = {
  Message: z.object(messageFields),
  User: z.object(userFields),
  Channel: z.object(channelFields),
  UserGroup: z.object(userGroupFields),
  GroupSetting: groupSettingSchema,
  GroupSettingChange: groupSettingChangeSchema,
};

/** What stands in the declaration of `GET /events` for an event of whatever kind. */
export const anyEvent = z.looseObject({ id: z.int(), type: z.string() });
