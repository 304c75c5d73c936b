import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import {
  givenBot,
  givenChangedUser,
  givenChannel,
  givenCount,
  givenEmoji,
  givenGroup,
  givenParticipants,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { storedCount, storedMessage, storedTopic } from '../support/stored.ts';

const sendTo = async (realm: TestRealm, as: Person, to: number, content: string, topic = 'hi') => {
  const { status, body } = await realm.call(send, as, { type: 'channel', to, topic, content });
  return status === 200 ? 'sent' : { status, ...body };
};

const channelRefused = {
  status: 400,
  result: 'error',
  code: 'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
  msg: expect.any(String),
};
const topicRefused = { ...channelRefused, code: 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED' };

/** A channel with so many subscribers and a topic `hi` with so many participants, the member not among them. */
async function crowded(realm: TestRealm, subscribers: number, participants: number): Promise<number> {
  const { channelId } = await givenChannel(realm);
  await sendTo(realm, realm.people.admin, channelId, 'first');
  await givenCount(realm, channelId, { subscribers });
  await givenParticipants(realm, channelId, 'hi', participants);
  return channelId;
}

describe('specification 4.1 rule 3, wire facts 3.7: channel wildcards', () => {
  it.each(['all', 'everyone', 'channel', 'stream'])(
    '@**%s** reaches 15 subscribers, not 16 (4.1/channel-wildcard)',
    async (word) => {
      const realm = await newRealm();
      const { member } = realm.people;
      const channelId = await crowded(realm, 15, 1);
      expect(await sendTo(realm, member, channelId, `hey @**${word}**`)).toBe('sent');
      await givenCount(realm, channelId, { subscribers: 1 });
      expect(await sendTo(realm, member, channelId, `hey @**${word}**`)).toEqual(channelRefused);
    },
  );

  it('counts subscribers, not participants', async () => {
    const realm = await newRealm();
    const channelId = await crowded(realm, 15, 100);
    expect(await sendTo(realm, realm.people.member, channelId, '@**all**')).toBe('sent');
  });

  it.each([
    '@_**all**',
    '`@**all**`',
    '```\n@**all**\n```',
    '    @**all**',
    '> @**all**',
    '```quote\n@**all**\n```',
    'me@**all**',
    '@**All**',
    '@*all*',
    '@**all hands**',
    '\\@**all**',
  ])('%j does not count as a wildcard', async (content) => {
    const realm = await newRealm();
    const channelId = await crowded(realm, 16, 1);
    expect(await sendTo(realm, realm.people.member, channelId, content)).toBe('sent');
  });

  it.each(['@**all**', 'so (@**all**)', '"@**all**"', '- @**all**', '```\nx\n```\n@**all**'])(
    '%j counts as a wildcard',
    async (content) => {
      const realm = await newRealm();
      const channelId = await crowded(realm, 16, 1);
      expect(await sendTo(realm, realm.people.member, channelId, content)).toEqual(channelRefused);
    },
  );

  it('only members of can_mention_many_users_group may notify more, by default administrators (4.1/channel-wildcard)', async () => {
    const realm = await newRealm();
    const { owner, admin, moderator, bot } = realm.people;
    const channelId = await crowded(realm, 16, 1);
    for (const who of [owner, admin]) expect(await sendTo(realm, who, channelId, '@**all**')).toBe('sent');
    for (const who of [moderator, bot]) {
      expect(await sendTo(realm, who, channelId, '@**all**')).toEqual(channelRefused);
    }
  });

  it('the group may be nobody, everyone, or listed users', async () => {
    for (const [setting, expected] of [
      [systemGroups.nobody.id, channelRefused],
      [systemGroups.everyone.id, 'sent'],
    ] as const) {
      const realm = await newRealm({ can_mention_many_users_group: setting });
      const channelId = await crowded(realm, 16, 1);
      expect(await sendTo(realm, realm.people.owner, channelId, '@**all**')).toEqual(expected);
    }
  });

  it('subscribing and unsubscribing keep the count exact', async () => {
    const realm = await newRealm();
    const people = await Promise.all(Array.from({ length: 16 }, () => givenUser(realm)));
    const { channelId } = await givenChannel(realm, {}, people);
    expect(await storedCount(realm, channelId)).toMatchObject({ subscribers: 16 });
    expect(await sendTo(realm, realm.people.member, channelId, '@**all**')).toEqual(channelRefused);
  });
});

describe('specification 4.1 rule 3, wire facts 3.7: topic wildcards', () => {
  it('@**topic** reaches 15 participants with the sender, not 16 (4.1/topic-wildcard)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const channelId = await crowded(realm, 100, 14);
    expect(await sendTo(realm, member, channelId, '@**topic**')).toBe('sent');
    // Now the member is one of 15.
    expect(await storedTopic(realm, channelId, 'hi')).toMatchObject({ participants: 15 });
    expect(await sendTo(realm, member, channelId, '@**topic**')).toBe('sent');
    expect(await sendTo(realm, realm.people.moderator, channelId, '@**topic**')).toEqual(topicRefused);
    await givenParticipants(realm, channelId, 'hi', 16);
    expect(await sendTo(realm, member, channelId, '@**topic**')).toEqual(topicRefused);
  });

  it('the sender is the only participant of a new topic', async () => {
    const realm = await newRealm();
    const channelId = await crowded(realm, 100, 100);
    expect(await sendTo(realm, realm.people.member, channelId, '@**topic**', 'new')).toBe('sent');
  });

  it('sending keeps the count of participants exact, with each sender counted once', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    const people = await Promise.all(Array.from({ length: 16 }, () => givenUser(realm)));
    for (const who of people) await sendTo(realm, who, channelId, 'x');
    for (const who of people) await sendTo(realm, who, channelId, 'y');
    expect(await storedTopic(realm, channelId, 'hi')).toMatchObject({ participants: 16 });
    expect(await sendTo(realm, people[0] as Person, channelId, '@**topic**')).toEqual(topicRefused);
  });

  it('wire facts 3.3: a message with both wildcards is refused for the channel wildcard', async () => {
    const realm = await newRealm();
    const channelId = await crowded(realm, 16, 16);
    const { member, admin } = realm.people;
    expect(await sendTo(realm, member, channelId, '@**topic** @**all**')).toEqual(channelRefused);
    expect(await sendTo(realm, admin, channelId, '@**topic** @**all**')).toBe('sent');
  });

  it.each(['@_**topic**', '`@**topic**`', '> @**topic**'])(
    '%j does not count as a wildcard',
    async (content) => {
      const realm = await newRealm();
      const channelId = await crowded(realm, 1, 100);
      expect(await sendTo(realm, realm.people.member, channelId, content)).toBe('sent');
    },
  );
});

describe('wire facts 3.7: wildcards of direct messages', () => {
  it('are never an error, and mention nobody', async () => {
    const realm = await newRealm({ can_mention_many_users_group: systemGroups.nobody.id });
    const { member, guest } = realm.people;
    const direct = { type: 'direct', to: [guest.userId], content: '@**all** @**topic**' };
    const { body } = await realm.call(send, member, direct);
    expect((await storedMessage(realm, body.id)).mentions).toBeUndefined();
  });
});

describe('wire facts 3.7: mentions of groups', () => {
  const refused = (name: string) => ({
    status: 400,
    result: 'error',
    code: 'BAD_REQUEST',
    msg: expect.stringContaining(`'${name}'`),
  });

  it('need can_mention_group, and the refusal names the group (4.5/can_mention_group)', async () => {
    const realm = await newRealm();
    const { member, moderator } = realm.people;
    const { general } = realm.channels;
    const { name } = await givenGroup(realm, { settings: { can_mention_group: systemGroups.moderators.id } });
    expect(await sendTo(realm, moderator, general, `@*${name}*`)).toBe('sent');
    expect(await sendTo(realm, member, general, `@*${name}*`)).toEqual(refused(name));
  });

  it('membership in the mentioned group is not enough, and the setting may name nested groups', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const inner = await givenGroup(realm, { members: [guest] });
    const outer = await givenGroup(realm, { subgroups: [inner.groupId] });
    const { name } = await givenGroup(realm, {
      members: [member],
      settings: { can_mention_group: outer.groupId },
    });
    expect(await sendTo(realm, member, realm.channels.general, `@*${name}*`)).toEqual(refused(name));
    expect(await sendTo(realm, guest, realm.channels.general, `@*${name}*`)).toBe('sent');
  });

  it('a bot has no permission through its owner', async () => {
    const realm = await newRealm();
    const { moderator } = realm.people;
    const { name } = await givenGroup(realm, { settings: { can_mention_group: systemGroups.moderators.id } });
    const bot = await givenBot(realm, moderator);
    expect(await sendTo(realm, bot, realm.channels.general, `@*${name}*`)).toEqual(refused(name));
  });

  it('the permission is also checked in direct messages', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const { name } = await givenGroup(realm, { settings: { can_mention_group: systemGroups.nobody.id } });
    const direct = { type: 'direct', to: [guest.userId], content: `@*${name}*` };
    const { status, body } = await realm.call(send, member, direct);
    expect({ status, ...body }).toEqual(refused(name));
  });

  it('silent and quoted mentions and those in code need no permission', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { name } = await givenGroup(realm, { settings: { can_mention_group: systemGroups.nobody.id } });
    for (const content of [`@_*${name}*`, `\`@*${name}*\``, `> @*${name}*`, `me@*${name}*`]) {
      expect(await sendTo(realm, member, realm.channels.general, content)).toBe('sent');
    }
  });

  it('a mention of a deactivated group is plain text', async () => {
    const realm = await newRealm();
    const { name } = await givenGroup(realm, {
      deactivated: true,
      settings: { can_mention_group: systemGroups.nobody.id },
    });
    expect(await sendTo(realm, realm.people.member, realm.channels.general, `@*${name}*`)).toBe('sent');
  });

  it('nobody may mention role groups, which would be an unlimited wildcard', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { general } = realm.channels;
    for (const { name } of Object.values(systemGroups)) {
      expect(await sendTo(realm, owner, general, `@*${name}*`)).toEqual(refused(name));
    }
  });

  it('a role group is shown by its display name, not by its name in the API', async () => {
    const realm = await newRealm();
    const shown = {
      'role:internet': 'Everyone on the internet',
      'role:everyone': 'Everyone including guests',
      'role:members': 'Everyone except guests',
      'role:fullmembers': 'Full members',
      'role:moderators': 'Moderators',
      'role:administrators': 'Administrators',
      'role:owners': 'Owners',
      'role:nobody': 'Nobody',
    };
    expect(Object.keys(shown).sort()).toEqual(
      Object.values(systemGroups)
        .map(({ name }) => name)
        .sort(),
    );
    for (const { id, name } of Object.values(systemGroups)) {
      const message = { type: 'channel', to: 'general', topic: 'hi', content: `@_*${name}*` };
      const { body } = await realm.call(send, realm.people.member, message);
      expect((await storedMessage(realm, body.id)).rendered).toBe(
        `<p><span class="user-group-mention silent" data-user-group-id="${id}">${shown[name]}</span></p>`,
      );
    }
  });
});

describe('specification 2.3: how names in a message are stored', () => {
  it('users, groups and wildcards that are not mentioned silently are each stored once', async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const { name, groupId } = await givenGroup(realm);
    const content = [
      `@**Adam Admin** @**adam admin** @**Adam Admin|${admin.userId}** @_**Max Member**`,
      `@**|${moderator.userId}** @*${name}* @**all** @**topic** @**Nobody Known**`,
    ].join('\n');
    const { body } = await realm.call(send, member, { type: 'channel', to: 'general', topic: 'hi', content });
    expect((await storedMessage(realm, body.id)).mentions).toEqual({
      users: [admin.userId, moderator.userId],
      groups: [groupId],
      channel: true,
      topic: true,
    });
  });

  it('a deactivated account is not mentioned', async () => {
    const realm = await newRealm();
    const who = await givenUser(realm, { fullName: 'Gone Person' });
    await givenChangedUser(realm, who, { isActive: false });
    const content = '@**Gone Person**';
    const { body } = await realm.call(send, realm.people.member, {
      type: 'channel',
      to: 'general',
      topic: 'hi',
      content,
    });
    expect(await storedMessage(realm, body.id)).not.toHaveProperty('mentions');
  });

  it('a link to a topic names its newest message, if the sender can read that', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const linked = async (as: Person, content: string): Promise<string> => {
      const message = { type: 'channel', to: 'general', topic: 'links', content };
      return (await storedMessage(realm, (await realm.call(send, as, message)).body.id)).rendered;
    };
    const post = async (to: number, topic: string): Promise<number> => {
      const { body } = await realm.call(send, admin, { type: 'channel', to, topic, content: 'x' });
      return body.id;
    };
    const { random } = realm.channels;
    await post(random, 'Tea');
    const newest = await post(random, 'tea');
    for (const spelling of ['tea', 'TEA']) {
      const rendered = await linked(member, `#**random>${spelling}**`);
      expect(rendered).toContain(`href="/#narrow/channel/${random}-random/topic/${spelling}/with/${newest}"`);
    }
    expect(await linked(member, '#**random>coffee**')).toContain('/topic/coffee"');
    // No topic has a name as long as this one.
    expect(await linked(member, `#**random>${'x'.repeat(3_000)}**`)).toContain('/topic/xxx');
    // Administrators know of a private channel without reading it, and history may begin with a subscription.
    const shut = await givenChannel(realm, { name: 'shut', isPrivate: true }, [admin]);
    const inShut = await post(shut.channelId, 'plan');
    expect(await linked(admin, '#**shut>plan**')).toContain(`/topic/plan/with/${inShut}"`);
    expect(await linked(owner, '#**shut>plan**')).toContain('/topic/plan"');
    const cell = await givenChannel(realm, {
      name: 'cell',
      isPrivate: true,
      historyPublicToSubscribers: false,
    });
    await givenSubscription(realm, admin, cell.channelId);
    const before = await post(cell.channelId, 'past');
    await givenSubscription(realm, member, cell.channelId, { since: before });
    expect(await linked(member, '#**cell>past**')).toContain('/topic/past"');
    const after = await post(cell.channelId, 'past');
    expect(await linked(member, '#**cell>past**')).toContain(`/topic/past/with/${after}"`);
  });

  it('a link to a channel needs the exact name', async () => {
    const realm = await newRealm();
    const message = { type: 'channel', to: 'general', topic: 'hi', content: '#**General** #**GENERAL>hi**' };
    const { body } = await realm.call(send, realm.people.member, message);
    expect((await storedMessage(realm, body.id)).rendered).not.toContain('<a ');
  });

  it('a link to a channel that the sender may not see stays text', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const secret = await givenChannel(realm, { name: 'secret', isPrivate: true }, [admin]);
    const content = '#**secret** #**random>hi** :party: :smile:';
    await givenEmoji(realm, 'party');
    const message = { type: 'channel', to: 'general', topic: 'hi', content };
    const [hidden, known] = await Promise.all(
      [member, admin].map(async (as) => storedMessage(realm, (await realm.call(send, as, message)).body.id)),
    );
    expect(hidden?.rendered).not.toContain(`${secret.channelId}`);
    expect(known?.rendered).toContain(`data-stream-id="${secret.channelId}"`);
    for (const { rendered } of [hidden, known].flatMap((message) => message ?? [])) {
      expect(rendered).toContain(`data-stream-id="${realm.channels.random}"`);
      expect(rendered).toContain('party.png');
    }
  });
});
