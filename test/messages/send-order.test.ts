import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChangedUser, givenChannel, givenGroup, givenUser } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

/*
 * A message with many faults at once: each step fixes the reported one, and gets the next (wire facts 3.3).
 */
type Step = readonly [mend: Readonly<Record<string, unknown>>, told: RegExp];

async function walk(
  call: (
    parameters: Readonly<Record<string, unknown>>,
  ) => Promise<{ readonly body: { readonly msg: string } }>,
  steps: readonly Step[],
): Promise<void> {
  let parameters: Record<string, unknown> = {};
  for (const [mend, told] of steps) {
    parameters = Object.fromEntries(
      Object.entries({ ...parameters, ...mend }).filter(([, value]) => value !== undefined),
    );
    const { body } = await call(parameters);
    expect(body.msg).toMatch(told);
  }
}

describe('wire facts 3.3: the order of checks', () => {
  it('is the one of the facts for a channel message', async () => {
    const realm = await newRealm({ can_mention_many_users_group: systemGroups.nobody.id });
    const { member, moderator } = realm.people;
    const { groupId, name: group } = await givenGroup(realm, { members: [moderator] });
    const quiet = await givenGroup(realm, { settings: { can_mention_group: systemGroups.nobody.id } });
    const closed = await givenChannel(realm, { groups: { can_send_message_group: groupId } });
    const many = Array.from({ length: 16 }, () => givenUser(realm));
    const people = await Promise.all(many);
    const strict = await givenChannel(
      realm,
      { topicsPolicy: 'disable_empty_topic', groups: { can_create_topic_group: systemGroups.moderators.id } },
      people,
    );
    const open = await givenChannel(realm, { topicsPolicy: 'disable_empty_topic' }, people);
    for (const as of people) {
      await realm.call(send, as, { type: 'channel', to: open.channelId, topic: 'crowded', content: 'x' });
    }
    const wild = `@**all** @**topic** @*${quiet.name}*`;
    await walk(
      (parameters) => realm.call(send, member, parameters),
      [
        [
          { to: '[]', content: '', sender: 'x@example.com', queue_id: 'q', read_by_sender: 'yes' },
          /'type'.*required/,
        ],
        [{ type: 'channel' }, /'read_by_sender'/],
        [{ read_by_sender: undefined }, /'queue_id' and 'local_id'/],
        [{ local_id: '1' }, /exactly one channel/],
        [{ to: '"x\\u0007"' }, /send messages as another user/],
        [{ sender: undefined }, /needs a topic/],
        [{ topic: 'a\u0007' }, /topic.*position 2/],
        [{ topic: '' }, /must not be empty/],
        [{ content: wild }, /channel name.*position 2/],
        [{ to: 'no such channel' }, /no channel named/],
        [{ to: closed.name }, /permission to post/],
        [{ to: strict.name }, /new topics/],
        [{ to: open.name }, /general chat/],
        [{ topic: 'crowded' }, /in a channel of this size/],
        [{ content: wild.replace('@**all**', '') }, /in a topic/],
        [{ topic: 'another' }, new RegExp(`mention the group '${quiet.name}'`)],
        [{ content: `@*${group}*` }, /^$/],
      ],
    );
  });

  it('is the one of the facts for a direct message', async () => {
    const realm = await newRealm({
      direct_message_permission_group: systemGroups.administrators.id,
      direct_message_initiator_group: systemGroups.nobody.id,
    });
    const { member, guest, admin, bot } = realm.people;
    const gone = await givenUser(realm);
    await givenChangedUser(realm, gone, { isActive: false });
    const quiet = await givenGroup(realm, { settings: { can_mention_group: systemGroups.nobody.id } });
    await walk(
      (parameters) => realm.call(send, member, parameters),
      [
        [{ type: 'direct', to: '7', content: ' ', forged: 'yes', topic: '\u0007' }, /list/],
        [{ to: ['nobody@example.com'] }, /send messages as another user/],
        [{ forged: undefined }, /Invalid email/],
        [{ to: [gone.email] }, /must not be empty/],
        [{ content: `@*${quiet.name}*` }, /deactivated/],
        [{ to: [guest.email] }, /not permitted/],
        [{ to: [admin.email] }, /begin/],
        [{ to: [bot.email] }, /mention the group/],
        [{ content: 'x' }, /^$/],
      ],
    );
  });

  it('reveals nothing to a caller without a valid key', async () => {
    const { call, people } = await newRealm();
    const { status, body } = await call(
      send,
      { ...people.member, apiKey: 'x'.repeat(32) },
      { type: 'nonsense' },
    );
    expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
  });
});

describe('wire facts 3.1: sending as another user', () => {
  it.each([{ sender: 'member@example.com' }, { forged: 'yes' }, { forged: 'true' }])(
    '%j is refused, even from an owner',
    async (wish) => {
      const { call, people } = await newRealm();
      const message = { type: 'channel', to: 'general', topic: 'hi', content: 'x', ...wish };
      const { status, body } = await call(send, people.owner, message);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );
});
