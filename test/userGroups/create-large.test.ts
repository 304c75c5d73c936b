import { describe, expect, it } from 'vitest';
import { conflict, fault, lost, type Mishap, mishaps, refusedWith, unheard } from '../log/faults.ts';
import { newRealm } from '../realm.ts';
import { lastNumber } from '../stored.ts';
import {
  createGroup,
  expectSameMembers,
  groupOf,
  manyPeople,
  membershipsOf,
  toldOfGroups,
  tryToCreate,
} from './group-state.ts';

describe('a large group', () => {
  it('comes with two hundred members at once', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const people = await manyPeople(realm, 200);
    const before = await lastNumber(realm);
    const container = realm.container();
    const groupId = await createGroup(container, member, { members: people.map(({ userId }) => userId) });
    expect(container.meter.roundTrips).toBe(5);
    expect(await expectSameMembers(realm, groupId, people)).toHaveLength(200);
    expect(await toldOfGroups(realm, before)).toMatchObject([{ op: 'add', group: { id: groupId } }]);
  });

  it('leaves nothing behind when its name was given to another meanwhile', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const people = await manyPeople(realm, 60);
    const members = people.map(({ userId }) => userId);
    let transactions = 0;
    const container = realm.container((send) => async (command) => {
      const isLast = command.constructor.name === 'TransactWriteCommand' && ++transactions === 3;
      if (isLast) await createGroup(realm, owner, { name: 'crowd' });
      return send(command);
    });
    const { body } = await tryToCreate(container, member, { name: 'crowd', members });
    expect(body.msg).toMatch(/already.*crowd/);
    for (const { userId } of people) expect(await membershipsOf(realm, userId)).toEqual([]);
  });

  it('comes about in spite of lost requests and lost replies', async () => {
    const realm = await newRealm();
    const people = await manyPeople(realm, 120);
    const members = people.map(({ userId }) => userId);
    const before = await lastNumber(realm);
    const faulty = realm.container(
      mishaps({ transact: [lost, unheard, refusedWith(conflict), unheard, unheard] }),
    );
    const groupId = await createGroup(faulty, realm.people.member, { members });
    expect(await expectSameMembers(realm, groupId, people)).toHaveLength(120);
    expect(await toldOfGroups(realm, before)).toHaveLength(1);
  });

  it('does not exist when its creator dies before the end, whatever is left of it', async () => {
    const realm = await newRealm();
    const people = await manyPeople(realm, 60);
    const members = people.map(({ userId }) => userId);
    const before = await lastNumber(realm);
    const dying: Mishap = async () => {
      throw fault('AccessDeniedException');
    };
    const container = realm.container(mishaps({ transact: [undefined, undefined, dying] }));
    expect((await tryToCreate(container, realm.people.member, { name: 'crowd', members })).status).toBe(500);
    expect(await toldOfGroups(realm, before)).toEqual([]);
    const [left] = await membershipsOf(realm, members[0] as number);
    expect(await groupOf(realm, left as number)).toBeUndefined();
    expect((await tryToCreate(realm, realm.people.owner, { can_join_group: left })).status).toBe(400);
    const groupId = await createGroup(realm, realm.people.member, { name: 'crowd', members });
    expect(groupId).not.toBe(left);
    expect(await expectSameMembers(realm, groupId, people)).toHaveLength(60);
  });
});
