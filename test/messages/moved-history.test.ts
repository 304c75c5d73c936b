import { describe, expect, it } from 'vitest';
import { messageKey } from '../../shared/model/message/message.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import {
  fetched,
  givenTwoChannels,
  historyOf,
  move,
  sayMany,
  success,
  update,
} from '../support/message-update.ts';
import { workedOff } from '../support/outbox.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { storedMessage } from '../support/stored.ts';

/** A message with an earlier text and an earlier topic. */
async function changedMessage(realm: TestRealm, as: Person, channelId: number): Promise<number> {
  const id = await sendTo(realm, as, channelId, 'the old secret', { topic: 'coup' });
  expect(await update(realm, as, id, { content: 'something harmless' })).toMatchObject(success);
  expect(await move(realm, as, id, { topic: 'tea' })).toMatchObject(success);
  return id;
}

const secrets = /secret|coup|hideout/;

describe('the history of a message that left a private channel', () => {
  it('begins with the move for everybody', async () => {
    const realm = await newRealm();
    const { admin, member, moderator } = realm.people;
    const hideout = await givenChannel(realm, { name: 'hideout', isPrivate: true }, [admin, member]);
    const square = await givenChannel(realm, {}, [admin, member, moderator]);
    const client = await givenClient(realm, moderator, { event_types: ['message', 'update_message'] });
    const id = await changedMessage(realm, admin, hideout.channelId);
    expect(JSON.stringify(await historyOf(realm, member, id))).toMatch(secrets);
    const moved = { stream_id: square.channelId, topic: 'news', send_notification_to_new_thread: true };
    expect(await move(realm, admin, id, moved)).toMatchObject(success);

    for (const person of [moderator, member, admin]) {
      const history = await historyOf(realm, person, id);
      expect(history).toEqual([
        {
          user_id: admin.userId,
          timestamp: expect.any(Number),
          topic: 'news',
          content: 'something harmless',
          rendered_content: '<p>something harmless</p>',
        },
      ]);
      expect(await fetched(realm, person, id)).not.toHaveProperty('edit_history');
    }
    const events = [...(await client.poll()), ...(await client.poll())];
    expect(events.map(({ type }: { type: string }) => type).sort()).toEqual([
      'message',
      'message',
      'update_message',
    ]);
    expect(JSON.stringify(events)).not.toMatch(secrets);
  });

  it('continues with later changes', async () => {
    const realm = await newRealm();
    const { admin, moderator } = realm.people;
    const hideout = await givenChannel(realm, { isPrivate: true }, [admin]);
    const square = await givenChannel(realm, {}, [admin, moderator]);
    const id = await changedMessage(realm, admin, hideout.channelId);
    await move(realm, admin, id, { stream_id: square.channelId });
    await update(realm, admin, id, { content: 'news' });
    const history = await historyOf(realm, moderator, id);
    expect(history.map(({ content }) => content)).toEqual(['something harmless', 'news']);
    expect((await fetched(realm, moderator, id)).edit_history).toHaveLength(1);
    expect(JSON.stringify(history)).not.toMatch(secrets);
  });

  it('is also cut for messages that moved before versions recorded who could read the channel', async () => {
    const realm = await newRealm();
    const { admin, moderator } = realm.people;
    const source = await givenChannel(realm, {}, [admin]);
    const square = await givenChannel(realm, {}, [admin, moderator]);
    const id = await changedMessage(realm, admin, source.channelId);
    await move(realm, admin, id, { stream_id: square.channelId });
    const { history = [] } = await storedMessage(realm, id);
    const unmarked = history.map(({ channel, ...revision }) => ({
      ...revision,
      ...(channel && { channel: { from: channel.from, to: channel.to } }),
    }));
    await realm.outside.table.update(messageKey(realm.realm, id), { set: { history: unmarked } });
    expect(JSON.stringify(await historyOf(realm, moderator, id))).not.toMatch(secrets);
    expect(await fetched(realm, moderator, id)).not.toHaveProperty('edit_history');
  });
});

describe('the history of a message that left a public channel', () => {
  it('is shown to members, and to guests only if the channel was web-public', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const square = await givenChannel(realm, {}, [admin, member, guest]);
    for (const isWebPublic of [false, true]) {
      const source = await givenChannel(realm, { isWebPublic }, [admin]);
      const id = await changedMessage(realm, admin, source.channelId);
      await move(realm, admin, id, { stream_id: square.channelId });
      const change = { stream: square.channelId, prev_stream: source.channelId };
      expect((await fetched(realm, member, id)).edit_history[0]).toMatchObject(change);
      expect(await historyOf(realm, member, id)).toHaveLength(4);
      expect(await historyOf(realm, guest, id)).toHaveLength(isWebPublic ? 4 : 1);
      const object = await fetched(realm, guest, id);
      if (isWebPublic) expect(object.edit_history).toHaveLength(3);
      else expect(object).not.toHaveProperty('edit_history');
    }
  });

  it('is also shown for messages that the outbox moved', async () => {
    const realm = await newRealm();
    const { people, source, target } = await givenTwoChannels(realm, 0);
    const [admin, member] = people as [Person, Person];
    const ids = await sayMany(realm, [member], source.channelId, 'tea', 45);
    const asked = { stream_id: target.channelId, propagate_mode: 'change_all' };
    expect(await move(realm, admin, ids.at(-1) as number, asked)).toMatchObject(success);
    await workedOff(realm);
    for (const id of [ids[0], ids[20], ids.at(-1)] as number[]) {
      expect((await fetched(realm, member, id)).edit_history).toMatchObject([
        { stream: target.channelId, prev_stream: source.channelId },
      ]);
    }
  });
});

describe('the event of a move', () => {
  it('names the old channel and topic only to users who could read the message there', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const outsider = await givenUser(realm);
    const hideout = await givenChannel(realm, { name: 'hideout', isPrivate: true }, [admin, member]);
    const square = await givenChannel(realm, {}, [admin, member, outsider]);
    const clients = await Promise.all(
      [member, outsider].map((person) => givenClient(realm, person, { event_types: ['update_message'] })),
    );
    const id = await sendTo(realm, admin, hideout.channelId, 'x', { topic: 'coup' });
    await move(realm, admin, id, { stream_id: square.channelId, topic: 'tea' });
    const [inside, outside] = await Promise.all(clients.map(async (client) => (await client.poll())[0]));
    const both = { stream_id: hideout.channelId, new_stream_id: square.channelId, message_ids: [id] };
    expect(inside).toMatchObject({ ...both, stream_name: 'hideout', orig_subject: 'coup', subject: 'tea' });
    expect(outside).toMatchObject({ ...both, orig_subject: 'tea' });
    expect(JSON.stringify(outside)).not.toMatch(secrets);
  });
});
