import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import type { RealmSettings, TopicsPolicy } from '../../shared/model/realm/realm.ts';
import {
  givenBot,
  givenChangedUser,
  givenChannel,
  givenGroup,
  givenRealmSettings,
  givenSubscription,
} from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const toTopic = async (realm: TestRealm, as: Person, to: number, topic: string): Promise<unknown> => {
  const { status, body } = await realm.call(send, as, { type: 'channel', to, topic, content: 'x' });
  return status === 200 ? 'sent' : [status, body.code, body.msg];
};

/** Refusals of topics tell the name that stands for the empty one (wire facts 3.6). */
const refused = [400, 'BAD_REQUEST', expect.stringContaining("'general chat'")];

describe('specification 3: topic policies', () => {
  it.each<[TopicsPolicy, RealmSettings['topics_policy'], unknown, unknown]>([
    ['inherit', 'allow_empty_topic', 'sent', 'sent'],
    ['inherit', 'disable_empty_topic', 'sent', refused],
    ['allow_empty_topic', 'disable_empty_topic', 'sent', 'sent'],
    ['disable_empty_topic', 'allow_empty_topic', 'sent', refused],
    ['empty_topic_only', 'allow_empty_topic', refused, 'sent'],
    ['empty_topic_only', 'disable_empty_topic', refused, 'sent'],
  ])(
    'channel %s in an organization with %s takes just the right topics (3/inherit, 3/allow_empty_topic, 3/disable_empty_topic, 3/empty_topic_only, 4.1/topic-empty)',
    async (topicsPolicy, topics_policy, named, empty) => {
      const realm = await newRealm({ topics_policy });
      const { channelId } = await givenChannel(realm, { topicsPolicy });
      const { member } = realm.people;
      expect(await toTopic(realm, member, channelId, 'hi')).toEqual(named);
      for (const topic of ['', '(no topic)', 'general chat']) {
        expect(await toTopic(realm, member, channelId, topic), topic).toEqual(empty);
      }
    },
  );

  it('apply to administrators too', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, { topicsPolicy: 'empty_topic_only' });
    expect(await toTopic(realm, realm.people.owner, channelId, 'hi')).toEqual(refused);
  });

  it('follow a change of the organization from the next message on', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    expect(await toTopic(realm, realm.people.member, channelId, '')).toBe('sent');
    await givenRealmSettings(realm, { topics_policy: 'disable_empty_topic' });
    expect(await toTopic(realm, realm.people.member, channelId, '')).toEqual(refused);
  });
});

describe('wire facts 3.6: can_create_topic_group', () => {
  const notAllowed = [400, 'BAD_REQUEST', expect.stringMatching(/new topics/)];
  const onlyModerators = { groups: { can_create_topic_group: systemGroups.moderators.id } };

  it('is needed for a new topic, but not for one that has a message, spelled in any case (4.2/can_create_topic_group, 4.2/send-new-topic)', async () => {
    const realm = await newRealm();
    const { member, moderator } = realm.people;
    const { channelId } = await givenChannel(realm, onlyModerators);
    expect(await toTopic(realm, member, channelId, 'Plans')).toEqual(notAllowed);
    expect(await toTopic(realm, moderator, channelId, 'plans')).toBe('sent');
    expect(await toTopic(realm, member, channelId, 'PLANS')).toBe('sent');
    expect(await toTopic(realm, member, channelId, 'other')).toEqual(notAllowed);
  });

  it('gives no permission to users who may not post (4.2/create-topic-posting)', async () => {
    const realm = await newRealm();
    const { member, moderator } = realm.people;
    const groups = {
      can_create_topic_group: systemGroups.members.id,
      can_send_message_group: systemGroups.moderators.id,
    };
    const { channelId } = await givenChannel(realm, { groups }, [member]);
    const notPermitted = [400, 'BAD_REQUEST', expect.stringMatching(/permission to post/)];
    expect(await toTopic(realm, member, channelId, 'plans')).toEqual(notPermitted);
    expect(await toTopic(realm, moderator, channelId, 'plans')).toBe('sent');
  });

  it('is needed for the empty topic too', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, onlyModerators);
    expect(await toTopic(realm, realm.people.member, channelId, '')).toEqual(notAllowed);
  });

  it('is needed even if another channel has the topic', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, onlyModerators);
    expect(await toTopic(realm, realm.people.member, realm.channels.general, 'plans')).toBe('sent');
    expect(await toTopic(realm, realm.people.member, channelId, 'plans')).toEqual(notAllowed);
  });

  it('may be a named group, reached through other groups', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const inner = await givenGroup(realm, { members: [member, guest] });
    const outer = await givenGroup(realm, { subgroups: [inner.groupId] });
    const groups = { can_create_topic_group: outer.groupId };
    const { channelId } = await givenChannel(realm, { groups });
    await givenSubscription(realm, guest, channelId);
    expect(await toTopic(realm, member, channelId, 'one')).toBe('sent');
    expect(await toTopic(realm, guest, channelId, 'two')).toBe('sent');
    expect(await toTopic(realm, realm.people.owner, channelId, 'three')).toEqual(notAllowed);
  });

  it('lets a bot create topics with the permission of its owner, while the owner is active', async () => {
    const realm = await newRealm();
    const { moderator, member } = realm.people;
    const { channelId } = await givenChannel(realm, onlyModerators);
    const [bot, other] = [await givenBot(realm, moderator), await givenBot(realm, member)];
    expect(await toTopic(realm, bot, channelId, 'one')).toBe('sent');
    expect(await toTopic(realm, other, channelId, 'two')).toEqual(notAllowed);
    await givenChangedUser(realm, moderator, { isActive: false });
    expect(await toTopic(realm, bot, channelId, 'three')).toEqual(notAllowed);
  });
});
