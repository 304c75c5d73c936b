import { describe, expect, it } from 'vitest';
import { handler as get } from '../../functions/messages/get.ts';
import { fetched, flagged, sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const read = (realm: TestRealm, as: Person, id: number | string, query = {}) =>
  realm.call(get, as, {}, { path: { message_id: id }, query });

describe('GET /messages/{message_id}', () => {
  it('returns the message in the form of GET /messages, with its Markdown source', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sent(
      realm,
      member,
      { to: realm.channels.general, topic: '' },
      '**now** @**Adam Admin**',
    );
    await flagged(realm, admin, 'add', 'starred', [id]);
    const list = await fetched(realm, admin);
    const { status, body } = await read(realm, admin, id);
    expect(status).toBe(200);
    expect(body.message).toEqual(list.body.messages[0]);
    expect(body.message.flags).toEqual(['starred', 'mentioned']);
    expect(body.raw_content).toBe('**now** @**Adam Admin**');
    const plain = await read(realm, admin, id, { apply_markdown: false, allow_empty_topic_name: true });
    expect(plain.body.message).toMatchObject({ content: body.raw_content, subject: '' });
  });

  it('refuses what is hidden and what does not exist in the same words', async () => {
    const realm = await newRealm();
    const { member, guest, admin } = realm.people;
    const hidden = await sent(realm, member, { people: [guest] });
    // A number of the log that is an event, and one that is a user.
    const event = hidden - 1;
    const replies = await Promise.all(
      [hidden, event, member.userId, 999_999, 0].map((id) => read(realm, admin, id)),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(5).fill(400));
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(replies[0]?.body.code).toBe('BAD_REQUEST');
  });
});
