import * as z from 'zod/mini';
import { uniqueSorted } from '../../unique.ts';
import { systemGroups } from './system-group.ts';

/**
 * A group-setting value (specification 2.2): the id of a group, or people and groups listed directly.
 * It is stored and sent in this same form.
 */
export type GroupSetting =
  | number
  | { readonly direct_members: readonly number[]; readonly direct_subgroups: readonly number[] };

export const groupSettingSchema: z.ZodMiniType<GroupSetting> = z.union([
  z.int(),
  z.strictObject({ direct_members: z.array(z.int()), direct_subgroups: z.array(z.int()) }),
]);

/** A change of such a value (specification 2.2): the new one, and perhaps what the caller takes for the current one. */
export interface GroupSettingChange {
  readonly new: GroupSetting;
  readonly old?: GroupSetting | null | undefined;
}

export const groupSettingChangeSchema: z.ZodMiniType<GroupSettingChange> = z.strictObject({
  new: groupSettingSchema,
  old: z.optional(z.nullable(groupSettingSchema)),
});

/**
 * The one form of each value (wire facts 4.5): lists are sorted and without repetition, one lone subgroup
 * becomes its id, an empty object becomes the nobody group.
 */
export function normalized(setting: GroupSetting): GroupSetting {
  if (typeof setting === 'number') return setting;
  const members = uniqueSorted(setting.direct_members);
  const subgroups = uniqueSorted(setting.direct_subgroups);
  const [only] = subgroups;
  if (members.length === 0 && subgroups.length === 0) return systemGroups.nobody.id;
  if (members.length === 0 && subgroups.length === 1 && only !== undefined) return only;
  return { direct_members: members, direct_subgroups: subgroups };
}

/** Whether two values mean the same, whatever their order. */
export const sameSetting = (a: GroupSetting, b: GroupSetting): boolean =>
  JSON.stringify(normalized(a)) === JSON.stringify(normalized(b));

/** The setting that holds just this one person: how "the creator" is stored and reported. */
export const onlyUser = (userId: number): GroupSetting => ({
  direct_members: [userId],
  direct_subgroups: [],
});

/** The groups that a setting names. */
export const groupsOf = (setting: GroupSetting): readonly number[] =>
  typeof setting === 'number' ? [setting] : setting.direct_subgroups;
