import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { uniqueSorted } from '../../unique.ts';
import { isSystemGroup } from '../permission/system-group.ts';
import { loadUsersById } from '../user/list.ts';
import type { User } from '../user/user.ts';
import type { Group } from './group.ts';

/** Reads those of the people that exist. */
export async function loadPeople(
  table: Table,
  realm: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, User>> {
  const users = await loadUsersById(table, realm, ids);
  return new Map(users.map((user) => [user.userId, user]));
}

/** Reads those of the named groups that exist. System groups are not stored. */
export async function loadGroups(
  table: Table,
  realm: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Group>> {
  const groups = await table.getMany(
    uniqueSorted(ids)
      .filter((groupId) => isId(groupId) && !isSystemGroup(groupId))
      .map((groupId) => key('group', { realm, groupId })),
  );
  return new Map(groups.map((group) => [group.groupId, group]));
}

/** Decides whether people can be put into a group, or taken out: they exist and are active (specification 4.5). */
export function checkMembers(ids: readonly number[], users: ReadonlyMap<number, User>): void {
  const invalid = ids.find((id) => users.get(id)?.isActive !== true);
  if (invalid !== undefined) throw badRequest(`Invalid user ID: ${invalid}.`);
}

interface Member {
  readonly userId: number;
  readonly groupId: number;
}

/** Those whose memberships of one group are not stored one by one yet (`group-arrival.ts`). */
interface Arrivals {
  readonly userIds: readonly number[];
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    membership: Member;
    member: Member | Arrivals;
  }
}

/** Makes somebody a direct member. `isNew` holds the transaction to them not being one yet. */
export const doJoinGroup = (realm: string, groupId: number, userId: number, isNew: boolean): Write[] => {
  const membership: Write = {
    put: key('membership', { realm, userId, groupId }),
    item: { userId, groupId },
    ...(isNew && { when: { absent: true } }),
  };
  return [membership, { put: key('member', { realm, groupId, userId }), item: { userId, groupId } }];
};

/** Ends a direct membership, which must still be there. */
export const doLeaveGroup = (realm: string, groupId: number, userId: number): Write[] => [
  { delete: key('membership', { realm, userId, groupId }), when: { absent: false } },
  { delete: key('member', { realm, groupId, userId }) },
];

/** Tells everybody that people came into a group, or went. */
export const membersEvent = (
  op: 'add_members' | 'remove_members',
  groupId: number,
  userIds: readonly number[],
): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'user_group', op, group_id: groupId, user_ids: userIds },
  access: true,
});
