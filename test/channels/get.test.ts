import { describe, expect, it } from 'vitest';
import { handler as get } from '../../functions/channels/get.ts';
import { handler as getId } from '../../functions/channels/getId.ts';
import { handler as members } from '../../functions/channels/listMembers.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';

const byId = (realm: TestRealm, handler: Served, as: Person, stream_id: number | string): Promise<Reply> =>
  realm.call(handler, as, {}, { path: { stream_id } });

/** Private channels that people see in different ways. */
async function scene() {
  const realm = await newRealm();
  const { member, moderator } = realm.people;
  const shut = await givenChannel(realm, { name: 'Shut', isPrivate: true }, [member]);
  const ajar = await givenChannel(realm, {
    name: 'ajar',
    isPrivate: true,
    groups: { can_administer_channel_group: { direct_members: [moderator.userId], direct_subgroups: [] } },
  });
  return { realm, shut: shut.channelId, ajar: ajar.channelId };
}

describe('GET /streams/{stream_id}', () => {
  it('describes a channel', async () => {
    const { realm } = await scene();
    const { body } = await byId(realm, get, realm.people.member, realm.channels.general);
    expect(body.stream).toMatchObject({
      stream_id: realm.channels.general,
      name: 'general',
      description: 'For everyone and everything.',
      rendered_description: '<p>For everyone and everything.</p>',
      creator_id: null,
      first_message_id: null,
      invite_only: false,
      is_announcement_only: false,
      is_recently_active: true,
      stream_post_policy: 1,
      stream_weekly_traffic: null,
      subscriber_count: 6,
    });
  });

  it('returns the posting permission in the form of old clients too', async () => {
    const realm = await newRealm();
    const policyOf = async (setting: number): Promise<unknown[]> => {
      const { channelId } = await givenChannel(realm, { groups: { can_send_message_group: setting } });
      const { stream } = (await byId(realm, get, realm.people.member, channelId)).body;
      return [stream.stream_post_policy, stream.is_announcement_only];
    };
    expect(await policyOf(systemGroups.administrators.id)).toEqual([2, true]);
    expect(await policyOf(systemGroups.fullMembers.id)).toEqual([3, false]);
    expect(await policyOf(systemGroups.moderators.id)).toEqual([4, false]);
    expect(await policyOf(systemGroups.nobody.id)).toEqual([1, false]);
  });

  it('calls a channel without messages inactive after 180 days', async () => {
    const realm = await newRealm();
    realm.pass(181 * 86_400_000);
    const { body } = await byId(realm, get, realm.people.member, realm.channels.general);
    expect(body.stream.is_recently_active).toBe(false);
  });
});

describe.each<[string, Served]>([
  ['GET /streams/{stream_id}', get],
  ['GET /streams/{stream_id}/members', members],
])('%s', (_, handler) => {
  it('is allowed to users who can see the channel', async () => {
    const { realm, shut, ajar } = await scene();
    const { member, admin, moderator, guest } = realm.people;
    const missing = await byId(realm, handler, moderator, 999_999);
    expect(missing).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    for (const [person, id] of [
      [moderator, shut],
      [guest, realm.channels.random],
      [guest, shut],
      [member, ajar],
      [member, 0],
      [member, 2 ** 52],
    ] as const) {
      expect(await byId(realm, handler, person, id)).toEqual(missing);
    }
    for (const [person, id] of [
      [member, shut],
      [admin, shut],
      [moderator, ajar],
      [guest, realm.channels.general],
    ] as const) {
      expect(await byId(realm, handler, person, id)).toMatchObject({ status: 200 });
    }
  });

  it('refuses a number that is too large', async () => {
    const realm = await newRealm();
    for (const id of ['9007199254740993', '9'.repeat(400)]) {
      expect(await byId(realm, handler, realm.people.member, id)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST' },
      });
    }
  });
});

describe('GET /streams/{stream_id}/members', () => {
  it('lists the subscribers by id', async () => {
    const { realm, shut } = await scene();
    const { member, admin } = realm.people;
    const { body } = await byId(realm, members, admin, shut);
    expect(body.subscribers).toEqual([member.userId]);
    const all = (await byId(realm, members, member, realm.channels.random)).body.subscribers;
    expect(all).toEqual([...all].sort((a: number, b: number) => a - b));
    expect(all).toHaveLength(5);
  });
});

describe('GET /get_stream_id', () => {
  const ask = (realm: TestRealm, as: Person, stream: string): Promise<Reply> =>
    realm.call(getId, as, {}, { query: { stream } });

  it('returns the id of a channel, in any spelling of its name', async () => {
    const { realm, shut } = await scene();
    expect((await ask(realm, realm.people.guest, ' GENERAL ')).body.stream_id).toBe(realm.channels.general);
    expect((await ask(realm, realm.people.member, 'shut')).body.stream_id).toBe(shut);
    expect((await ask(realm, realm.people.admin, 'SHUT')).body.stream_id).toBe(shut);
  });

  it('gives the same reply for a private channel as for a missing one', async () => {
    const { realm } = await scene();
    const told = async (name: string) => {
      const { status, body } = await ask(realm, realm.people.moderator, name);
      return JSON.parse(JSON.stringify({ status, body }).replaceAll(name, 'NAME'));
    };
    const missing = await told('gone');
    expect(missing).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect(await told('shut')).toEqual(missing);
    expect(await told('SHUT')).toEqual(missing);
  });

  it('refuses names that no channel can have', async () => {
    const realm = await newRealm();
    for (const name of ['', '  ', 'n'.repeat(61), 'n'.repeat(100_000), 'a\u0000b', 'tab\there']) {
      expect(await ask(realm, realm.people.member, name)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST' },
      });
    }
    expect(await realm.call(getId, realm.people.member)).toMatchObject({ body: { var_name: 'stream' } });
  });
});
