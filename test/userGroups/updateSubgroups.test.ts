import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { handler as listSubgroups } from '../../functions/userGroups/listSubgroups.ts';
import { handler as updateMembers } from '../../functions/userGroups/updateMembers.ts';
import { handler as updateSubgroups } from '../../functions/userGroups/updateSubgroups.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { type Mishap, mishaps } from '../support/faults.ts';
import { givenGraph } from '../support/given.ts';
import { createGroup, groupOf, toldOfGroups } from '../support/group-state.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const { nobody, owners, administrators, moderators, members, everyone } = systemGroups;

const at = (groupId: number) => ({ path: { user_group_id: groupId } });
const change = (realm: TestRealm, as: Person, groupId: number, given: Readonly<Record<string, unknown>>) =>
  realm.call(updateSubgroups, as, given, at(groupId));
const subgroupsOf = async (realm: TestRealm, groupId: number, direct = true): Promise<number[]> =>
  (await realm.call(listSubgroups, realm.people.owner, { direct_subgroup_only: direct }, at(groupId))).body
    .subgroups;

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

describe('POST /user_groups/{user_group_id}/subgroups', () => {
  it('adds and removes groups, role groups too, and sends an event', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const [inner, other] = [await createGroup(realm, member), await createGroup(realm, member)];
    const groupId = await createGroup(realm, member, { subgroups: [other] });
    const before = await lastNumber(realm);
    const given = { add: [inner, moderators.id, inner], delete: [other] };
    expect((await change(realm, member, groupId, given)).body).toEqual({ result: 'success', msg: '' });
    expect((await groupOf(realm, groupId)).direct_subgroup_ids).toEqual([moderators.id, inner]);
    expect(await toldOfGroups(realm, before)).toEqual([
      { op: 'add_subgroups', group_id: groupId, direct_subgroup_ids: [moderators.id, inner] },
      { op: 'remove_subgroups', group_id: groupId, direct_subgroup_ids: [other] },
    ]);
    expect((await change(realm, member, groupId, { delete: [inner, moderators.id] })).status).toBe(200);
    expect((await groupOf(realm, groupId)).direct_subgroup_ids).toEqual([]);
  });

  it('refuses groups that are unknown, deactivated, already added, or missing', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const [inner, gone] = [await createGroup(realm, member), await createGroup(realm, member)];
    const groupId = await createGroup(realm, member, { subgroups: [inner] });
    expect((await realm.call(deactivate, member, {}, at(gone))).status).toBe(200);
    const before = await lastNumber(realm);
    for (const id of [999_999, 0, -1, gone, inner]) {
      const { status, body } = await change(realm, member, groupId, { add: [moderators.id, id] });
      expect({ id, status, code: body.code }).toEqual({ id, status: 400, code: 'BAD_REQUEST' });
      expect(body.msg).toContain(String(id));
    }
    for (const id of [999_999, gone, moderators.id]) {
      expect(await change(realm, member, groupId, { delete: [inner, id] })).toMatchObject(refused);
    }
    expect(await change(realm, member, groupId, {})).toMatchObject(refused);
    expect(await change(realm, member, members.id, { add: [inner] })).toMatchObject(refused);
    expect(await toldOfGroups(realm, before)).toEqual([]);
  });

  it('refuses cycles of any length, and a group as its own subgroup', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const a = await createGroup(realm, member);
    const b = await createGroup(realm, member, { subgroups: [a] });
    const c = await createGroup(realm, member, { subgroups: [moderators.id, b] });
    const d = await createGroup(realm, member, { subgroups: [a, c] });
    for (const [outer, inner] of [
      [a, a],
      [a, b],
      [a, c],
      [a, d],
      [b, c],
      [b, d],
      [c, d],
    ] as const) {
      expect(await change(realm, member, outer, { add: [inner] })).toMatchObject(refused);
      expect(await realm.call(updateMembers, member, { add_subgroups: [inner] }, at(outer))).toMatchObject(
        refused,
      );
    }
    // A second way to the same group is no cycle.
    expect((await change(realm, member, d, { add: [b] })).status).toBe(200);
    expect((await change(realm, member, c, { delete: [b] })).status).toBe(200);
    expect((await change(realm, member, a, { add: [c] })).status).toBe(200);
  });

  it('refuses the second half of a cycle that two concurrent requests would close', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const [a, b] = [await createGroup(realm, member), await createGroup(realm, member)];
    const meanwhile: Mishap = async (go) => {
      expect((await change(realm, member, b, { add: [a] })).status).toBe(200);
      return go();
    };
    const late = realm.container(mishaps({ transact: [meanwhile] }));
    expect(await change(late, member, a, { add: [b] })).toMatchObject(refused);
    expect(await subgroupsOf(realm, a)).toEqual([]);
    expect(await subgroupsOf(realm, b)).toEqual([a]);
  });

  it('never makes a cycle, and sends events that agree with the store, under any interleaving', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groups: number[] = [];
    for (let i = 0; i < 4; i++) groups.push(await createGroup(realm, member));
    const before = await lastNumber(realm);
    const step = fc.record({ outer: fc.nat({ max: 3 }), inner: fc.nat({ max: 3 }), adds: fc.boolean() });
    const schedule = fc.array(fc.array(step, { minLength: 2, maxLength: 5 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(schedule, async (waves) => {
        for (const wave of waves) {
          const replies = await Promise.all(
            wave.map(({ outer, inner, adds }) =>
              change(realm.container(), member, groups[outer] as number, {
                [adds ? 'add' : 'delete']: [groups[inner]],
              }),
            ),
          );
          for (const { status } of replies) expect([200, 400]).toContain(status);
        }
        const told = new Map(groups.map((id) => [id, new Set<number>()]));
        type Event = { op: string; group_id: number; direct_subgroup_ids: number[] };
        for (const { op, group_id, direct_subgroup_ids } of (await toldOfGroups(realm, before)) as Event[]) {
          for (const id of direct_subgroup_ids) {
            if (op === 'add_subgroups') told.get(group_id)?.add(id);
            else told.get(group_id)?.delete(id);
          }
        }
        for (const id of groups) {
          expect(await subgroupsOf(realm, id)).toEqual([...(told.get(id) ?? [])].sort((x, y) => x - y));
          expect(await subgroupsOf(realm, id, false)).not.toContain(id);
        }
      }),
      { numRuns: 6 },
    );
  });

  it('keeps the graph within the size of one item', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    const inner = await createGroup(realm, member);
    // Groups that were full before; that they do not exist makes no difference to the graph.
    const full = Array.from({ length: 1_000 }, (_, i) => 500_000 + i);
    const edges = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [String(400_000 + i), full]));
    await givenGraph(realm, { edges });
    const { status, body } = await change(realm, member, groupId, { add: [inner] });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
    expect(body.msg).toContain('too many');
  });

  it('needs can_add_members_group to add, and can_manage_group to remove, like the reference', async () => {
    const realm = await newRealm();
    const { owner, member, moderator } = realm.people;
    const groupId = await createGroup(realm, owner, {
      can_add_members_group: { direct_members: [member.userId], direct_subgroups: [] },
      can_manage_group: { direct_members: [moderator.userId], direct_subgroups: [] },
      can_remove_members_group: members.id,
      can_leave_group: everyone.id,
      can_join_group: members.id,
    });
    expect((await change(realm, member, groupId, { add: [administrators.id] })).status).toBe(200);
    expect(await change(realm, member, groupId, { delete: [administrators.id] })).toMatchObject(refused);
    expect((await change(realm, moderator, groupId, { delete: [administrators.id] })).status).toBe(200);
    expect(await change(realm, realm.people.admin, groupId, { add: [nobody.id] })).toMatchObject(refused);
    expect(await change(realm, realm.people.guest, groupId, { add: [nobody.id] })).toMatchObject(refused);
  });
});

describe('GET /user_groups/{user_group_id}/subgroups', () => {
  it('lists direct subgroups, or all of them at any depth', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const a = await createGroup(realm, member);
    const b = await createGroup(realm, member, { subgroups: [a, administrators.id] });
    const c = await createGroup(realm, member, { subgroups: [b, a] });
    expect(await subgroupsOf(realm, c)).toEqual([a, b]);
    expect(await subgroupsOf(realm, c, false)).toEqual([owners.id, administrators.id, a, b]);
    expect(await subgroupsOf(realm, a, false)).toEqual([]);
    expect(await subgroupsOf(realm, moderators.id, false)).toEqual([owners.id, administrators.id]);
    expect(await subgroupsOf(realm, moderators.id)).toEqual([administrators.id]);
    const { body } = await realm.call(listSubgroups, member, {}, at(c));
    expect(body.subgroups).toEqual([owners.id, administrators.id, a, b]);
  });

  it('refuses unknown groups and guests, and takes one round trip warm', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const groupId = await createGroup(realm, member);
    for (const id of [999_999, 0]) {
      expect(await realm.call(listSubgroups, member, {}, at(id))).toMatchObject(refused);
    }
    expect(await realm.call(listSubgroups, guest, {}, at(groupId))).toMatchObject(refused);
    const container = realm.container();
    await container.call(listSubgroups, member, {}, at(groupId));
    expect(container.meter.roundTrips).toBe(2);
    container.meter.reset();
    await container.call(listSubgroups, member, {}, at(groupId));
    expect(container.meter.roundTrips).toBe(1);
  });
});
