import { describe, expect, it } from 'vitest';
import { handler as archiveFolder } from '../../functions/channelFolders/update.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { TransactWriteCommand } from '../../shared/table/commands.ts';
import { edit, edited, storedChannel, toldOfChannels } from '../support/channel-state.ts';
import { createFolder } from '../support/folder-state.ts';
import { givenChannel, givenGroup } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber, storedCount } from '../support/stored.ts';
import { channelIdOf } from '../support/subscription-state.ts';

const { members, moderators, administrators, owners, nobody } = systemGroups;
const ROUNDS = 6;

describe('concurrent edits of a channel', () => {
  it('never mix, and only one of several that expect the same value succeeds', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const before = await lastNumber(realm);
    const values = [members.id, moderators.id, administrators.id, owners.id];
    const replies = await Promise.all(
      values.map((value, i) =>
        edit(realm.container(), admin, channelId, {
          description: `${i}`,
          new_name: `name ${i}`,
          can_resolve_topics_group: { new: value, old: nobody.id },
        }),
      ),
    );
    const codes = replies.map(({ body }) => body.code ?? 'success').sort();
    expect(codes).toEqual([...Array(3).fill('EXPECTATION_MISMATCH'), 'success']);
    const won = replies.findIndex(({ status }) => status === 200);
    expect(await storedChannel(realm, channelId)).toMatchObject({
      description: `${won}`,
      name: `name ${won}`,
      groups: { can_resolve_topics_group: values[won] },
    });
    for (const i of values.keys()) {
      expect(await channelIdOf(realm, `name ${i}`)).toBe(i === won ? channelId : undefined);
    }
    expect(await toldOfChannels(realm, before)).toHaveLength(3);
  });

  it('each succeed or get a 429 if there are more than can be retried in time', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const before = await lastNumber(realm);
    const texts = Array.from({ length: 40 }, (_, i) => `text ${i}`);
    const replies = await Promise.all(
      texts.map((description) => edit(realm.container(), admin, channelId, { description })),
    );
    const made = texts.filter((_, i) => replies[i]?.status === 200);
    for (const { status, body } of replies)
      if (status !== 200) expect([status, body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
    expect(made.length).toBeGreaterThan(10);
    const told = (await toldOfChannels(realm, before)).map(({ value }) => value);
    expect(told.toSorted()).toEqual(made.toSorted());
    expect(await storedChannel(realm, channelId)).toMatchObject({ description: told.at(-1) });
  });

  it('end in the state of the last event', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((description) =>
        edit(realm.container(), admin, channelId, { description }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const told = await toldOfChannels(realm, before);
    expect(told).toHaveLength(5);
    expect((await storedChannel(realm, channelId)).description).toBe(told.at(-1)?.value);
  });

  it('cannot produce an invalid state together', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    for (let round = 0; round < ROUNDS; round++) {
      const { channelId } = await givenChannel(realm, {}, [owner]);
      const replies = await Promise.all([
        edit(realm.container(), owner, channelId, { is_private: true }),
        edit(realm.container(), owner, channelId, { can_create_topic_group: { new: members.id } }),
        edit(realm.container(), owner, channelId, { is_default_stream: true }),
      ]);
      expect(replies.some(({ status }) => status === 200)).toBe(true);
      const { isPrivate, isDefault, historyPublicToSubscribers, groups } = await storedChannel(
        realm,
        channelId,
      );
      expect(isPrivate && isDefault).toBe(false);
      expect(historyPublicToSubscribers || groups.can_create_topic_group === systemGroups.everyone.id).toBe(
        true,
      );
    }
  });
});

describe('an edit and another concurrent request', () => {
  it('empty_topic_only and a message to a named topic never both succeed (specification 3)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const outcomes = new Set<string>();
    for (let round = 0; round < 2 * ROUNDS; round++) {
      const { channelId } = await givenChannel(realm, {}, [member]);
      const post = { type: 'channel', to: channelId, topic: 'named', content: 'x' };
      const restrict = () => edit(realm.container(), admin, channelId, { topics_policy: 'empty_topic_only' });
      const say = () => realm.container().call(send, member, post);
      const [sent, restricted] =
        round % 2 === 0
          ? await Promise.all([say(), restrict()])
          : await Promise.all([restrict(), say()]).then(([a, b]) => [b, a] as const);
      outcomes.add([sent.status, restricted.status].sort().join());
      const count = await storedCount(realm, channelId);
      const { topicsPolicy } = await storedChannel(realm, channelId);
      expect(topicsPolicy === 'empty_topic_only').toBe(restricted.status === 200);
      expect(count?.onlyEmptyTopic === true).toBe(restricted.status === 200);
      expect(count?.namedTopics ?? 0).toBe(sent.status === 200 ? 1 : 0);
    }
    expect([...outcomes]).toEqual(['200,400']);
  });

  it('only one of a rename and the creation of a channel with that name succeeds', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    for (let round = 0; round < ROUNDS; round++) {
      const name = `wanted ${round}`;
      const { channelId } = await givenChannel(realm);
      const [renamed] = await Promise.all([
        edit(realm.container(), admin, channelId, { new_name: name.toUpperCase() }),
        realm.container().call(subscribe, member, { subscriptions: [{ name }] }),
      ]);
      const holder = (await channelIdOf(realm, name)) as number;
      expect(holder === channelId).toBe(renamed.status === 200);
      expect((await storedChannel(realm, holder)).name.toLowerCase()).toBe(name);
    }
  });

  it('only one of two renames to the same name succeeds', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const ids = [await givenChannel(realm), await givenChannel(realm), await givenChannel(realm)].map(
      ({ channelId }) => channelId,
    );
    const replies = await Promise.all(
      ids.map((id) => edit(realm.container(), admin, id, { new_name: 'one name' })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    const holder = await channelIdOf(realm, 'one name');
    expect(holder).toBe(ids[replies.findIndex(({ status }) => status === 200)]);
  });

  it('an edit that names a group and the deactivation of the group never both succeed', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    for (let round = 0; round < ROUNDS; round++) {
      const { groupId } = await givenGroup(realm);
      const { channelId } = await givenChannel(realm);
      const replies = await Promise.all([
        edit(realm.container(), owner, channelId, { can_send_message_group: { new: groupId } }),
        realm.container().call(deactivate, owner, {}, { path: { user_group_id: groupId } }),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
  });

  it('a move into a folder and the archival of the folder never both succeed', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    for (let round = 0; round < ROUNDS; round++) {
      const folder = await createFolder(realm, `folder ${round}`);
      const { channelId } = await givenChannel(realm);
      const archive = { path: { channel_folder_id: folder } };
      const replies = await Promise.all([
        edit(realm.container(), admin, channelId, { folder_id: folder }),
        realm.container().call(archiveFolder, admin, { is_archived: true }, archive),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
  });

  it('unarchiving a private channel and the leave of its last subscriber each happen completely or not at all', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    for (let round = 0; round < ROUNDS; round++) {
      const { channelId, name } = await givenChannel(realm, { isPrivate: true, isArchived: true }, [member]);
      const before = await lastNumber(realm);
      const [taken, left] = await Promise.all([
        edit(realm.container(), admin, channelId, { is_archived: false }),
        realm.container().call(unsubscribe, member, { subscriptions: [name] }),
      ]);
      expect(left.status).toBe(200);
      expect((await storedChannel(realm, channelId)).isArchived).toBe(taken.status !== 200);
      expect((await toldOfChannels(realm, before)).some(({ op }) => op === 'create')).toBe(
        taken.status === 200,
      );
    }
  });

  it('a user who joins a channel just after it was made private is refused', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const { channelId, name } = await givenChannel(realm, {}, [owner]);
    let isClosed = false;
    const slow = realm.container((send) => async (command) => {
      if (command instanceof TransactWriteCommand && !isClosed) {
        isClosed = true;
        await edited(realm, owner, channelId, { is_private: true });
      }
      return send(command);
    });
    expect((await slow.call(subscribe, member, { subscriptions: [{ name }] })).status).toBe(400);
    expect(isClosed).toBe(true);
    expect((await storedCount(realm, channelId))?.subscribers).toBe(1);
  });
});
