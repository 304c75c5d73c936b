import { bytesOf, MEMBER_BYTES } from '../../kernel/quota.ts';
import type { GroupSetting } from '../permission/group-setting.ts';

/** A named user group, as stored. System groups are never stored: they follow from the role. */
export interface Group {
  readonly groupId: number;
  readonly name: string;
  readonly description: string;
  readonly creatorId?: number;
  /** Seconds since 1970. */
  readonly dateCreated: number;
  readonly deactivated: boolean;
  /** Memberships that it was created with are still being stored (`group-arrival.ts`). */
  readonly isArriving?: true;
  readonly settings: GroupSettings;
  /** Grows with each edit, so that a change can be held to what it saw. Its members may come and go without. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    group: Group;
  }
}

/** The six group settings of a group, under their wire names (specification 2.7). */
export interface GroupSettings {
  readonly can_add_members_group: GroupSetting;
  readonly can_join_group: GroupSetting;
  readonly can_leave_group: GroupSetting;
  readonly can_manage_group: GroupSetting;
  readonly can_mention_group: GroupSetting;
  readonly can_remove_members_group: GroupSetting;
}

/** What a group counts at least, so that there are at most 1,000 of them: their members take a query each to read. */
const MIN_BYTES = 500;

/** The bytes that a group takes of its quota, with so many members. */
export const groupBytes = (
  { name, description, settings }: Pick<Group, 'name' | 'description' | 'settings'>,
  members = 0,
): number =>
  Math.max(MIN_BYTES, bytesOf(name, description, Object.values(settings))) + members * MEMBER_BYTES;
