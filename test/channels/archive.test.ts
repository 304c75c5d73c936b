import { describe, expect, it } from 'vitest';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { onlyUser } from '../../shared/model/permission/permission.ts';
import {
  edited,
  invalidChannelId,
  noticesAfter,
  refused,
  storedChannel,
  toldOfChannels,
} from '../support/channel-state.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { expectConsistent } from '../support/subscription-state.ts';

const archived = (realm: TestRealm, as: Person, channelId: number) =>
  realm.call(archive, as, {}, { path: { stream_id: channelId } });

describe('DELETE /streams/{stream_id}', () => {
  it('archives a channel: it keeps its name and its subscribers, and nobody can post', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId, name } = await givenChannel(realm, { isDefault: true }, [member]);
    const before = await lastNumber(realm);
    expect((await archived(realm, admin, channelId)).body).toEqual({ result: 'success', msg: '' });
    expect(await storedChannel(realm, channelId)).toMatchObject({ name, isArchived: true, isDefault: false });
    expect(await expectConsistent(realm, channelId, [member])).toEqual([member.userId]);
    const post = { type: 'channel', to: channelId, topic: 'hi', content: 'anybody?' };
    expect(await realm.call(send, member, post)).toMatchObject(refused);
    expect(await toldOfChannels(realm, before)).toEqual([
      { type: 'stream', op: 'update', stream_id: channelId, name, property: 'is_archived', value: true },
      { type: 'stream', op: 'delete', stream_ids: [channelId], streams: [{ stream_id: channelId }] },
      { type: 'default_streams' },
    ]);
    // "They go to archived channels too" (wire facts 4.7).
    expect(await noticesAfter(realm, before)).toEqual([
      { topic: 'channel events', content: `@_**Adam Admin|${admin.userId}** archived this channel.` },
    ]);
    expect(await archived(realm, admin, channelId)).toMatchObject(refused);
    await edited(realm, admin, channelId, { is_archived: false });
  });

  it('sends a deletion to clients that do not handle archived channels, and an update to the others', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const types = { event_types: ['stream'] };
    const modern = await givenClient(realm, member, {
      ...types,
      client_capabilities: { archived_channels: true },
    });
    const [old, outsider] = [await givenClient(realm, member, types), await givenClient(realm, guest, types)];
    await archived(realm, admin, channelId);
    expect(await modern.poll()).toMatchObject([{ op: 'update', property: 'is_archived', value: true }]);
    expect(await old.poll()).toMatchObject([{ op: 'delete', stream_ids: [channelId] }]);
    expect(await outsider.poll()).toEqual([]);
  });

  it('is allowed to users who administer the channel (wire facts 4.1)', async () => {
    const realm = await newRealm();
    const { admin, member, moderator, guest } = realm.people;
    const groups = { can_administer_channel_group: onlyUser(member.userId) };
    const { channelId } = await givenChannel(realm, { isPrivate: true, groups }, [guest]);
    expect(await archived(realm, moderator, channelId)).toMatchObject(invalidChannelId);
    expect((await archived(realm, guest, channelId)).body.code).toBe('CANNOT_ADMINISTER_CHANNEL');
    expect((await archived(realm, member, channelId)).status).toBe(200);
    for (const id of [999_999, 0]) {
      expect(await archived(realm, admin, id)).toMatchObject(invalidChannelId);
    }
  });
});
