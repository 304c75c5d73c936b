import { expect, it } from 'vitest';
import { editChannel } from '../../shared/domain/channel-edit/edit.ts';
import { type Channel, channelGroupNames } from '../../shared/model/channel/channel.ts';
import { accessCaller } from '../../shared/model/user/caller.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

it('an edit whose events do not fit into one item of the table is refused, not truncated', async () => {
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
  const edit = (people: number): Promise<unknown> => {
    const decided = { before: listing(people, 10_000_000), after: listing(people, 20_000_000) };
    const commit = async (count: number) => ({ count }) as never;
    return editChannel(caller, commit, decided, snapshot, realm.outside.now());
  };
  const { count } = (await edit(50)) as { readonly count: number };
  expect(count).toBeGreaterThan(channelGroupNames.length);
  await expect(edit(500)).rejects.toThrow('too many people and groups');
});
