import { describe, expect, it } from 'vitest';
import { handler as updateChannel } from '../../functions/channels/update.ts';
import { handler as updateSubgroups } from '../../functions/userGroups/updateSubgroups.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { givenChannel, givenGraph, givenGroup } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

/** As many edges as a graph can have: some 100 KB. */
const largest = Object.fromEntries(
  Array.from({ length: 10 }, (_, i) => [
    String(400_000 + i),
    Array.from({ length: 1_000 }, (_, j) => 500_000 + j),
  ]),
);

describe('the graph of groups', () => {
  it('costs a warm container the same at its full size as when it is empty', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const container = realm.container();
    const readUnits = async (): Promise<number> => {
      container.meter.reset();
      expect((await container.call(getOwn, member)).status).toBe(200);
      return container.meter.readUnits;
    };
    await readUnits();
    const empty = await readUnits();
    await givenGraph(realm, { edges: largest });
    expect(await readUnits()).toBeGreaterThan(empty + 10);
    expect(await readUnits()).toBe(empty);
    expect(container.meter.roundTrips).toBe(1);
    await givenGraph(realm, { edges: { ...largest, 1: [2] } });
    expect(await readUnits()).toBeGreaterThan(empty + 10);
  });

  it.each([
    ['small', {}],
    ['large', { 400000: Array.from({ length: 1_000 }, (_, i) => 500_000 + i) }],
  ])('follows the next change in a container that remembers a %s one', async (_, edges) => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    await givenGraph(realm, { edges });
    const inner = await givenGroup(realm, { members: [member] });
    const outer = await givenGroup(realm, { subgroups: [inner.groupId] });
    const channel = await givenChannel(realm, { groups: { can_administer_channel_group: outer.groupId } }, [
      member,
    ]);
    const warm = realm.container();
    const edit = async (description: string): Promise<number> => {
      const path = { stream_id: channel.channelId };
      return (await warm.call(updateChannel, member, { description }, { path })).status;
    };
    const change = (subgroups: Readonly<Record<string, unknown>>) =>
      realm.call(updateSubgroups, owner, subgroups, { path: { user_group_id: outer.groupId } });
    expect(await edit('one')).toBe(200);
    expect((await change({ delete: [inner.groupId] })).status).toBe(200);
    expect(await edit('two')).toBe(400);
    expect((await change({ add: [inner.groupId] })).status).toBe(200);
    expect(await edit('three')).toBe(200);
  });
});
