import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { audit } from '../audit/audit.ts';
import { sendTo } from '../events/queue.ts';
import { givenChannel } from '../given.ts';
import { meanwhile } from '../log/faults.ts';
import { newRealm, type TestRealm } from '../realm.ts';
import { storedCount } from '../stored.ts';
import { move, success } from './update.ts';

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

/** The oldest message that the channel tells of, once all that it tells was found right. */
async function firstOf(realm: TestRealm, channelId: number): Promise<number | undefined> {
  expect(await audit(realm)).toEqual([]);
  return (await storedCount(realm, channelId))?.firstMessageId;
}

describe('the first message of a channel leaves (specification 3, first_message_id)', () => {
  it('while another one begins a topic', async () => {
    const { realm, owner, channelId, first } = await scene();
    const writer = realm.container(meanwhile(() => removed(realm, first)));
    const id = await sendTo(writer, owner, channelId, 'x', { topic: 'new' });
    expect(await firstOf(realm, channelId)).toBe(id);
  });

  it('just after another one began a topic, which it had not seen', async () => {
    const { realm, owner, channelId, first } = await scene();
    let id = 0;
    const remover = realm.container(
      meanwhile(async () => {
        id = await sendTo(realm, owner, channelId, 'x', { topic: 'new' });
      }),
    );
    expect(await removed(remover, first)).toMatchObject({ status: 200 });
    expect(await firstOf(realm, channelId)).toBe(id);
  });

  it('while another one with an earlier number than those that stay begins a topic', async () => {
    const { realm, owner, channelId, first } = await scene();
    const writer = realm.container(
      meanwhile(async () => {
        await sendTo(realm, owner, channelId, 'x', { topic: 'later' });
        await removed(realm, first);
      }),
    );
    const id = await sendTo(writer, owner, channelId, 'x', { topic: 'new' });
    expect(await firstOf(realm, channelId)).toBe(id);
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
    expect(await firstOf(realm, channelId)).toBe(coming);
  });
});
