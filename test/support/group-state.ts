import { expect } from 'vitest';
import { handler as create } from '../../functions/userGroups/create.ts';
import { handler as list } from '../../functions/userGroups/list.ts';
import { handler as listMembers } from '../../functions/userGroups/listMembers.ts';
import { loadMemberIds } from '../../shared/model/group/member.ts';
import { givenUser } from './given.ts';
import type { Person, Reply, TestRealm } from './realm.ts';
import { told } from './subscription-state.ts';

let made = 0;

/** Creates a group as a user, through the endpoint; without members and with a name of its own unless given. */
export const tryToCreate = (
  realm: TestRealm,
  as: Person,
  given: Readonly<Record<string, unknown>> = {},
): Promise<Reply> =>
  realm.call(create, as, { name: `group ${++made}`, description: '', members: [], ...given });

/** The same, where it must succeed; returns the id. */
export async function createGroup(
  realm: TestRealm,
  as: Person,
  given: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const { status, body } = await tryToCreate(realm, as, given);
  expect(body.msg).toBe('');
  expect(status).toBe(200);
  return body.group_id;
}

/** A group as the list shows it, deactivated or not. */
export async function groupOf(realm: TestRealm, groupId: number): Promise<Reply['body']> {
  const { body } = await realm.call(list, realm.people.owner, { include_deactivated_groups: true });
  return body.user_groups.find(({ id }: { readonly id: number }) => id === groupId);
}

export async function membersOf(realm: TestRealm, groupId: number, directOnly = true): Promise<number[]> {
  const { body } = await realm.call(
    listMembers,
    realm.people.owner,
    { direct_member_only: directOnly },
    { path: { user_group_id: groupId } },
  );
  return body.members;
}

/** The events of groups after this number of the log, with their audience and whether they change visibility. */
export async function toldOfGroups(realm: TestRealm, after: number): Promise<object[]> {
  const events = (await told(realm, after)).filter(({ payload }) => payload.type === 'user_group');
  for (const { hearers, access } of events) {
    expect({ hearers, access }).toEqual({ hearers: { everyone: 'all' }, access: true });
  }
  return events.map(({ payload: { type, ...payload } }) => payload);
}

/** Checks that a group's list of members and the memberships of these people tell the same; returns the list. */
export async function expectSameMembers(
  { realm, outside }: TestRealm,
  groupId: number,
  people: readonly Person[],
): Promise<number[]> {
  const ids = await loadMemberIds(outside.table, realm, groupId);
  for (const { userId } of people) {
    const membership = await outside.table.get('membership', { realm, userId, groupId });
    expect(membership !== undefined, `membership of ${userId}`).toBe(ids.includes(userId));
  }
  return ids;
}

/** So many members of the organization. */
export const manyPeople = (realm: TestRealm, count: number): Promise<Person[]> =>
  Promise.all(Array.from({ length: count }, () => givenUser(realm)));

/** The ids of the groups that a user is a direct member of, as stored. */
export async function membershipsOf({ realm, outside }: TestRealm, userId: number): Promise<number[]> {
  const items = await outside.table.all('membership', { realm, userId });
  return items.map(({ groupId }) => groupId);
}
