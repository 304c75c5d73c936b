import { describe, expect, it } from 'vitest';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { handler as update } from '../../functions/userGroups/update.ts';
import { handler as updateMembers } from '../../functions/userGroups/updateMembers.ts';
import { type Client, givenClient } from '../support/event-queue.ts';
import { givenChangedUser, givenUser } from '../support/given.ts';
import { createGroup } from '../support/group-state.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

async function scene() {
  const realm = await newRealm();
  const { owner, member, guest } = realm.people;
  const types = { event_types: ['user_group'], fetch_event_types: ['realm_user_groups'] };
  const clientOf = (capabilities: object): Promise<Client> =>
    givenClient(realm, member, { ...types, client_capabilities: capabilities });
  const groupId = await createGroup(realm, owner, { name: 'cooks', members: [member.userId, guest.userId] });
  const call = async (
    handler: Parameters<TestRealm['call']>[0],
    as: Person,
    given: Readonly<Record<string, unknown>> = {},
  ): Promise<void> => {
    const { body } = await realm.call(handler, as, given, { path: { user_group_id: groupId } });
    expect(body.msg).toBe('');
  };
  return { realm, owner, member, guest, groupId, clientOf, call };
}

/** The named groups in the state that a registration tells. */
const namedIn = ({ state }: Client): string[] =>
  state.realm_user_groups
    .filter(({ is_system_group }: { is_system_group: boolean }) => !is_system_group)
    .map(({ name }: { name: string }) => name);

/** All events of a client. A poll ends at a change of permissions until that has settled. */
async function all(client: Client): Promise<object[]> {
  const events = await client.poll();
  return events.length === 0
    ? []
    : [...events.map(({ id, type, ...event }) => event), ...(await all(client))];
}

describe('include_deactivated_groups (wire facts 14.1)', () => {
  it('sends clients with it updates of deactivated groups, and clients without it a removal', async () => {
    const { owner, guest, groupId, clientOf, call } = await scene();
    const clients = [await clientOf({ include_deactivated_groups: true }), await clientOf({})] as const;
    await call(deactivate, owner);
    await call(update, owner, { name: 'chefs', description: 'at rest' });
    await call(updateMembers, owner, { delete: [guest.userId] });
    const data = (change: object) => ({ op: 'update', group_id: groupId, data: change });
    expect(await all(clients[0])).toEqual([
      data({ deactivated: true }),
      data({ name: 'chefs' }),
      data({ description: 'at rest' }),
      { op: 'remove_members', group_id: groupId, user_ids: [guest.userId] },
    ]);
    expect(await all(clients[1])).toEqual([{ op: 'remove', group_id: groupId }]);
  });

  it('sends clients without it a reactivated group as a new one, with its present members', async () => {
    const { realm, owner, member, groupId, clientOf, call } = await scene();
    await call(deactivate, owner);
    const gone = await givenUser(realm);
    await call(updateMembers, owner, { add: [gone.userId] });
    await givenChangedUser(realm, gone, { isActive: false });
    const clients = [await clientOf({ include_deactivated_groups: true }), await clientOf({})] as const;
    expect(clients.map(namedIn)).toEqual([['cooks'], []]);
    await call(update, owner, { deactivated: false, description: 'back' });
    expect(await all(clients[0])).toEqual([
      { op: 'update', group_id: groupId, data: { description: 'back' } },
      { op: 'update', group_id: groupId, data: { deactivated: false } },
    ]);
    const [added, ...others] = await all(clients[1]);
    expect(others).toEqual([]);
    expect(added).toMatchObject({
      op: 'add',
      group: { id: groupId, name: 'cooks', description: 'back', deactivated: false },
    });
    const { group } = added as { group: { members: number[] } };
    expect(group.members).toEqual([member.userId, realm.people.guest.userId].sort((a, b) => a - b));
    expect(added).not.toHaveProperty('group_id');
  });
});
