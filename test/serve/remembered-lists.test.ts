import { describe, expect, it } from 'vitest';
import { handler as listChannels } from '../../functions/channels/list.ts';
import { handler as deactivateEmoji } from '../../functions/emoji/deactivate.ts';
import { handler as listEmoji } from '../../functions/emoji/list.ts';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { handler as listGroups } from '../../functions/userGroups/list.ts';
import { handler as updateGroup } from '../../functions/userGroups/update.ts';
import { handler as listUsers } from '../../functions/users/list.ts';
import { QueryCommand } from '../../shared/table/commands.ts';
import { type ItemName, partition } from '../../shared/table/keys.ts';
import { edited } from '../support/channel-state.ts';
import { upload } from '../support/emoji.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { createGroup } from '../support/group-state.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

interface RememberedList {
  /** Where its items are stored. */
  readonly kind: ItemName & ('user' | 'channel' | 'group' | 'emoji');
  readonly handler: Parameters<TestRealm['call']>[0];
  /** One that is there already, or is added. */
  readonly add: (realm: TestRealm) => Promise<unknown>;
  readonly change: (realm: TestRealm, added: never) => Promise<{ readonly status: number } | undefined>;
}

const lists: Readonly<Record<string, RememberedList>> = {
  'GET /users': {
    kind: 'user',
    handler: listUsers,
    add: (realm) => givenUser(realm),
    change: (realm) => realm.call(updateSettings, realm.people.member, { full_name: 'Changed Name' }),
  },
  'GET /streams': {
    kind: 'channel',
    handler: listChannels,
    add: (realm) => givenChannel(realm, { name: 'added' }),
    change: async (realm, { channelId }: { readonly channelId: number }) => {
      await edited(realm, realm.people.owner, channelId, { description: 'changed' });
      return undefined;
    },
  },
  'GET /user_groups': {
    kind: 'group',
    handler: listGroups,
    add: (realm) => createGroup(realm, realm.people.member),
    change: (realm, user_group_id: number) =>
      realm.call(updateGroup, realm.people.member, { description: 'changed' }, { path: { user_group_id } }),
  },
  'GET /realm/emoji': {
    kind: 'emoji',
    handler: listEmoji,
    add: (realm) => upload(realm, realm.people.member, 'party'),
    change: (realm) =>
      realm.call(deactivateEmoji, realm.people.member, {}, { path: { emoji_name: 'party' } }),
  },
};

describe.each(Object.entries(lists))('%s', (_, { kind, handler, add, change }) => {
  it('is remembered by a container, which shows at once what another one changed', async () => {
    const realm = await newRealm();
    const at = partition(kind, { realm: realm.realm });
    let reads = 0;
    const container = realm.container((store) => (command) => {
      if (command instanceof QueryCommand && JSON.stringify(command).includes(`"${at}"`)) reads++;
      return store(command);
    });
    const look = async (from: TestRealm) => {
      const { status, body } = await from.call(handler, realm.people.member);
      expect(status).toBe(200);
      return body;
    };
    await look(container);
    realm.pass(1_000);
    const before = await look(container);
    reads = 0;
    expect(await look(container)).toEqual(before);
    expect(reads).toBe(0);

    const added = await add(realm);
    const after = await look(container);
    expect(after).not.toEqual(before);
    expect(after).toEqual(await look(realm.container()));

    const { status = 200 } = (await change(realm, added as never)) ?? {};
    expect(status).toBe(200);
    const last = await look(container);
    expect(last).not.toEqual(after);
    expect(last).toEqual(await look(realm.container()));
  });
});
