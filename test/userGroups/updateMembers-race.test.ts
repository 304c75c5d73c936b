import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handler as update } from '../../functions/userGroups/update.ts';
import { handler as updateMembers } from '../../functions/userGroups/updateMembers.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { type Mishap, mishaps } from '../support/faults.ts';
import { createGroup, expectSameMembers, toldOfGroups } from '../support/group-state.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const { nobody, members } = systemGroups;

const change = (realm: TestRealm, as: Person, groupId: number, given: Readonly<Record<string, unknown>>) =>
  realm.call(updateMembers, as, given, { path: { user_group_id: groupId } });

const ids = (...people: readonly Person[]): number[] => people.map(({ userId }) => userId);

describe('concurrent changes of the members of a group', () => {
  it('add a user once', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const groupId = await createGroup(realm, member);
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => change(realm.container(), member, groupId, { add: ids(guest) })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect(await expectSameMembers(realm, groupId, [guest])).toEqual(ids(guest));
    expect(await toldOfGroups(realm, before)).toHaveLength(1);
  });

  it('keep both lists and the log consistent under any interleaving', async () => {
    const realm = await newRealm();
    const { owner, member, admin, moderator } = realm.people;
    const people = [member, admin, moderator];
    const groupId = await createGroup(realm, owner, { can_join_group: members.id });
    const before = await lastNumber(realm);
    const step = fc.record({ who: fc.nat({ max: 2 }), joins: fc.boolean() });
    const schedule = fc.array(fc.array(step, { minLength: 2, maxLength: 6 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(schedule, async (waves) => {
        for (const wave of waves) {
          const replies = await Promise.all(
            wave.map(({ who, joins }) => {
              const person = people[who] as Person;
              return change(realm.container(), person, groupId, { [joins ? 'add' : 'delete']: ids(person) });
            }),
          );
          for (const { status } of replies) expect([200, 400]).toContain(status);
        }
        const stored = await expectSameMembers(realm, groupId, people);
        expect(await replayed(realm, before)).toEqual(stored);
      }),
      { numRuns: 8 },
    );
  });

  it('send the event of a removal after that of the addition before it, even if its number was allocated earlier', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const groupId = await createGroup(realm, member);
    const before = await lastNumber(realm);
    const elsewhere: Mishap = async (go) => {
      await change(realm, member, groupId, { add: ids(guest) });
      await change(realm, member, groupId, { delete: ids(guest) });
      return go();
    };
    const late = realm.container(mishaps({ transact: [elsewhere] }));
    expect((await change(late, member, groupId, { add: ids(guest) })).status).toBe(200);
    expect(await expectSameMembers(realm, groupId, [guest])).toEqual(ids(guest));
    expect(await replayed(realm, before)).toEqual(ids(guest));
  });

  it('are checked again if the permission is removed meanwhile', async () => {
    const realm = await newRealm();
    const { owner, member, guest } = realm.people;
    const groupId = await createGroup(realm, owner, { can_add_members_group: members.id });
    const elsewhere: Mishap = async (go) => {
      const { status } = await realm.call(
        update,
        owner,
        { can_add_members_group: { new: nobody.id } },
        { path: { user_group_id: groupId } },
      );
      expect(status).toBe(200);
      return go();
    };
    const late = realm.container(mishaps({ transact: [elsewhere] }));
    expect((await change(late, member, groupId, { add: ids(guest) })).status).toBe(400);
    expect(await expectSameMembers(realm, groupId, [guest])).toEqual([]);
  });
});

/** The members that a client knows who follows the log. */
async function replayed(realm: TestRealm, after: number): Promise<number[]> {
  const known = new Set<number>();
  for (const event of (await toldOfGroups(realm, after)) as { op: string; user_ids: number[] }[]) {
    for (const id of event.user_ids) {
      if (event.op === 'add_members') known.add(id);
      else known.delete(id);
    }
  }
  return [...known].sort((a, b) => a - b);
}
