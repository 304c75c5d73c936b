import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { audit } from '../support/audit/audit.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { meanwhile } from '../support/faults.ts';
import { givenChannel } from '../support/given.ts';
import { move, success } from '../support/message-update.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { firstOf, storedCount } from '../support/stored.ts';

const removed = (realm: TestRealm, message_id: number) =>
  realm.call(deleteMessage, realm.people.owner, undefined, { path: { message_id } });

/** A channel with one message, which is the first. */
async function scene() {
  const realm = await newRealm();
  const { owner } = realm.people;
  const { channelId } = await givenChannel(realm, {}, [owner]);
  const first = await sendTo(realm, owner, channelId, 'x', { topic: 'old' });
  return { realm, owner, channelId, first };
}

/** The `first_message_id` of the channel, after an audit of the organization. */
async function auditedFirst(realm: TestRealm, channelId: number): Promise<number | null> {
  expect(await audit(realm)).toEqual([]);
  return firstOf(realm, channelId);
}

describe('first_message_id stays right when the first message leaves the channel (specification 3)', () => {
  it('while another one begins a topic', async () => {
    const { realm, owner, channelId, first } = await scene();
    const writer = realm.container(meanwhile(() => removed(realm, first)));
    const id = await sendTo(writer, owner, channelId, 'x', { topic: 'new' });
    expect(await auditedFirst(realm, channelId)).toBe(id);
  });

  it('just after another one began a topic, which the deletion had not read', async () => {
    const { realm, owner, channelId, first } = await scene();
    let id = 0;
    const remover = realm.container(
      meanwhile(async () => {
        id = await sendTo(realm, owner, channelId, 'x', { topic: 'new' });
      }),
    );
    expect(await removed(remover, first)).toMatchObject({ status: 200 });
    expect(await auditedFirst(realm, channelId)).toBe(id);
  });

  it('while a message with an earlier id than the remaining ones begins a topic', async () => {
    const { realm, owner, channelId, first } = await scene();
    const writer = realm.container(
      meanwhile(async () => {
        await sendTo(realm, owner, channelId, 'x', { topic: 'later' });
        await removed(realm, first);
      }),
    );
    const id = await sendTo(writer, owner, channelId, 'x', { topic: 'new' });
    expect(await auditedFirst(realm, channelId)).toBe(id);
  });

  it.each(['to a new topic', 'to a topic that is there'])('while messages come %s', async (where) => {
    const { realm, owner } = await scene();
    const { channelId } = await givenChannel(realm, {}, [owner]);
    const first = await sendTo(realm, owner, channelId, 'x', { topic: 'old' });
    const { channelId: elsewhere } = await givenChannel(realm, {}, [owner]);
    const coming = await sendTo(realm, owner, elsewhere, 'x', { topic: 'come' });
    if (where === 'to a topic that is there') await sendTo(realm, owner, channelId, 'x', { topic: 'new' });
    const mover = realm.container(meanwhile(() => removed(realm, first)));
    const fields = { stream_id: channelId, topic: 'new' };
    expect(await move(mover, owner, coming, fields)).toMatchObject(success);
    expect(await auditedFirst(realm, channelId)).toBe(coming);
  });

  it.each(['is deleted', 'is moved'])(
    'while a message with an earlier id than the remaining ones comes to its topic, which %s later',
    async (then) => {
      const { realm, owner, channelId, first } = await scene();
      const writer = realm.container(
        meanwhile(async () => {
          await sendTo(realm, owner, channelId, 'x', { topic: 'old' });
          await removed(realm, first);
        }),
      );
      const id = await sendTo(writer, owner, channelId, 'x', { topic: 'old' });
      expect(await auditedFirst(realm, channelId)).toBe(id);
      const reply =
        then === 'is deleted'
          ? await removed(realm, id)
          : await move(realm, owner, id, { topic: 'elsewhere', stream_id: channelId });
      expect(reply).toMatchObject({ status: 200 });
      expect(await audit(realm)).toEqual([]);
    },
  );

  it('while a registration remembers it', async () => {
    const { realm, owner, channelId, first } = await scene();
    const second = await sendTo(realm, owner, channelId, 'x', { topic: 'old' });
    const container = realm.container(meanwhile(() => removed(realm, first)));
    const { state } = await givenClient(container, owner, { fetch_event_types: ['stream'] });
    expect(state.streams.find((one: { stream_id: number }) => one.stream_id === channelId)).toMatchObject({
      first_message_id: first,
    });
    expect(await auditedFirst(realm, channelId)).toBe(second);
  });

  it('and a registration remembers that there is none, until a message comes', async () => {
    const { realm, owner, channelId, first } = await scene();
    const register = () => givenClient(realm, owner, { fetch_event_types: ['stream'] });
    await register();
    await removed(realm, first);
    await register();
    expect(await storedCount(realm, channelId)).not.toHaveProperty('firstForgotten');
    const writer = realm.container(
      // Numbered later, and there sooner: by another registration that one is remembered.
      meanwhile(async () => {
        await sendTo(realm, owner, channelId, 'x', { topic: 'later' });
        await register();
      }),
    );
    const id = await sendTo(writer, owner, channelId, 'x', { topic: 'sooner' });
    expect(await auditedFirst(realm, channelId)).toBe(id);
    await register();
    expect(await auditedFirst(realm, channelId)).toBe(id);
  });

  it('and clients get an event with the new one, according to the messages they have received', async () => {
    const { realm, owner, channelId, first } = await scene();
    const second = await sendTo(realm, owner, channelId, 'x', { topic: 'old' });
    const client = await givenClient(realm, owner, { event_types: ['stream', 'message'] });
    const polled = async () => [...(await client.poll()), ...(await client.poll())];
    const news = { type: 'stream', op: 'update', property: 'first_message_id', stream_id: channelId };
    await removed(realm, first);
    await removed(realm, second);
    const third = await sendTo(realm, owner, channelId, 'x', { topic: 'old' });
    expect(await polled()).toMatchObject([
      { ...news, value: null },
      { ...news, value: null },
      { type: 'message', message: { id: third } },
    ]);
    const fourth = await sendTo(realm, owner, channelId, 'x', { topic: 'old' });
    await removed(realm, third);
    expect(await polled()).toMatchObject([
      { type: 'message', message: { id: fourth } },
      { ...news, value: fourth },
    ]);
  });
});
