import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChangedUser, givenChannel } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const sendTo = async (realm: TestRealm, as: Person, to: unknown) =>
  (await realm.call(send, as, { type: 'channel', to, topic: 'hi', content: 'x' })).body;

/** The notices that this person got after a number of the log: direct messages of the notice bot's. */
async function notices(realm: TestRealm, cursor: number, { userId }: Person): Promise<string[]> {
  const entries = await loggedAfter(realm, cursor);
  return entries.flatMap((entry) =>
    entry.kind === 'message' && entry.people?.includes(userId) && entry.client === 'Internal'
      ? [entry.rendered.replaceAll(/<[^>]*>/g, '')]
      : [],
  );
}

describe("wire facts 3.5: the notice to a bot's owner", () => {
  it('is sent when the bot writes to a channel that does not exist, by name or by id', async () => {
    const realm = await newRealm();
    const { bot, member } = realm.people;
    const start = await lastNumber(realm);
    expect(await sendTo(realm, bot, 'no`where')).toMatchObject({
      code: 'STREAM_DOES_NOT_EXIST',
      stream: 'no`where',
    });
    realm.pass(5 * 60_000);
    expect(await sendTo(realm, bot, 4711)).toMatchObject({ code: 'STREAM_DOES_NOT_EXIST', stream_id: 4711 });
    expect(await notices(realm, start, member)).toEqual([
      expect.stringMatching(/bot@example\.com.*no'where.*does not exist/),
      expect.stringMatching(/4711.*does not exist/),
    ]);
  });

  it('is sent when the channel has no subscribers, and the message is sent all the same', async () => {
    const realm = await newRealm();
    const { bot, member } = realm.people;
    const { channelId, name } = await givenChannel(realm);
    const start = await lastNumber(realm);
    expect(await sendTo(realm, bot, channelId)).toEqual({
      result: 'success',
      msg: '',
      id: expect.any(Number),
    });
    expect(await notices(realm, start, member)).toEqual([expect.stringMatching(`${name}.*no subscribers`)]);
  });

  it('is sent at most once in five minutes, even for concurrent sends', async () => {
    const realm = await newRealm();
    const { bot, member } = realm.people;
    const start = await lastNumber(realm);
    await Promise.all(Array.from({ length: 5 }, () => sendTo(realm.container(), bot, 'nowhere')));
    realm.pass(5 * 60_000 - 10_000);
    await sendTo(realm, bot, 'nowhere');
    expect(await notices(realm, start, member)).toHaveLength(1);
    realm.pass(10_000);
    // The conversation exists by now, so that only the time of the last notice can hold the others off.
    await Promise.all(Array.from({ length: 5 }, () => sendTo(realm.container(), bot, 'nowhere')));
    expect(await notices(realm, start, member)).toHaveLength(2);
  });

  it('is not sent for users, for a channel with subscribers, or for other refusals', async () => {
    const realm = await newRealm();
    const { bot, member } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true });
    const empty = await givenChannel(realm);
    const start = await lastNumber(realm);
    await sendTo(realm, member, 'nowhere');
    await sendTo(realm, member, empty.channelId);
    await sendTo(realm, bot, realm.channels.general);
    expect((await sendTo(realm, bot, channelId)).code).toBe('BAD_REQUEST');
    expect((await sendTo(realm, bot, 'x'.repeat(61))).code).toBe('BAD_REQUEST');
    expect(await notices(realm, start, member)).toEqual([]);
  });

  it('is not sent to a deactivated owner', async () => {
    const realm = await newRealm();
    const { bot, member } = realm.people;
    await givenChangedUser(realm, member, { isActive: false });
    const start = await lastNumber(realm);
    expect(await sendTo(realm, bot, 'nowhere')).toMatchObject({ code: 'STREAM_DOES_NOT_EXIST' });
    expect(await notices(realm, start, member)).toEqual([]);
  });

  it('is sent even if direct messages are disabled', async () => {
    const realm = await newRealm({ direct_message_permission_group: systemGroups.nobody.id });
    const { bot, member } = realm.people;
    const start = await lastNumber(realm);
    await sendTo(realm, bot, 'nowhere');
    expect(await notices(realm, start, member)).toHaveLength(1);
  });

  it('does not change the reply if it fails, and the failure is reported', async () => {
    const realm = await newRealm();
    const { bot } = realm.people;
    const { channelId } = await givenChannel(realm);
    let transactions = 0;
    const broken = realm.container((store) => async (command) => {
      const isTransaction = command.constructor.name === 'TransactWriteCommand';
      if (isTransaction && ++transactions === 2) throw new Error('broken');
      return store(command);
    });
    expect(await sendTo(broken, bot, channelId)).toEqual({
      result: 'success',
      msg: '',
      id: expect.any(Number),
    });
    expect(broken.reports).toEqual([
      expect.objectContaining({ level: 'WARN', error: expect.stringContaining('broken') }),
    ]);
  });
});
