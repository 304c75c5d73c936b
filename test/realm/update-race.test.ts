import { describe, expect, it } from 'vitest';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { TransactWriteCommand } from '../../shared/table/commands.ts';
import { edit, storedChannel } from '../support/channel-state.ts';
import { givenChannel, givenGroup } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { badRequest, change, changed, payloadsAfter, storedRealm } from '../support/realm-state.ts';
import { lastNumber } from '../support/stored.ts';

const { members, moderators, administrators, owners } = systemGroups;
const ROUNDS = 6;

describe('concurrent edits of the settings', () => {
  it('never mix, and only one of several that expect the same value succeeds', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const before = await lastNumber(realm);
    const values = [moderators.id, administrators.id, owners.id, 1];
    const replies = await Promise.all(
      values.map((value, i) =>
        change(realm.container(), owner, {
          name: `name ${i}`,
          waiting_period_threshold: i + 1,
          can_create_bots_group: { new: value, old: members.id },
        }),
      ),
    );
    expect(replies.map(({ body }) => body.code ?? 'success').sort()).toEqual([
      ...Array(3).fill('EXPECTATION_MISMATCH'),
      'success',
    ]);
    const won = replies.findIndex(({ status }) => status === 200);
    expect(await storedRealm(realm)).toMatchObject({
      name: `name ${won}`,
      version: 2,
      settings: { waiting_period_threshold: won + 1, can_create_bots_group: values[won] },
    });
    const told = await payloadsAfter(realm, before);
    // The third setting has a second name, and an event for that too.
    expect(told.filter(({ type }) => type === 'realm')).toHaveLength(4);
  });

  it('of different settings are all kept, and the last event has the stored value', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const before = await lastNumber(realm);
    const given = [
      { name: 'a' },
      { name: 'b' },
      { enable_read_receipts: true },
      { message_retention_days: '9' },
      { can_create_groups: { new: owners.id } },
    ];
    const replies = await Promise.all(given.map((each) => change(realm.container(), owner, each)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const stored = await storedRealm(realm);
    expect(stored).toMatchObject({
      version: 6,
      settings: { enable_read_receipts: true, message_retention_days: 9, can_create_groups: owners.id },
    });
    const names = (await payloadsAfter(realm, before)).filter(({ property }) => property === 'name');
    expect(names.at(-1)?.value).toBe(stored.name);
  });

  it('are made once, even if the reply of the store is lost', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const before = await lastNumber(realm);
    let isLost = false;
    const lossy = realm.container((send) => async (command) => {
      const reply = await send(command);
      if (!isLost && command instanceof TransactWriteCommand) {
        isLost = true;
        throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
      }
      return reply;
    });
    await changed(lossy, admin, { name: 'Once', can_create_bots_group: { new: owners.id, old: members.id } });
    expect(isLost).toBe(true);
    expect(await storedRealm(realm)).toMatchObject({ name: 'Once', version: 2 });
    expect(await payloadsAfter(realm, before)).toHaveLength(3);
  });
});

describe('an edit of the settings and another concurrent request', () => {
  it('never both name a group and deactivate it', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    for (let round = 0; round < ROUNDS; round++) {
      const { groupId } = await givenGroup(realm);
      const replies = await Promise.all([
        change(realm.container(), owner, { can_create_bots_group: { new: groupId } }),
        realm.container().call(deactivate, owner, {}, { path: { user_group_id: groupId } }),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
  });

  it('cannot name a group that was deactivated just before', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { groupId } = await givenGroup(realm);
    let isDone = false;
    const slow = realm.container((send) => async (command) => {
      if (command instanceof TransactWriteCommand && !isDone) {
        isDone = true;
        const { status } = await realm.call(deactivate, owner, {}, { path: { user_group_id: groupId } });
        expect(status).toBe(200);
      }
      return send(command);
    });
    const reply = await change(slow, owner, { can_create_bots_group: { new: groupId } });
    expect(isDone).toBe(true);
    expect(reply).toMatchObject(badRequest);
    expect((await storedRealm(realm)).settings.can_create_bots_group).toBe(members.id);
  });

  it('never both choose the moderation channel and make it public (specification 4.2)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    for (let round = 0; round < ROUNDS; round++) {
      const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
      const [chosen, opened] = await Promise.all([
        change(realm.container(), owner, { moderation_request_channel_id: channelId }),
        edit(realm.container(), owner, channelId, { is_private: false }),
      ]);
      expect([chosen.status, opened.status].sort()).toEqual([200, 400]);
      const { isPrivate } = await storedChannel(realm, channelId);
      expect(isPrivate).toBe(chosen.status === 200);
    }
  });

  it.each(['moderation_request_channel_id', 'new_stream_announcements_stream_id'] as const)(
    'never leave an archived channel in a setting: %s',
    async (name) => {
      const realm = await newRealm();
      const { owner } = realm.people;
      for (let round = 0; round < ROUNDS; round++) {
        const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
        const [, archived] = await Promise.all([
          change(realm.container(), owner, { [name]: channelId }),
          realm.container().call(archive, owner, {}, { path: { stream_id: channelId } }),
        ]);
        expect(archived.status).toBe(200);
        expect((await storedRealm(realm)).settings[name]).toBe(-1);
      }
    },
  );
});
