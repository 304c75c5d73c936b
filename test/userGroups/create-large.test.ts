import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as isMember } from '../../functions/userGroups/isMember.ts';
import { handler as updateMembers } from '../../functions/userGroups/updateMembers.ts';
import { handler as updateSubgroups } from '../../functions/userGroups/updateSubgroups.ts';
import { handler as deactivateUser } from '../../functions/users/deactivate.ts';
import { OUTBOX } from '../../shared/domain/outbox/outbox.ts';
import {
  conflict,
  fault,
  lost,
  type Mishap,
  meanwhile,
  mishaps,
  refusedWith,
  unheard,
} from '../support/faults.ts';
import { givenChannel, givenGraph } from '../support/given.ts';
import {
  createGroup,
  expectSameMembers,
  groupOf,
  manyPeople,
  membershipsOf,
  membersOf,
  toldOfGroups,
  tryToCreate,
} from '../support/group-state.ts';
import { deliver, endingAt, leftIn, messagesOf, workedOff } from '../support/outbox.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { told as toldOf } from '../support/subscription-state.ts';
import { workOf } from '../support/work-queue.ts';

const ids = (...people: readonly Person[]): number[] =>
  people.map(({ userId }) => userId).sort((a, b) => a - b);

const change = (realm: TestRealm, as: Person, groupId: number, given: Readonly<Record<string, unknown>>) =>
  realm.call(updateMembers, as, given, { path: { user_group_id: groupId } });

/** Checks that nothing of a large group is left but its stored memberships. */
async function expectSettled(realm: TestRealm, groupId: number, people: readonly Person[]): Promise<void> {
  expect(await expectSameMembers(realm, groupId, people)).toEqual(ids(...people));
  expect(await arriving(realm)).toEqual({});
  expect(await realm.outside.table.get('group', { realm: realm.realm, groupId })).not.toHaveProperty(
    'isArriving',
  );
  expect(await leftIn(realm)).toEqual([]);
}

async function arriving({ outside, realm }: TestRealm): Promise<object> {
  const graph = await outside.table.get('groupGraph', { realm });
  return graph?.arriving ?? {};
}

/** A group of sixty, whose memberships are not stored yet. */
async function givenArrivals(): Promise<{ realm: TestRealm; people: Person[]; groupId: number }> {
  const realm = await newRealm();
  const people = await manyPeople(realm, 60);
  const groupId = await createGroup(realm, realm.people.member, { members: ids(...people) });
  return { realm, people, groupId };
}

describe('a large group', () => {
  it('is created with two hundred members in one transaction: 3 round trips cold, 2 warm', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const work = await workOf(realm, OUTBOX);
    const people = await manyPeople(realm, 200);
    const container = realm.container();
    for (const roundTrips of [3, 2]) {
      const before = await lastNumber(realm);
      container.meter.reset();
      const groupId = await createGroup(container, member, { members: ids(...people) });
      expect(container.meter.roundTrips).toBe(roundTrips);
      expect(await toldOfGroups(realm, before)).toMatchObject([
        { op: 'add', group: { id: groupId, members: ids(...people) } },
      ]);
      const messages = (await work.receive()).map(({ Body }) => Body ?? '');
      expect(messages).toEqual(messagesOf(await leftIn(realm)));
      expect((await deliver(realm, messages)).batchItemFailures).toEqual([]);
      await expectSettled(realm, groupId, people);
    }
  });

  it('has its members from the start, before their memberships are stored', async () => {
    const realm = await newRealm();
    const { owner, guest } = realm.people;
    const people = await manyPeople(realm, 60);
    const [first, last] = [people[0] as Person, people[59] as Person];
    const inner = await createGroup(realm, owner, { members: ids(...people) });
    const outer = await createGroup(realm, owner, { subgroups: [inner] });
    expect(await membershipsOf(realm, last.userId)).toEqual([]);
    expect((await groupOf(realm, inner)).members).toEqual(ids(...people));
    expect(await membersOf(realm, inner)).toEqual(ids(...people));
    expect(await membersOf(realm, outer, false)).toEqual(ids(...people));
    for (const [group, direct] of [[inner, true] as const, [outer, false] as const]) {
      for (const [{ userId }, is] of [[last, true] as const, [guest, false] as const]) {
        const path = { user_group_id: group, user_id: userId };
        const { body } = await realm.call(isMember, owner, { direct_member_only: direct }, { path });
        expect(body.is_user_group_member).toBe(is);
      }
    }
    const { channelId } = await givenChannel(realm, { groups: { can_send_message_group: outer } }, [
      first,
      guest,
    ]);
    const message = { type: 'channel', to: channelId, topic: 't', content: 'hello' };
    expect((await realm.call(send, first, message)).status).toBe(200);
    expect((await realm.call(send, guest, message)).status).toBe(400);
    const before = await lastNumber(realm);
    const { status } = await realm.call(deactivateUser, owner, {}, { path: { user: String(last.userId) } });
    expect(status).toBe(200);
    const told = (await toldOf(realm, before)).map(({ payload }) => payload);
    expect(told).toContainEqual({
      type: 'user_group',
      op: 'remove_members',
      group_id: inner,
      user_ids: [last.userId],
    });
    await workedOff(realm);
    await expectSettled(realm, inner, people);
    expect(await membersOf(realm, inner)).toEqual(ids(...people.slice(0, -1)));
  });

  it('leaves nothing behind if its name was given to another group meanwhile', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const people = await manyPeople(realm, 60);
    const container = realm.container(meanwhile(() => createGroup(realm, owner, { name: 'crowd' })));
    const { body } = await tryToCreate(container, member, { name: 'crowd', members: ids(...people) });
    expect(body.msg).toMatch(/already.*crowd/);
    for (const { userId } of people) expect(await membershipsOf(realm, userId)).toEqual([]);
    expect([await arriving(realm), await leftIn(realm)]).toEqual([{}, []]);
  });

  it('is created in spite of lost requests and lost replies', async () => {
    const realm = await newRealm();
    const people = await manyPeople(realm, 120);
    const before = await lastNumber(realm);
    const faulty = realm.container(mishaps({ transact: [lost, refusedWith(conflict), unheard, unheard] }));
    const groupId = await createGroup(faulty, realm.people.member, { members: ids(...people) });
    expect(await toldOfGroups(realm, before)).toHaveLength(1);
    const worker = realm.container(mishaps({ transact: [lost, unheard, refusedWith(conflict), unheard] }));
    expect((await deliver(worker, messagesOf(await leftIn(realm)))).batchItemFailures).toEqual([]);
    await expectSettled(realm, groupId, people);
  });

  it('does not exist, even in part, if its creation is interrupted', async () => {
    const realm = await newRealm();
    const people = await manyPeople(realm, 60);
    const before = await lastNumber(realm);
    const dying: Mishap = async () => {
      throw fault('AccessDeniedException');
    };
    const container = realm.container(mishaps({ transact: [dying] }));
    const given = { name: 'crowd', members: ids(...people) };
    expect((await tryToCreate(container, realm.people.member, given)).status).toBe(500);
    expect([await toldOfGroups(realm, before), await arriving(realm), await leftIn(realm)]).toEqual([
      [],
      {},
      [],
    ]);
    await createGroup(realm, realm.people.member, given);
  });

  it.each([1, 2, 3, 4])('is completed if its worker ends before transaction %i', async (nth) => {
    const { realm, people, groupId } = await givenArrivals();
    const messages = messagesOf(await leftIn(realm));
    const { batchItemFailures } = await deliver(endingAt(realm, nth), messages);
    expect(batchItemFailures).toHaveLength(1);
    expect(await membersOf(realm, groupId)).toEqual(ids(...people));
    expect((await deliver(realm, [...messages, ...messages])).batchItemFailures).toEqual([]);
    await expectSettled(realm, groupId, people);
  });

  it('can be changed at once, and no late worker restores removed members', async () => {
    const { realm, people, groupId } = await givenArrivals();
    const { member } = realm.people;
    const [first, ...others] = people as [Person, ...Person[]];
    // The worker has read the new members, and is about to store them when one is removed.
    const late = realm.container(
      meanwhile(async () => {
        const again = await change(realm, member, groupId, { add: ids(first) });
        expect(again.body.msg).toContain('already a member');
        expect((await change(realm, member, groupId, { delete: ids(first) })).status).toBe(200);
      }),
    );
    expect((await deliver(late, messagesOf(await leftIn(realm)))).batchItemFailures).toEqual([]);
    await expectSettled(realm, groupId, others);
  });

  it('is not completed by users who may not change its members', async () => {
    const { realm, people, groupId } = await givenArrivals();
    const { status } = await change(realm, realm.people.moderator, groupId, {
      delete: ids(people[0] as Person),
    });
    expect(status).toBe(400);
    expect(Object.keys(await arriving(realm))).toEqual([String(groupId)]);
  });

  it('can be created while other groups and subgroups change', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const people = await manyPeople(realm, 60);
    const [outer, inner] = [await createGroup(realm, owner), await createGroup(realm, owner)];
    const groups = await Promise.all([
      ...[1, 2, 3].map(() => createGroup(realm.container(), owner, { members: ids(...people) })),
      createGroup(realm.container(), owner, { members: ids(...people), subgroups: [inner] }),
    ]);
    const [given, batch] = await Promise.all([
      realm.call(updateSubgroups, owner, { add: groups }, { path: { user_group_id: outer } }),
      deliver(realm.container(), messagesOf(await leftIn(realm))),
    ]);
    expect([given.status, batch.batchItemFailures]).toEqual([200, []]);
    for (const groupId of groups) await expectSettled(realm, groupId, people);
    expect((await groupOf(realm, outer)).direct_subgroup_ids.toSorted()).toEqual(groups.toSorted());
    expect((await groupOf(realm, groups[3] as number)).direct_subgroup_ids).toEqual([inner]);
  });

  it('waits if so many are created at once that the graph has no room', async () => {
    const realm = await newRealm();
    const people = await manyPeople(realm, 60);
    const crowd = Array.from({ length: 9_950 }, (_, i) => 1_000_000 + i);
    await givenGraph(realm, { arriving: { 7: crowd } });
    const before = await lastNumber(realm);
    const { status, body } = await tryToCreate(realm, realm.people.member, { members: ids(...people) });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
    expect(body.msg).toContain('try again');
    expect(await toldOfGroups(realm, before)).toEqual([]);
    await createGroup(realm, realm.people.member, { members: ids(...people.slice(0, 40)) });
  });
});
