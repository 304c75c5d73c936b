import { describe, expect, it } from 'vitest';
import { handler as deactivateBot } from '../../functions/bots/deactivate.ts';
import { handler as regenerateKey } from '../../functions/bots/regenerateKey.ts';
import { handler as getEmailAddress } from '../../functions/channels/getEmailAddress.ts';
import { handler as listMessages } from '../../functions/messages/list.ts';
import { type Role, roles } from '../../shared/model/permission/permission.ts';
import { answer, back, change, mayCall, out, withKey } from '../support/accounts.ts';
import { givenBot, givenChangedUser, givenChannel, givenUser } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { told } from '../support/subscription-state.ts';

const notAllowed = [400, 'UNAUTHORIZED_PRINCIPAL'];

const newKey = (realm: TestRealm, as: Person, { userId }: Person): Promise<Reply> =>
  realm.call(regenerateKey, as, {}, { path: { bot_id: userId } });

/** Everything that a user can do to an active bot of others, by the endpoint that does it. */
const deeds: Readonly<Record<string, (realm: TestRealm, as: Person, bot: Person) => Promise<Reply>>> = {
  'POST /bots/{id}/api_key/regenerate': newKey,
  'DELETE /bots/{id}': (realm, as, { userId }) =>
    realm.call(deactivateBot, as, {}, { path: { bot_id: userId } }),
  'DELETE /users/{id}': out,
  'PATCH /users/{id} with a name': (realm, as, bot) =>
    change(realm, as, bot, { full_name: `Taken ${bot.userId}` }),
  'PATCH /users/{id} with a role': (realm, as, bot) => change(realm, as, bot, { role: roles.guest }),
  'PATCH /users/{email} with a role': (realm, as, bot) =>
    change(realm, as, { userId: bot.email as never }, { role: roles.guest }),
  'POST /users/{id}/reactivate': back,
};

async function botWith(realm: TestRealm, owner: Person, role: Role): Promise<Person> {
  const bot = await givenBot(realm, owner);
  await givenChangedUser(realm, bot, { role });
  return bot;
}

describe.each(Object.entries(deeds))('%s', (_, deed) => {
  it('is refused to an administrator for a bot with the role of an owner', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    for (const owner of [member, admin]) {
      const bot = await botWith(realm, owner, roles.owner);
      const before = await lastNumber(realm);
      expect(answer(await deed(realm, admin, bot))).toEqual(notAllowed);
      expect(await mayCall(realm, bot)).toBe(true);
      expect(await told(realm, before)).toEqual([]);
    }
  });

  it("is refused to an administrator for an owner's bot, whatever its role", async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    for (const role of [roles.member, roles.guest]) {
      const bot = await botWith(realm, owner, role);
      expect(answer(await deed(realm, admin, bot))).toEqual(notAllowed);
      expect(await mayCall(realm, bot)).toBe(true);
    }
  });

  it('is refused to other bots with a lower role than the bot or its owner', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const acting = await botWith(realm, owner, roles.administrator);
    for (const bot of [await givenBot(realm, owner), await botWith(realm, member, roles.owner)]) {
      expect(answer(await deed(realm, acting, bot))).toEqual(notAllowed);
    }
  });

  it("lets administrators manage members' bots, and owners manage all of them", async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    for (const [as, bot] of [
      [admin, await givenBot(realm, member)],
      [admin, await botWith(realm, member, roles.administrator)],
      [owner, await botWith(realm, member, roles.owner)],
      [owner, await botWith(realm, second, roles.member)],
    ] as const) {
      expect((await deed(realm, as, bot)).status).toBe(200);
    }
  });
});

describe('the owner of a bot', () => {
  it('does not manage it while its role is higher than theirs', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    for (const [role, code] of [
      [roles.owner, 'UNAUTHORIZED_PRINCIPAL'],
      [roles.administrator, 'UNAUTHORIZED_PRINCIPAL'],
      [roles.moderator, 'BAD_REQUEST'],
    ] as const) {
      const bot = await botWith(realm, member, role);
      expect(answer(await newKey(realm, member, bot))).toEqual([400, code]);
      expect(answer(await out(realm, member, bot))).toEqual([400, code]);
      expect(await mayCall(realm, bot)).toBe(true);
      if (role === roles.owner) continue;
      expect((await out(realm, admin, bot)).status).toBe(200);
      expect(answer(await back(realm, member, bot))).toEqual([400, code]);
      expect(await mayCall(realm, bot)).toBe(false);
    }
  });

  it('manages it while their roles are the same', async () => {
    const realm = await newRealm();
    const { moderator } = realm.people;
    const bot = await botWith(realm, moderator, roles.moderator);
    expect((await newKey(realm, moderator, bot)).status).toBe(200);
    expect((await out(realm, moderator, bot)).status).toBe(200);
  });

  it('gets no mail address that would post as a bot with a higher role', async () => {
    const realm = (await newRealm()).container(undefined, { mailDomain: 'mail.example.com' });
    const { member } = realm.people;
    const bot = await botWith(realm, member, roles.administrator);
    const reply = await realm.call(getEmailAddress, member, undefined, {
      path: { stream_id: realm.channels.general },
      query: { sender_id: bot.userId },
    });
    expect(answer(reply)).toEqual([400, 'BAD_REQUEST']);
  });
});

describe('a bot whose owner is deactivated', () => {
  it('may be taken over by an administrator only if its owner had no higher role', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    const theirs = await givenBot(realm, second);
    expect((await out(realm, owner, second)).status).toBe(200);
    expect(answer(await back(realm, admin, theirs))).toEqual(notAllowed);
    expect((await back(realm, owner, theirs)).status).toBe(200);
    const ofMember = await givenBot(realm, member);
    expect((await out(realm, admin, member)).status).toBe(200);
    expect((await back(realm, admin, ofMember)).status).toBe(200);
  });

  it('gives an administrator no access to private channels of an owner', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    const bot = await givenBot(realm, second);
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [second, bot]);
    expect((await out(realm, owner, second)).status).toBe(200);
    await back(realm, admin, bot);
    const taken = withKey(bot, await newKey(realm, admin, bot));
    const reply = await realm.call(listMessages, taken, undefined, {
      query: { anchor: 'newest', num_before: 1, num_after: 0, narrow: [['channel', channelId]] },
    });
    expect(reply.status).toBe(401);
  });
});

describe('a person who owns a bot with a higher role than the caller', () => {
  it('cannot be deactivated by the caller, since the bot would be deactivated too', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const made = await givenUser(realm, {});
    const bot = await givenBot(realm, made);
    expect((await change(realm, owner, bot, { role: roles.owner })).status).toBe(200);
    expect(answer(await out(realm, admin, made))).toEqual(notAllowed);
    expect([await mayCall(realm, made), await mayCall(realm, bot)]).toEqual([true, true]);
    expect((await out(realm, owner, made)).status).toBe(200);
    expect([await mayCall(realm, made), await mayCall(realm, bot)]).toEqual([false, false]);
    expect(await mayCall(realm, member)).toBe(true);
  });
});
