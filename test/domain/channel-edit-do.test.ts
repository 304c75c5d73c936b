import { expect, it } from 'vitest';
import { checkEditSize, planEdit } from '../../shared/domain/channel-edit/edit.ts';
import type { Channel } from '../../shared/model/channel/channel.ts';
import { channelGroupNames } from '../../shared/model/channel/settings.ts';
import { accessCaller } from '../../shared/model/user/caller.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

it('an edit whose events are more than one item of the table holds is refused, not cut', async () => {
  const realm = await newRealm();
  const caller = await accessCaller(realm.outside, realm.realm, realm.people.owner.userId, undefined);
  const channel = await givenChannel(realm, { isPrivate: true });
  const snapshot = { count: undefined, topics: { events: undefined, empty: undefined } };
  const listing = (people: number, first: number): Channel => {
    const direct_members = Array.from({ length: people }, (_, i) => first + i);
    const setting = { direct_members, direct_subgroups: [] };
    const groups = Object.fromEntries(channelGroupNames.map((name) => [name, setting]));
    return { ...channel, groups: { ...channel.groups, ...groups } };
  };
  const plan = (people: number) => {
    const edit = { before: listing(people, 10_000_000), after: listing(people, 20_000_000) };
    return planEdit(caller, edit, snapshot, realm.outside.now());
  };
  expect(plan(50).count).toBeGreaterThan(channelGroupNames.length);
  expect(() => checkEditSize(plan(50))).not.toThrow();
  expect(() => checkEditSize(plan(500))).toThrow('too many people and groups');
});
