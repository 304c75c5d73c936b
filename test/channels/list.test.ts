import { describe, expect, it } from 'vitest';
import { handler as list } from '../../functions/channels/list.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { loadChannels } from '../../shared/model/subscription/object.ts';
import { partition } from '../../shared/table/keys.ts';
import { givenChannel, givenGroup } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

/** A realm with a channel of each kind. */
async function scene() {
  const realm = await newRealm();
  const { member, admin, bot } = realm.people;
  const group = await givenGroup(realm, { members: [member] });
  await givenChannel(realm, { name: 'web', isWebPublic: true });
  await givenChannel(realm, { name: 'old', isArchived: true });
  await givenChannel(realm, { name: 'ours', isPrivate: true }, [member]);
  await givenChannel(realm, { name: 'theirs', isPrivate: true }, [admin]);
  await givenChannel(realm, {
    name: 'joinable',
    isPrivate: true,
    groups: { can_subscribe_group: group.groupId },
  });
  await givenChannel(realm, {
    name: 'led',
    isPrivate: true,
    groups: { can_administer_channel_group: { direct_members: [member.userId], direct_subgroups: [] } },
  });
  await givenChannel(realm, {
    name: 'everyones',
    isPrivate: true,
    groups: { can_subscribe_group: systemGroups.everyone.id },
  });
  return { realm, member, admin, bot, guest: realm.people.guest };
}

async function names(realm: TestRealm, as: Person, query: Record<string, unknown> = {}): Promise<string[]> {
  const { body } = await realm.call(list, as, {}, { query });
  return body.streams.map(({ name }: { name: string }) => name);
}

const nothing = { include_public: false, include_subscribed: false };

describe('GET /streams', () => {
  it('shows public channels and those that the caller is subscribed to, in the order of names', async () => {
    const { realm, member, admin, guest } = await scene();
    expect(await names(realm, member)).toEqual(['general', 'ours', 'random', 'web']);
    expect(await names(realm, admin)).toEqual(['general', 'random', 'theirs', 'web']);
    expect(await names(realm, guest)).toEqual(['general']);
  });

  it('combines the requested kinds', async () => {
    const { realm, member, guest } = await scene();
    expect(await names(realm, member, nothing)).toEqual([]);
    expect(await names(realm, member, { ...nothing, include_subscribed: true })).toEqual([
      'general',
      'ours',
      'random',
    ]);
    expect(await names(realm, member, { include_subscribed: false })).toEqual(['general', 'random', 'web']);
    expect(await names(realm, guest, { ...nothing, include_web_public: true })).toEqual(['web']);
    expect(await names(realm, guest, { include_web_public: true })).toEqual(['general', 'web']);
    expect(await names(realm, member, { ...nothing, include_can_access_content: true })).toEqual([
      'everyones',
      'general',
      'joinable',
      'ours',
      'random',
      'web',
    ]);
  });

  it('shows exactly the channels that the caller can see', async () => {
    const { realm, member, admin, guest } = await scene();
    const all = ['everyones', 'general', 'joinable', 'led', 'ours', 'random', 'theirs', 'web'];
    expect(await names(realm, admin, { include_all: true })).toEqual(all);
    expect(await names(realm, admin, { include_all_active: true })).toEqual(all);
    expect(await names(realm, member, { include_all: true })).toEqual(
      all.filter((name) => name !== 'theirs'),
    );
    expect(await names(realm, guest, { include_all: true })).toEqual(['general', 'web']);
  });

  it('shows archived channels if they are not excluded', async () => {
    const { realm, member } = await scene();
    expect(await names(realm, member, { exclude_archived: false })).toContain('old');
    expect(await names(realm, member, { ...nothing, include_all: true, exclude_archived: false })).toContain(
      'old',
    );
  });

  it('shows a bot, and nobody else, the channels of its owner', async () => {
    const { realm, member, bot } = await scene();
    const asked = { ...nothing, include_owner_subscribed: true };
    expect(await names(realm, bot, asked)).toEqual(['general', 'ours', 'random']);
    expect(await names(realm, member, asked)).toEqual([]);
  });

  it('marks default channels on request', async () => {
    const { realm, member } = await scene();
    const { body } = await realm.call(list, member, {}, { query: { include_default: true } });
    const defaults = body.streams.filter(({ is_default }: { is_default: boolean }) => is_default);
    expect(defaults.map(({ name }: { name: string }) => name)).toEqual(['general']);
    const plain = await realm.call(list, member);
    expect(plain.body.streams[0]).not.toHaveProperty('is_default');
  });

  it('refuses parameters of the wrong type', async () => {
    const realm = await newRealm();
    for (const query of [{ include_all: 'yes' }, { include_public: 1 }, { exclude_archived: 'null' }]) {
      expect(await realm.call(list, realm.people.member, {}, { query })).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST' },
      });
    }
    const query = { include_all: true, include_all_active: true };
    expect(await realm.call(list, realm.people.member, {}, { query })).toMatchObject({
      body: { code: 'REQUEST_CONFUSING_VAR' },
    });
  });
});

it('the list has the count of a channel that is created between the reads of channels and counts', async () => {
  const realm = await newRealm();
  const { admin } = realm.people;
  let made: Promise<unknown> | undefined;
  const container = realm.container((send) => async (command) => {
    const { input } = command as { readonly input: { readonly ExpressionAttributeValues?: object } };
    if (JSON.stringify(input.ExpressionAttributeValues ?? {}).includes(`"${channels(realm)}"`)) {
      made ??= givenChannel(realm, { name: 'new' }, [admin]);
      await made;
    }
    return send(command);
  });
  const all = await loadChannels(container.outside.table, realm.realm);
  expect(all.find(({ channel }) => channel.name === 'new')?.count).toMatchObject({ subscribers: 1 });
});

/** Where all channels of the organization are stored. */
const channels = ({ realm }: TestRealm): string => partition('channel', { realm });
