import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as createFolder } from '../../functions/channelFolders/create.ts';
import { handler as updateFolder } from '../../functions/channelFolders/update.ts';
import { handler as updateChannel } from '../../functions/channels/update.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as createGroup } from '../../functions/userGroups/create.ts';
import { handler as updateGroup } from '../../functions/userGroups/update.ts';
import { handler as updateMembers } from '../../functions/userGroups/updateMembers.ts';
import type { CustomEmoji } from '../../shared/domain/emoji/emoji.ts';
import { loadQuotaUse, type QuotaKind, quotas } from '../../shared/kernel/quota.ts';
import { type Channel, type ChannelCount, channelGroupRules } from '../../shared/model/channel/channel.ts';
import type { Group } from '../../shared/model/group/group.ts';
import { initialSettings, onlyUser, roles } from '../../shared/model/permission/permission.ts';
import { MAX_BOTS } from '../../shared/model/user/activation.ts';
import type { User } from '../../shared/model/user/user.ts';
import { key } from '../../shared/table/keys.ts';
import type { Write } from '../../shared/table/write.ts';
import { upload } from '../support/emoji.ts';
import { createField, fill, types } from '../support/field-state.ts';
import { givenBot, givenChangedUser, put } from '../support/given.ts';
import { picture } from '../support/pictures.ts';
import { basic } from '../support/raw-request.ts';
import { newRealm, type Reply, type TestRealm } from '../support/realm.ts';

const refused = { status: 400, body: { code: 'BAD_REQUEST', msg: expect.stringContaining('space') } };

/** Leaves room for so many bytes of a quota. */
const leaveRoom = async ({ outside, realm }: TestRealm, kind: QuotaKind, bytes: number): Promise<void> =>
  void (await outside.table.update(key('quota', { realm, kind }), {
    set: { used: quotas[kind].bytes - bytes },
  }));

const useOf = ({ outside, realm }: TestRealm, kind: QuotaKind): Promise<number> =>
  loadQuotaUse(outside.table, realm, kind);

/** Text that cannot be compressed much. */
const noise = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);

/** A request that makes something larger; `prepare` makes what it is about. */
interface Growth {
  readonly kind: QuotaKind;
  readonly prepare?: (realm: TestRealm) => Promise<number>;
  readonly request: (realm: TestRealm, id: number, length: number) => Promise<Reply>;
}

const newGroup = async (realm: TestRealm): Promise<number> => {
  const group = { name: `group ${noise(10)}`, description: '', members: [] };
  return (await realm.call(createGroup, realm.people.member, group)).body.group_id;
};

const newFolder = async (realm: TestRealm): Promise<number> => {
  const folder = { name: noise(10), description: '' };
  return (await realm.call(createFolder, realm.people.admin, folder)).body.channel_folder_id;
};

const growths: Readonly<Record<string, Growth>> = {
  'a new channel': {
    kind: 'channels',
    request: (realm, _, length) =>
      realm.call(subscribe, realm.people.member, {
        subscriptions: [{ name: noise(20), description: noise(length) }],
      }),
  },
  'a longer description of a channel': {
    kind: 'channels',
    request: (realm, _, length) =>
      realm.call(
        updateChannel,
        realm.people.admin,
        { description: noise(length) },
        { path: { stream_id: realm.channels.general } },
      ),
  },
  'a new channel folder': {
    kind: 'channels',
    request: (realm, _, length) =>
      realm.call(createFolder, realm.people.admin, { name: noise(10), description: noise(length) }),
  },
  'a longer description of a channel folder': {
    kind: 'channels',
    prepare: newFolder,
    request: (realm, folderId, length) =>
      realm.call(
        updateFolder,
        realm.people.admin,
        { description: noise(length) },
        { path: { channel_folder_id: folderId } },
      ),
  },
  'a new user group': {
    kind: 'groups',
    request: (realm, _, length) =>
      realm.call(createGroup, realm.people.member, {
        name: noise(20),
        description: noise(length),
        members: [],
      }),
  },
  'a longer description of a user group': {
    kind: 'groups',
    prepare: newGroup,
    request: (realm, groupId, length) =>
      realm.call(
        updateGroup,
        realm.people.member,
        { description: noise(length) },
        { path: { user_group_id: groupId } },
      ),
  },
  'a new member of a user group': {
    kind: 'groups',
    prepare: newGroup,
    request: (realm, groupId) =>
      realm.call(
        updateMembers,
        realm.people.member,
        { add: [realm.people.admin.userId] },
        { path: { user_group_id: groupId } },
      ),
  },
  'a new emoji': {
    kind: 'emoji',
    request: async (realm) =>
      upload(realm, realm.people.member, noise(8).toLowerCase() + 1, [await picture('png')]),
  },
  'a longer value in a profile': {
    kind: 'profiles',
    prepare: (realm) => createField(realm, types.paragraph),
    request: (realm, id, length) => fill(realm, realm.people.member, [{ id, value: noise(length) }]),
  },
};

describe('the quotas of data that is in every registration', () => {
  it.each(Object.entries(growths))('refuse %s when they are used up', async (_, growth) => {
    const { kind, prepare, request } = growth;
    const realm = await newRealm();
    const id = (await prepare?.(realm)) ?? 0;
    const before = await useOf(realm, kind);
    expect((await request(realm, id, 300)).status).toBe(200);
    expect(await useOf(realm, kind)).toBeGreaterThan(before);
    const other = (await prepare?.(realm)) ?? 0;
    await leaveRoom(realm, kind, 3);
    expect(await request(realm, other, 400)).toMatchObject(refused);
    expect(await useOf(realm, kind)).toBe(quotas[kind].bytes - 3);
  });

  it('are not exceeded by several concurrent requests', async () => {
    const realm = await newRealm();
    await newGroup(realm);
    const each = await useOf(realm, 'groups');
    await leaveRoom(realm, 'groups', 2 * each + 3);
    const replies = await Promise.all(
      [1, 2, 3, 4].map(() => {
        const group = { name: `group ${noise(10)}`, description: '', members: [] };
        return realm.container().call(createGroup, realm.people.member, group);
      }),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400]);
    expect(await useOf(realm, 'groups')).toBe(quotas.groups.bytes - 3);
  });

  it('allow changes that make data smaller, which makes room for more', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const groupId = await newGroup(realm);
    const path = { path: { user_group_id: groupId } };
    await realm.call(updateGroup, member, { description: noise(1_500) }, path);
    await realm.call(updateMembers, member, { add: [admin.userId] }, path);
    await leaveRoom(realm, 'groups', 0);
    expect((await realm.call(updateMembers, member, { delete: [admin.userId] }, path)).status).toBe(200);
    expect((await realm.call(updateGroup, member, { description: '' }, path)).status).toBe(200);
    expect(await newGroup(realm)).toBeGreaterThan(0);
    expect(await useOf(realm, 'groups')).toBeLessThanOrEqual(quotas.groups.bytes);
  });

  it('limit the bots of each user, including deactivated ones', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const bot = await givenBot(realm, member);
    const bots = new Set([bot.userId, ...Array.from({ length: MAX_BOTS - 2 }, (_, i) => 1_000_000 + i)]);
    await givenChangedUser(realm, member, { bots });
    const replies = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        realm.container().call(createBot, member, { full_name: name, short_name: name }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });
});

describe('a registration where every quota is used up', () => {
  it('is returned compressed, with everything that others created', { timeout: 120_000 }, async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    await put(realm, [...channels(owner.userId, realm.realm), ...groups(owner.userId, realm.realm)]);
    const fieldId = await createField(realm, types.shortText);
    await put(realm, [...emoji(realm.realm), ...profiles(realm.realm, fieldId)]);
    const result = await register.with(realm.outside)({
      headers: {
        host: realm.host,
        authorization: basic(realm.people.member),
        'content-type': 'application/x-www-form-urlencoded',
        'accept-encoding': 'gzip',
        accept: '*/*',
      },
      body: `client_capabilities=${encodeURIComponent('{"include_deactivated_groups":true,"archived_channels":true}')}`,
      isBase64Encoded: false,
      pathParameters: null,
      multiValueQueryStringParameters: null,
      requestContext: { requestId: 'r', domainName: realm.host },
    } as never);
    expect(result.statusCode, JSON.stringify(realm.reports)).toBe(200);
    const body = JSON.parse(gunzipSync(Buffer.from(result.body, 'base64')).toString());
    expect(body.realm_user_groups.length).toBeGreaterThan(40);
    expect(JSON.stringify(body.realm_users).length).toBeGreaterThan(700_000);
    // The other half of Lambda's 6 MB is for users: 10,000 take 0.25 MB (`register-large.test.ts`).
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(3_000_000);
  });
});

const TEXT = 1_024;

/** As many of something as fit into a quota, each with so many bytes. */
const upTo = <T>(kind: QuotaKind, each: number, make: (i: number) => T): T[] =>
  Array.from({ length: Math.floor(quotas[kind].bytes / each) }, (_, i) => make(1_000_000 + i));

const channels = (creatorId: number, realm: string): Write[] =>
  upTo('channels', 2 * TEXT + 220, (channelId): Write[] => {
    const description = noise(TEXT);
    const channel: Channel = {
      channelId,
      name: `${channelId}${noise(40)}`,
      description,
      renderedDescription: `<p>${noise(TEXT)}</p>`,
      dateCreated: 1_700_000_000 + channelId,
      creatorId,
      isPrivate: false,
      isWebPublic: false,
      historyPublicToSubscribers: true,
      isDefault: false,
      isArchived: true,
      topicsPolicy: 'inherit',
      groups: initialSettings(channelGroupRules, creatorId),
      version: 1,
    };
    const count: ChannelCount = { channelId, subscribers: 0 };
    return [
      { put: key('channel', { realm, channelId }), item: { ...channel } },
      { put: key('channelCount', { realm, channelId }), item: { ...count } },
    ];
  }).flat();

const groups = (creatorId: number, realm: string): Write[] =>
  upTo('groups', 10_000 + 400, (groupId): Write => {
    const own = onlyUser(creatorId);
    const group: Group = {
      groupId,
      name: `${groupId}${noise(80)}`,
      description: noise(10_000),
      creatorId,
      dateCreated: 1_700_000_000 + groupId,
      deactivated: true,
      settings: {
        can_add_members_group: own,
        can_join_group: own,
        can_leave_group: own,
        can_manage_group: own,
        can_mention_group: own,
        can_remove_members_group: own,
      },
      version: 1,
    };
    return { put: key('group', { realm, groupId }), item: { ...group } };
  });

const emoji = (realm: string): Write[] =>
  upTo('emoji', 300, (emojiId): Write => {
    const one: CustomEmoji = {
      emojiId,
      name: noise(60),
      authorId: 1,
      sourceUrl: `/user_avatars/${realm}/emoji/images/${randomBytes(16).toString('hex')}.png`,
      stillUrl: null,
      deactivated: true,
    };
    return { put: key('emoji', { realm, emojiId }), item: { ...one } };
  });

/** People whose profiles are as long as they may be. */
const profiles = (realm: string, fieldId: number): Write[] =>
  upTo('profiles', 20_000, (userId): Write[] => {
    const user: User = {
      userId,
      email: `user${userId}@example.com`,
      fullName: `User ${userId}`,
      role: roles.member,
      isActive: true,
      isBot: false,
      dateJoined: '2026-01-01T00:00:00.000Z',
      avatarVersion: 1,
      timezone: '',
    };
    const values = { [fieldId]: { value: noise(19_900) } };
    return [
      { put: key('user', { realm, userId }), item: { ...user } },
      { put: key('profile', { realm, userId }), item: { userId, values, version: 1 } },
    ];
  }).flat();
