import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import {
  type GivenChannel,
  givenBot,
  givenChangedUser,
  givenChannel,
  givenGroup,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const post = async (realm: TestRealm, as: Person, to: number): Promise<unknown> => {
  const { status, body } = await realm.call(send, as, { type: 'channel', to, topic: 'hi', content: 'x' });
  return status === 200 ? 'sent' : [status, body.code, body.msg];
};

const refused = (msg: RegExp) => [400, 'BAD_REQUEST', expect.stringMatching(msg)];
const notPermitted = (name: string) => refused(new RegExp(`permission to post.*'${name}'`));
const noAccess = (name: string) => refused(new RegExp(`access to the channel '${name}'`));
/** The refusal for users who may not learn more about the channel than they sent. */
const unknown = (id: number) => noAccess(`${id}`);
const archived = (name: string) => refused(new RegExp(`'${name}' is archived`));

const only = (people: readonly Person[]) => ({
  direct_members: people.map(({ userId }) => userId),
  direct_subgroups: [],
});

describe('wire facts 3.5 step 1: can_send_message_group', () => {
  it('set to everyone includes guests', async () => {
    const realm = await newRealm();
    const { guest } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [guest]);
    expect(await post(realm, guest, channelId)).toBe('sent');
  });

  it('set to a system group includes its members and those of its subgroups', async () => {
    const realm = await newRealm();
    const { owner, admin, moderator, member } = realm.people;
    const groups = { can_send_message_group: systemGroups.moderators.id };
    const { channelId, name } = await givenChannel(realm, { groups }, [member]);
    for (const who of [owner, admin, moderator]) expect(await post(realm, who, channelId)).toBe('sent');
    expect(await post(realm, member, channelId)).toEqual(notPermitted(name));
  });

  it('set to nobody excludes even the owner of the organization', async () => {
    const realm = await newRealm();
    const groups = { can_send_message_group: systemGroups.nobody.id };
    const { channelId, name } = await givenChannel(realm, { groups }, [realm.people.owner]);
    expect(await post(realm, realm.people.owner, channelId)).toEqual(notPermitted(name));
  });

  it('set to a named group includes members at any depth, and nobody else (2.2/integer, 4.2/can_send_message_group)', async () => {
    const realm = await newRealm();
    const { member, moderator, owner } = realm.people;
    const inner = await givenGroup(realm, { members: [member] });
    const middle = await givenGroup(realm, { subgroups: [inner.groupId] });
    const outer = await givenGroup(realm, { subgroups: [middle.groupId], members: [moderator] });
    const groups = { can_send_message_group: outer.groupId };
    const { channelId, name } = await givenChannel(realm, { groups });
    for (const who of [member, moderator]) expect(await post(realm, who, channelId)).toBe('sent');
    expect(await post(realm, owner, channelId)).toEqual(notPermitted(name));
  });

  it('may list users and groups directly (specification 2.2) (2.2/object, 4.2/can_send_message_group)', async () => {
    const realm = await newRealm();
    const { member, moderator, admin, guest } = realm.people;
    const { groupId } = await givenGroup(realm, { members: [moderator] });
    const setting = { direct_members: [member.userId], direct_subgroups: [groupId] };
    const { channelId, name } = await givenChannel(realm, { groups: { can_send_message_group: setting } }, [
      guest,
    ]);
    for (const who of [member, moderator]) expect(await post(realm, who, channelId)).toBe('sent');
    for (const who of [admin, guest]) expect(await post(realm, who, channelId)).toEqual(notPermitted(name));
  });

  it('set to full members includes a member only after the waiting period', async () => {
    const realm = await newRealm({ waiting_period_threshold: 3 });
    const groups = { can_send_message_group: systemGroups.fullMembers.id };
    const { channelId, name } = await givenChannel(realm, { groups });
    expect(await post(realm, realm.people.member, channelId)).toEqual(notPermitted(name));
    realm.pass(3 * 86_400_000);
    expect(await post(realm, realm.people.member, channelId)).toBe('sent');
  });

  it('includes a bot whose owner is a member, unless the owner is deactivated', async () => {
    const realm = await newRealm();
    const { member, moderator } = realm.people;
    const groups = { can_send_message_group: only([moderator]) };
    const { channelId, name } = await givenChannel(realm, { groups });
    const bot = await givenBot(realm, moderator);
    expect(await post(realm, bot, channelId)).toBe('sent');
    expect(await post(realm, await givenBot(realm, member), channelId)).toEqual(notPermitted(name));
    await givenChangedUser(realm, moderator, { isActive: false });
    expect(await post(realm, bot, channelId)).toEqual(notPermitted(name));
  });
});

describe('wire facts 3.5 step 3: archived channels', () => {
  it('are closed to everyone, web-public ones and their subscribers too', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId, name } = await givenChannel(realm, { isArchived: true, isWebPublic: true }, [owner]);
    expect(await post(realm, owner, channelId)).toEqual(archived(name));
  });

  it('are refused only after step 1', async () => {
    const realm = await newRealm();
    const groups = { can_send_message_group: systemGroups.nobody.id };
    const { channelId, name } = await givenChannel(realm, { isArchived: true, groups });
    expect(await post(realm, realm.people.owner, channelId)).toEqual(notPermitted(name));
  });
});

describe('wire facts 3.5 steps 5 to 11: access', () => {
  const privateChannel: GivenChannel = { isPrivate: true };
  const protectedChannel: GivenChannel = { isPrivate: true, historyPublicToSubscribers: false };

  it('anyone, including guests, may post to a web-public channel without a subscription', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, { isWebPublic: true });
    for (const who of [realm.people.guest, realm.people.bot]) {
      expect(await post(realm, who, channelId)).toBe('sent');
    }
  });

  it('everybody may post to a public channel without a subscription, but guests only with one', async () => {
    const realm = await newRealm();
    const { member, bot, guest } = realm.people;
    const { channelId } = await givenChannel(realm);
    for (const who of [member, bot]) expect(await post(realm, who, channelId)).toBe('sent');
    expect(await post(realm, guest, channelId)).toEqual(unknown(channelId));
    await givenSubscription(realm, guest, channelId);
    expect(await post(realm, guest, channelId)).toBe('sent');
  });

  it.each([
    ['private', privateChannel],
    ['protected', protectedChannel],
  ])('%s: only subscribers may post, and administrators have no way around this', async (_, kind) => {
    const realm = await newRealm();
    const { owner, admin, member, guest, bot } = realm.people;
    const { channelId, name } = await givenChannel(realm, kind, [guest]);
    for (const who of [owner, admin]) expect(await post(realm, who, channelId)).toEqual(noAccess(name));
    for (const who of [member, bot]) expect(await post(realm, who, channelId)).toEqual(unknown(channelId));
    expect(await post(realm, guest, channelId)).toBe('sent');
    await givenSubscription(realm, admin, channelId);
    expect(await post(realm, admin, channelId)).toBe('sent');
  });

  it('the right to administer a private channel gives no access', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groups = { can_administer_channel_group: only([member]) };
    const { channelId, name } = await givenChannel(realm, { isPrivate: true, groups });
    expect(await post(realm, member, channelId)).toEqual(noAccess(name));
  });

  it('a bot may post if its owner is subscribed, while the owner is active', async () => {
    const realm = await newRealm();
    const { member, moderator } = realm.people;
    const { channelId } = await givenChannel(realm, privateChannel, [member]);
    expect(await post(realm, realm.people.bot, channelId)).toBe('sent');
    expect(await post(realm, await givenBot(realm, moderator), channelId)).toEqual(unknown(channelId));
    await givenChangedUser(realm, member, { isActive: false });
    expect(await post(realm, realm.people.bot, channelId)).toEqual(unknown(channelId));
  });

  it.each(['can_subscribe_group', 'can_add_subscribers_group'] as const)(
    'step 10: %s gives access to a private channel with shared history without a subscription',
    async (setting) => {
      const realm = await newRealm();
      const { member, moderator } = realm.people;
      const groups = { [setting]: only([member]) };
      const { channelId } = await givenChannel(realm, { ...privateChannel, groups });
      expect(await post(realm, member, channelId)).toBe('sent');
      expect(await post(realm, moderator, channelId)).toEqual(unknown(channelId));
    },
  );

  it('step 10: it gives no access to one with protected history', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groups = { can_subscribe_group: only([member]), can_add_subscribers_group: only([member]) };
    const { channelId, name } = await givenChannel(realm, { ...protectedChannel, groups });
    expect(await post(realm, member, channelId)).toEqual(noAccess(name));
  });

  it('step 10: it never gives access to guests, even if they are listed, or to the bot of a member', async () => {
    const realm = await newRealm();
    const { guest, bot, member } = realm.people;
    const groups = { can_subscribe_group: only([guest, member]) };
    const { channelId, name } = await givenChannel(realm, { ...privateChannel, groups });
    expect(await post(realm, guest, channelId)).toEqual(unknown(channelId));
    // It acts for a user who knows of the channel.
    expect(await post(realm, bot, channelId)).toEqual(noAccess(name));
  });

  it('a deactivated user is refused at once', async () => {
    const realm = await newRealm();
    const who = await givenUser(realm);
    expect(await post(realm, who, realm.channels.general)).toBe('sent');
    await givenChangedUser(realm, who, { isActive: false });
    expect(await post(realm, who, realm.channels.general)).toEqual([401, 'UNAUTHORIZED', expect.any(String)]);
  });
});

describe('wire facts 3.5: a channel that does not exist', () => {
  const sendTo = (realm: TestRealm, to: unknown) =>
    realm.call(send, realm.people.member, { type: 'channel', to, topic: 'hi', content: 'x' });

  it('specification 7: the reply for a name has the trimmed name, escaped as HTML (4.1/unknown-channel)', async () => {
    const realm = await newRealm();
    const { status, body } = await sendTo(realm, ` <b>"R&D" 'x'</b> `);
    expect(status).toBe(400);
    expect(body).toEqual({
      result: 'error',
      msg: expect.any(String),
      code: 'STREAM_DOES_NOT_EXIST',
      stream: '&lt;b&gt;&quot;R&amp;D&quot; &#x27;x&#x27;&lt;/b&gt;',
    });
  });

  it.each([999_999, 0, -1, 2 ** 53 - 1])(
    'the reply for the id %d has the id, and no `stream`',
    async (id) => {
      const realm = await newRealm();
      const { status, body } = await sendTo(realm, id);
      expect(status).toBe(400);
      expect(body).toEqual({
        result: 'error',
        msg: expect.any(String),
        code: 'STREAM_DOES_NOT_EXIST',
        stream_id: id,
      });
    },
  );

  it.each([
    ['""', /name/],
    [' ', /name/],
    ['x'.repeat(61), /60/],
    ['a\u0007b', /position 2\b/],
    ['"a\\u0000b"', /position 2\b/],
  ])('%j cannot be a name', async (to, msg) => {
    const realm = await newRealm();
    const { body } = await sendTo(realm, to);
    expect(body).toMatchObject({ code: 'BAD_REQUEST', msg: expect.stringMatching(msg) });
  });

  it('a name may have 60 characters, however many bytes they take', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, { name: '𝒳'.repeat(60) });
    expect((await sendTo(realm, '𝒳'.repeat(60))).body.result).toBe('success');
    expect(channelId).toBeGreaterThan(0);
    expect((await sendTo(realm, '𝒴'.repeat(60))).body.code).toBe('STREAM_DOES_NOT_EXIST');
  });

  it('a channel of another organization does not exist here', async () => {
    const [realm, other] = await Promise.all([newRealm(), newRealm()]);
    const { channelId, name } = await givenChannel(other);
    for (const to of [name, channelId]) {
      expect((await sendTo(realm, to)).body.code).toBe('STREAM_DOES_NOT_EXIST');
    }
  });
});
