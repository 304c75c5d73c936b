import { expect, it } from 'vitest';
import { handler as listEmoji } from '../../functions/emoji/list.ts';
import { handler as getUser } from '../../functions/users/get.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const queriesOf = ({ meter }: TestRealm): number =>
  meter.calls.filter(({ action }) => action === 'Query').length;

it('the groups of the caller are read only by endpoints that can depend on them', async () => {
  const realm = await newRealm();
  const container = realm.container();
  const { member } = realm.people;
  // The one query is that of the emoji.
  await container.call(listEmoji, member);
  expect(queriesOf(container)).toBe(1);
  container.meter.reset();
  // Whom a user may see depends on their groups.
  await container.call(getUser, member, {}, { path: { user: member.userId } });
  expect(queriesOf(container)).toBe(1);
});

it('a container that remembers the host of an organization reads one item fewer', async () => {
  const realm = await newRealm();
  const container = realm.container();
  const unitsOfGets = async (): Promise<number> => {
    container.meter.reset();
    expect((await container.call(listEmoji, realm.people.member)).status).toBe(200);
    return container.meter.calls
      .filter(({ action }) => action === 'BatchGet')
      .reduce((sum, { readUnits }) => sum + readUnits, 0);
  };
  const cold = await unitsOfGets();
  const warm = await unitsOfGets();
  // Cold, it also reads the item for all other hosts, and looks for the account in two organizations.
  expect(cold - warm).toBe(2);
});
