import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { type GroupSetting, roles, systemGroups } from '../../shared/model/permission/permission.ts';
import {
  givenBot,
  givenChangedUser,
  givenChannel,
  givenGroup,
  givenRealmSettings,
  givenUser,
} from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { storedConversation, storedMessage } from '../support/stored.ts';

const sendTo = (realm: TestRealm, as: Person, people: readonly Person[]) =>
  realm.call(send, as, { type: 'direct', to: people.map(({ userId }) => userId), content: 'x' });

const outcome = async (realm: TestRealm, as: Person, people: readonly Person[]): Promise<unknown> => {
  const { status, body } = await sendTo(realm, as, people);
  return status === 200 ? 'sent' : [status, body.code, body.msg];
};

const refused = (msg: RegExp) => [400, 'BAD_REQUEST', expect.stringMatching(msg)];

describe('wire facts 3.8: conversations', () => {
  it('the same users have one conversation, whichever of them writes and in any order', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const ids: number[] = [];
    for (const [as, to] of [
      [member, [admin, guest]],
      [guest, [admin, member, guest]],
      [admin, [guest, member]],
    ] as const) {
      const { body } = await sendTo(realm, as, to);
      ids.push(body.id);
    }
    const stored = await Promise.all(ids.map((id) => storedMessage(realm, id)));
    const people = [admin, member, guest].map(({ userId }) => userId);
    for (const message of stored) {
      expect(message).toMatchObject({ people, recipientId: ids[0], conversation: stored[0]?.conversation });
    }
    expect(await storedConversation(realm, [member, admin, guest])).toMatchObject({ people, maxId: ids[2] });
  });

  it('a message without other recipients is a note to self (4.1/to-self)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { body } = await sendTo(realm, member, [member]);
    expect(await storedMessage(realm, body.id)).toMatchObject({ people: [member.userId] });
  });

  it('a conversation of 80 users, including the sender, fits into one transaction, and more are refused', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const others: Person[] = [];
    for (let i = 1; i < 80; i++) others.push(await givenUser(realm));
    const first = await sendTo(realm, member, others);
    const second = await sendTo(realm, others[0] as Person, [...others, member]);
    const [a, b] = await Promise.all([first, second].map(({ body }) => storedMessage(realm, body.id)));
    expect(a?.people).toHaveLength(80);
    expect(b?.conversation).toBe(a?.conversation);
    expect(await outcome(realm, member, [...others, admin])).toEqual(refused(/at most 80 people/));
    expect(await outcome(realm, admin, [...others, member, admin])).toEqual(refused(/at most 80 people/));
  });

  it('two users who write to each other first at the same time begin one conversation', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const replies = await Promise.all([
      sendTo(realm.container(), member, [admin]),
      sendTo(realm.container(), admin, [member]),
      sendTo(realm.container(), member, [admin]),
    ]);
    const messages = await Promise.all(replies.map(({ body }) => storedMessage(realm, body.id)));
    expect(new Set(messages.map(({ recipientId }) => recipientId)).size).toBe(1);
    const maxId = Math.max(...messages.map(({ id }) => id));
    expect(await storedConversation(realm, [member, admin])).toMatchObject({ maxId });
  });
});

describe('wire facts 3.8: deactivated recipients', () => {
  it('are refused, naming the address, in a conversation that has begun too', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const who = await givenUser(realm, { email: 'gone@example.com' });
    expect(await outcome(realm, member, [who, admin])).toBe('sent');
    await givenChangedUser(realm, who, { isActive: false });
    expect(await outcome(realm, member, [who, admin])).toEqual(refused(/gone@example\.com/));
    expect(await outcome(realm, realm.people.owner, [who])).toEqual(refused(/gone@example\.com/));
  });
});

describe('wire facts 3.8: guests who do not see everyone', () => {
  const restricted = { can_access_all_users_group: systemGroups.members.id };

  it('reach bots, themselves, and those with whom they share a channel', async () => {
    const realm = await newRealm(restricted);
    const { guest, member, bot } = realm.people;
    const stranger = await givenUser(realm);
    expect(await outcome(realm, guest, [bot])).toBe('sent');
    expect(await outcome(realm, guest, [guest])).toBe('sent');
    expect(await outcome(realm, guest, [member])).toBe('sent');
    expect(await outcome(realm, guest, [stranger])).toEqual(refused(/user ID/));
    expect(await outcome(realm, guest, [member, stranger])).toEqual(refused(/user ID/));
    await givenChannel(realm, { isPrivate: true }, [guest, stranger]);
    expect(await outcome(realm, guest, [stranger])).toBe('sent');
  });

  it('reach users who have written to them, alone or among others', async () => {
    const realm = await newRealm(restricted);
    const { guest, member } = realm.people;
    const [writer, other] = [await givenUser(realm), await givenUser(realm)];
    expect(await outcome(realm, writer, [guest, other])).toBe('sent');
    for (const people of [[writer, other], [writer], [other], [writer, member]]) {
      expect(await outcome(realm, guest, people)).toBe('sent');
    }
  });

  it('get the same refusal for hidden users as for users who do not exist', async () => {
    const realm = await newRealm(restricted);
    const { guest } = realm.people;
    const hidden = await givenUser(realm);
    const gone = await givenUser(realm);
    await givenChangedUser(realm, gone, { isActive: false });
    const told = async (to: unknown, content: string) => {
      const { status, body } = await realm.call(send, guest, { type: 'direct', to, content });
      return JSON.stringify([status, body]).replaceAll(/\d{3,}|[\w.]+@[\w.]+/g, 'X');
    };
    for (const content of ['x', '']) {
      const byId = await told([999_999], content);
      const byEmail = await told(['nobody@example.com'], content);
      for (const { userId, email } of [hidden, gone]) {
        expect(await told([userId], content)).toBe(byId);
        expect(await told([email], content)).toBe(byEmail);
      }
    }
  });

  it('cannot find hidden users by mentioning them', async () => {
    const realm = await newRealm(restricted);
    const { guest, member } = realm.people;
    await givenUser(realm, { fullName: 'Hidden Hero' });
    const content = '@**Hidden Hero** @**Max Member**';
    const { body } = await realm.call(send, guest, { type: 'channel', to: 'general', topic: 'hi', content });
    const { mentions, rendered } = await storedMessage(realm, body.id);
    expect(mentions).toEqual({ users: [member.userId] });
    expect(rendered).toContain('@<strong>Hidden Hero</strong>');
  });

  it('do not limit what other users see', async () => {
    const realm = await newRealm(restricted);
    const stranger = await givenUser(realm);
    expect(await outcome(realm, realm.people.member, [stranger])).toBe('sent');
  });
});

describe('wire facts 3.8: direct_message_permission_group', () => {
  const realmWith = (setting: GroupSetting) => newRealm({ direct_message_permission_group: setting });
  const notPermitted = refused(/not permitted/);

  it('set to nobody disables direct messages, and the refusal says so', async () => {
    const realm = await realmWith(systemGroups.nobody.id);
    const { owner, member } = realm.people;
    expect(await outcome(realm, owner, [member])).toEqual(refused(/disabled/));
  });

  it('never applies to bots, messages to bots, and notes to self', async () => {
    const realm = await realmWith(systemGroups.nobody.id);
    const { member, bot, guest } = realm.people;
    const other = await givenBot(realm, guest);
    expect(await outcome(realm, bot, [guest])).toBe('sent');
    expect(await outcome(realm, member, [bot])).toBe('sent');
    expect(await outcome(realm, member, [bot, other, member])).toBe('sent');
    expect(await outcome(realm, member, [member])).toBe('sent');
    expect(await outcome(realm, member, [bot, guest])).toEqual(refused(/disabled/));
  });

  it('set to a system group needs one participant in it, sender or recipient', async () => {
    const realm = await realmWith(systemGroups.administrators.id);
    const { owner, admin, member, guest } = realm.people;
    expect(await outcome(realm, admin, [guest])).toBe('sent');
    expect(await outcome(realm, guest, [owner])).toBe('sent');
    expect(await outcome(realm, member, [guest, owner])).toBe('sent');
    expect(await outcome(realm, member, [guest])).toEqual(notPermitted);
  });

  it('set to a named group counts memberships of the recipients, through nested groups too', async () => {
    const realm = await newRealm();
    const { member, guest, admin } = realm.people;
    const inner = await givenGroup(realm, { members: [member] });
    const outer = await givenGroup(realm, { subgroups: [inner.groupId] });
    await givenRealmSettings(realm, { direct_message_permission_group: outer.groupId });
    expect(await outcome(realm, member, [guest])).toBe('sent');
    expect(await outcome(realm, guest, [member])).toBe('sent');
    expect(await outcome(realm, guest, [admin])).toEqual(notPermitted);
  });

  it('may list users and groups directly', async () => {
    const realm = await newRealm();
    const { member, guest, admin, moderator, owner } = realm.people;
    const { groupId } = await givenGroup(realm, { members: [moderator] });
    const setting = { direct_members: [member.userId], direct_subgroups: [groupId] };
    await givenRealmSettings(realm, { direct_message_permission_group: setting });
    expect(await outcome(realm, guest, [member])).toBe('sent');
    expect(await outcome(realm, guest, [moderator])).toBe('sent');
    expect(await outcome(realm, guest, [admin, owner])).toEqual(notPermitted);
  });

  it('also applies to existing conversations', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    expect(await outcome(realm, member, [guest])).toBe('sent');
    await givenRealmSettings(realm, { direct_message_permission_group: systemGroups.moderators.id });
    expect(await outcome(realm, guest, [member])).toEqual(notPermitted);
  });
});

describe('wire facts 3.8: direct_message_initiator_group', () => {
  const mayNotBegin = refused(/begin/);

  it('lets only its members begin a conversation, and anyone continue it', async () => {
    const realm = await newRealm({ direct_message_initiator_group: systemGroups.moderators.id });
    const { member, moderator, guest } = realm.people;
    expect(await outcome(realm, member, [moderator])).toEqual(mayNotBegin);
    expect(await outcome(realm, moderator, [member])).toBe('sent');
    expect(await outcome(realm, member, [moderator])).toBe('sent');
    // Another person makes it another conversation.
    expect(await outcome(realm, member, [moderator, guest])).toEqual(mayNotBegin);
  });

  it('may be a named group with nested groups', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const guest = await givenUser(realm, { role: roles.guest });
    const inner = await givenGroup(realm, { members: [guest] });
    const outer = await givenGroup(realm, { subgroups: [inner.groupId] });
    await givenRealmSettings(realm, { direct_message_initiator_group: outer.groupId });
    expect(await outcome(realm, guest, [admin])).toBe('sent');
    expect(await outcome(realm, member, [admin])).toEqual(mayNotBegin);
  });

  it('never applies to bots, messages to bots, and notes to self', async () => {
    const realm = await newRealm({ direct_message_initiator_group: systemGroups.nobody.id });
    const { member, bot, guest } = realm.people;
    expect(await outcome(realm, bot, [guest])).toBe('sent');
    expect(await outcome(realm, member, [bot])).toBe('sent');
    expect(await outcome(realm, member, [member])).toBe('sent');
    expect(await outcome(realm, member, [bot, guest])).toEqual(mayNotBegin);
  });
});
