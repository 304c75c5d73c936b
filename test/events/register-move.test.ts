import { describe, expect, it } from 'vitest';
import { eventKind } from '../../shared/openapi/event-shapes.ts';
import { QueryCommand } from '../../shared/table/commands.ts';
import { indexes } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { applying, kinds } from '../support/client-state/applied.ts';
import { unreadOf } from '../support/client-state/apply-messages.ts';
import { knownFrom } from '../support/client-state/known.ts';
import { type Client, givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { move as moveMessage, say, sayMany } from '../support/message-update.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const parameters = {
  ...kinds.modern.parameters,
  fetch_event_types: [
    'update_message_flags',
    'starred_messages',
    'realm_user',
    'subscription',
    'user_topic',
    'realm',
  ],
  event_types: ['message', 'update_message', 'update_message_flags', 'delete_message'],
};

/** Two channels with a message in the first one, which a subscriber of both has not read. */
async function givenUnread() {
  const realm = await newRealm();
  const { admin, member } = realm.people;
  const from = await givenChannel(realm, {}, [admin, member]);
  const to = await givenChannel(realm, {}, [admin, member]);
  const id = await say(realm, admin, from.channelId, 'tea');
  // The newest messages are known without an index.
  const elsewhere = await givenChannel(realm, {}, [admin]);
  await sayMany(realm, [admin], elsewhere.channelId, 'talk', 45);
  const move = async (): Promise<void> => {
    const { status } = await moveMessage(realm, admin, id, { stream_id: to.channelId, topic: 'cake' });
    expect(status).toBe(200);
  };
  return { realm, member, from: from.channelId, to: to.channelId, id, move };
}

const isReading = (command: object, realm: string, channelId: number): command is QueryCommand =>
  command instanceof QueryCommand &&
  command.input.IndexName === indexes.channel.name &&
  JSON.stringify(command.input.ExpressionAttributeValues).includes(
    `"${indexes.channel.key(realm, channelId)}"`,
  );

/** Something happens just before the index of a channel is read. */
const beforeReading =
  ({ realm }: TestRealm, channelId: number, act: () => Promise<void>): ((send: Send) => Send) =>
  (send) => {
    let first: Promise<void> | undefined;
    return async (command) => {
      if (isReading(command, realm, channelId)) {
        first ??= act();
        await first;
      }
      return send(command);
    };
  };

/** The index of a channel shows for ever what it showed first. */
const showingAsBefore =
  ({ realm }: TestRealm, channelId: number): ((send: Send) => Send) =>
  (send) => {
    const shown = new Map<string, Promise<unknown>>();
    return (command) => {
      if (!isReading(command, realm, channelId)) return send(command);
      const asked = JSON.stringify(command.input);
      const answer = shown.get(asked) ?? send(command);
      shown.set(asked, answer);
      return answer;
    };
  };

/** What a client knows to be unread, which has heard all there is. */
async function known({ state, poll }: Client): Promise<object> {
  const known = knownFrom(state, kinds.modern);
  for (const event of await poll()) applying[eventKind(event)]?.(known, event);
  return unreadOf(known);
}

describe('messages that move to another channel while somebody registers', () => {
  it('are unread for that user, in whichever channel they were looked for first', async () => {
    for (const late of ['from', 'to'] as const) {
      const { realm, member, move, ...ids } = await givenUnread();
      const container = realm.container(beforeReading(realm, ids[late], move));
      const client = await givenClient(container, member, parameters);
      const again = await givenClient(realm, member, parameters);
      expect(again.state.unread_msgs.streams).toEqual([
        { stream_id: ids.to, topic: 'cake', unread_message_ids: [ids.id] },
      ]);
      expect(await known(client)).toEqual(again.state.unread_msgs);
    }
  });

  it('come as events of a move, and not as read or unread', async () => {
    const { realm, member, move } = await givenUnread();
    const client = await givenClient(realm, member, parameters);
    await move();
    expect((await client.poll()).map(eventKind)).toEqual(['update_message']);
  });

  it.each(['from', 'to'] as const)(
    'are listed where they are now, even if the index of "%s" still has their old place',
    async (lagging) => {
      const { realm, member, move, id, ...ids } = await givenUnread();
      const container = realm.container(showingAsBefore(realm, ids[lagging]));
      const streams = async () =>
        (await givenClient(container, member, parameters)).state.unread_msgs.streams;
      expect(await streams()).toEqual([{ stream_id: ids.from, topic: 'tea', unread_message_ids: [id] }]);
      await move();
      expect(await streams()).toEqual([{ stream_id: ids.to, topic: 'cake', unread_message_ids: [id] }]);
    },
  );

  it('cost a registration no round trip, since the log has everything about a message that moved alone', async () => {
    const { realm, member, move } = await givenUnread();
    realm.pass(60_000);
    const container = realm.container();
    const trips = async (): Promise<number> => {
      container.meter.reset();
      await givenClient(container, member, { ...parameters, fetch_event_types: ['update_message_flags'] });
      return container.meter.roundTrips;
    };
    expect(await trips()).toBe(3);
    expect(await trips()).toBe(2);
    await move();
    expect(await trips()).toBe(2);
  });
});
