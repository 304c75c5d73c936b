import { describe, expect, it } from 'vitest';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as getEmailAddress } from '../../functions/channels/getEmailAddress.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { edited, invalidChannelId, refused } from '../support/channel-state.ts';
import { givenBot, givenChangedUser, givenChannel } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';

const mailDomain = 'mail.example.com';

/** The realm with mail switched on. */
const mailing = (realm: TestRealm): TestRealm => realm.container(undefined, { mailDomain });

const ask = (realm: TestRealm, as: Person, channelId: number, senderId?: unknown): Promise<Reply> =>
  realm.call(getEmailAddress, as, undefined, {
    path: { stream_id: channelId },
    ...(senderId !== undefined && { query: { sender_id: senderId } }),
  });

const addressOf = async (
  realm: TestRealm,
  as: Person,
  channelId: number,
  senderId?: number,
): Promise<string> => {
  const { status, body } = await ask(realm, as, channelId, senderId);
  expect({ status, msg: body.msg }).toEqual({ status: 200, msg: '' });
  return body.email;
};

describe('GET /streams/{stream_id}/email_address (specification 4.7, wire facts 9)', () => {
  it('returns an address with a token of 32 hex digits, the same every time (4.7/email, 4.7/stream_id)', async () => {
    const realm = mailing(await newRealm());
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { name: 'Test Kitchen' });
    const address = await addressOf(realm, member, channelId);
    expect(address).toMatch(/^test-kitchen\.[0-9a-f]{32}\.show-sender@mail\.example\.com$/);
    expect(await addressOf(mailing(realm), member, channelId)).toBe(address);
  });

  it('returns "one per (channel, caller, sender)" (4.7/sender_id)', async () => {
    const realm = mailing(await newRealm());
    const { member, admin } = realm.people;
    const bot = await givenBot(realm, member);
    const [one, two] = [await givenChannel(realm), await givenChannel(realm)];
    const tokens = [
      await addressOf(realm, member, one.channelId),
      await addressOf(realm, member, two.channelId),
      await addressOf(realm, admin, one.channelId),
      await addressOf(realm, member, one.channelId, member.userId),
      await addressOf(realm, member, one.channelId, bot.userId),
    ].map((address) => address.split('.')[1]);
    expect(new Set(tokens).size).toBe(5);
  });

  it('creates the address once for many concurrent requests', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm);
    const addresses = await Promise.all(
      Array.from({ length: 5 }, () => addressOf(mailing(realm), member, channelId)),
    );
    expect(new Set(addresses).size).toBe(1);
  });

  it.each([
    ['general', 'general'],
    ['One  Two & three', 'one-two-three'],
    ['Küche', 'kuche'],
    ['厨房', 'channel'],
    ['snake_case 2', 'snake_case-2'],
    ['wow!', 'channel'],
  ])('writes the name %s as %s', async (name, slug) => {
    const realm = mailing(await newRealm());
    const { channels, people } = realm;
    const channelId = name === 'general' ? channels.general : (await givenChannel(realm, { name })).channelId;
    expect((await addressOf(realm, people.member, channelId)).split('.')[0]).toBe(slug);
  });

  it('takes the service as the sender by default, or for "the ID of the email gateway bot" (4.7/sender-gateway)', async () => {
    const realm = mailing(await newRealm());
    const { member } = realm.people;
    const { general } = realm.channels;
    const stored = await realm.outside.table.get('realm', { realm: realm.realm });
    const address = await addressOf(realm, member, general);
    expect(await addressOf(realm, member, general, stored?.noticeBotId)).toBe(address);
  });

  it('accepts as other senders the caller and "a bot owned by the current user", nobody else (4.7/sender-bot)', async () => {
    const realm = mailing(await newRealm());
    const { member, admin, bot } = realm.people;
    const { general } = realm.channels;
    const gone = await givenBot(realm, member);
    await givenChangedUser(realm, gone, { isActive: false });
    await addressOf(realm, member, general, bot.userId);
    for (const sender of [admin.userId, gone.userId, 999_999, 0, -1]) {
      expect(await ask(realm, member, general, sender)).toMatchObject(refused);
    }
    expect(await ask(realm, admin, general, bot.userId)).toMatchObject(refused);
    for (const sender of ['1.5', '"7"', 'null', '']) {
      expect(await ask(realm, member, general, sender)).toMatchObject(refused);
    }
  });

  it('refuses the channel ID "when the channel does not exist or the caller lacks access" (4.7/invalid-channel)', async () => {
    const realm = mailing(await newRealm());
    const { member, admin, guest } = realm.people;
    const hidden = await givenChannel(realm, { isPrivate: true });
    for (const person of [member, admin]) {
      expect(await ask(realm, person, hidden.channelId)).toMatchObject(invalidChannelId);
    }
    expect(await ask(realm, guest, realm.channels.random)).toMatchObject(invalidChannelId);
    for (const id of [999_999, 0]) expect(await ask(realm, admin, id)).toMatchObject(invalidChannelId);
  });

  it('"only users with permission to post messages in the channel can read the address" (4.7/posting)', async () => {
    const realm = mailing(await newRealm());
    const { member, admin } = realm.people;
    const groups = { can_send_message_group: systemGroups.administrators.id };
    const { channelId } = await givenChannel(realm, { groups });
    expect(await ask(realm, member, channelId)).toMatchObject(refused);
    await addressOf(realm, admin, channelId);
  });

  it('refuses an archived channel, and returns the same address once it is unarchived', async () => {
    const realm = mailing(await newRealm());
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const address = await addressOf(realm, admin, channelId);
    await realm.call(archive, admin, {}, { path: { stream_id: channelId } });
    expect(await ask(realm, admin, channelId)).toMatchObject(invalidChannelId);
    await edited(realm, admin, channelId, { is_archived: false });
    expect(await addressOf(realm, admin, channelId)).toBe(address);
  });

  it('returns the empty string if the service takes no mail, to users who may ask', async () => {
    const realm = await newRealm();
    expect(await addressOf(realm, realm.people.member, realm.channels.general)).toBe('');
    expect(await ask(realm, realm.people.member, 999_999)).toMatchObject(invalidChannelId);
  });

  it('takes 2 round trips, and one more when it creates the address (DESIGN 7)', async () => {
    const realm = mailing(await newRealm());
    const { member, bot } = realm.people;
    const { general } = realm.channels;
    await addressOf(realm, member, general, bot.userId);
    expect(realm.meter.roundTrips).toBe(3);
    realm.meter.reset();
    await addressOf(realm, member, general, bot.userId);
    expect(realm.meter.roundTrips).toBe(1);
  });

  it('returns the empty string unless the operator set a domain (wire facts 9)', () => {
    const outside = (domain: string | undefined) =>
      makeOutside({ TABLE_NAME: 't', AWS_REGION: 'eu-west-1', MAIL_DOMAIN: domain });
    expect(outside(mailDomain).mailDomain).toBe(mailDomain);
    for (const none of ['', undefined]) expect(outside(none)).not.toHaveProperty('mailDomain');
  });

  it('returns at most 64 octets before the @, however long the name is', async () => {
    const realm = mailing(await newRealm());
    const { channelId } = await givenChannel(realm, { name: `${'Long '.repeat(11)}name` });
    const address = await addressOf(realm, realm.people.member, channelId);
    expect(address).toMatch(/^long-long-long-long\.[0-9a-f]{32}\.show-sender@/);
    expect(address.split('@')[0]).toHaveLength(64);
  });
});
