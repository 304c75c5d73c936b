import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { sentKey } from '../../shared/domain/send/send.ts';
import {
  givenChannel,
  givenRealmSettings,
  givenSettings,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter, storedMessage } from '../support/stored.ts';

const message = { type: 'channel', to: 'general', topic: 'hi', content: 'hello' };
const named = { ...message, queue_id: 'fb67bf8a:1', local_id: '103.01' };

/** How many messages and other events the log got after this number. */
async function logged(realm: TestRealm, cursor: number): Promise<{ messages: number; events: number }> {
  const entries = await loggedAfter(realm, cursor);
  const messages = entries.filter(({ kind }) => kind === 'message').length;
  return { messages, events: entries.length - messages };
}

describe('specification 4.1: queue_id and local_id', () => {
  it.each([{ queue_id: 'q' }, { local_id: '1' }])(
    '%j alone is refused (4.1/queue_id, 4.1/local_id)',
    async (one) => {
      const { call, people } = await newRealm();
      const { status, body } = await call(send, people.member, { ...message, ...one });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.msg).toMatch(/queue_id.*local_id/);
    },
  );

  it('rule 1: the local id is stored with the message, unchanged', async () => {
    const realm = await newRealm();
    const localId = ' 1"\\é𝒳\u2028 ';
    const { body } = await realm.call(send, realm.people.member, { ...named, local_id: localId });
    expect((await storedMessage(realm, body.id)).echo).toEqual({ queueId: named.queue_id, localId });
  });

  it('both have at most 200 characters', async () => {
    const { call, people } = await newRealm();
    for (const name of ['queue_id', 'local_id']) {
      const longest = await call(send, people.member, { ...named, [name]: 'x'.repeat(200) });
      expect(longest.status).toBe(200);
      const { status, body } = await call(send, people.member, { ...named, [name]: 'x'.repeat(201) });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });
});

describe('DESIGN 5: a send is done once', () => {
  it('a retry gets the same reply, with the policy, and creates nothing', async () => {
    const realm = await newRealm();
    const start = await lastNumber(realm);
    const first = await realm.call(send, realm.people.member, named);
    expect(first.body).toMatchObject({ result: 'success', automatic_new_visibility_policy: 3 });
    for (const container of [realm, realm.container(), realm.container()]) {
      expect((await container.call(send, realm.people.member, named)).body).toEqual(first.body);
    }
    expect(await logged(realm, start)).toEqual({ messages: 1, events: 1 });
  });

  it('a retry of a direct message gets the same reply', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const direct = { ...named, type: 'direct', to: [guest.userId] };
    const start = await lastNumber(realm);
    const first = await realm.call(send, member, direct);
    expect((await realm.container().call(send, member, direct)).body).toEqual(first.body);
    // What means the same is the same message.
    const other = { ...direct, type: 'private', topic: 'ignored' };
    expect((await realm.call(send, member, other)).body).toEqual(first.body);
    expect(await logged(realm, start)).toEqual({ messages: 1, events: 0 });
  });

  it('a retry gets its reply even if the message could not be sent any more', async () => {
    const realm = await newRealm();
    const first = await realm.call(send, realm.people.member, { ...named, topic: '' });
    await givenRealmSettings(realm, { topics_policy: 'disable_empty_topic' });
    expect((await realm.call(send, realm.people.member, { ...named, topic: '' })).body).toEqual(first.body);
  });

  it.each([
    { content: 'other' },
    { topic: 'other' },
    { to: 'random' },
    { type: 'direct', to: 'guest@example.com' },
  ])('the same queue and local id with %j are refused, and nothing is sent', async (change) => {
    const realm = await newRealm();
    await realm.call(send, realm.people.member, named);
    const start = await lastNumber(realm);
    const { status, body } = await realm.call(send, realm.people.member, { ...named, ...change });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.msg).toMatch(/local_id/);
    expect(await logged(realm, start)).toEqual({ messages: 0, events: 0 });
  });

  it('another local id, another queue or another sender makes another message', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids = new Set<number>();
    for (const [as, names] of [
      [member, {}],
      [member, { local_id: '103.02' }],
      [member, { queue_id: 'fb67bf8a:2' }],
      // The two texts run together would be the same.
      [member, { queue_id: 'fb67bf8a:11', local_id: '03.01' }],
      [admin, {}],
    ] as const) {
      const { body } = await realm.call(send, as, { ...named, ...names });
      ids.add(body.id);
    }
    expect(ids.size).toBe(5);
  });

  it('without these ids, the same text is a new message each time', async () => {
    const realm = await newRealm();
    const first = await realm.call(send, realm.people.member, message);
    const second = await realm.call(send, realm.people.member, message);
    expect(second.body.id).toBeGreaterThan(first.body.id);
  });

  it('ten concurrent copies of a send, from different containers, make one message', async () => {
    const realm = await newRealm();
    // Nothing else of the message is new, so that only its name can hold the others off.
    await realm.call(send, realm.people.member, message);
    const start = await lastNumber(realm);
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => realm.container().call(send, realm.people.member, named)),
    );
    expect(replies[0]?.body).toMatchObject({ result: 'success' });
    for (const { body } of replies) expect(body).toEqual(replies[0]?.body);
    expect(await logged(realm, start)).toEqual({ messages: 1, events: 0 });
  });

  it('so do ten copies of the first message of a topic, with the policy in every reply', async () => {
    const realm = await newRealm();
    const start = await lastNumber(realm);
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => realm.container().call(send, realm.people.member, named)),
    );
    expect(replies[0]?.body).toMatchObject({ result: 'success', automatic_new_visibility_policy: 3 });
    for (const { body } of replies) expect(body).toEqual(replies[0]?.body);
    expect(await logged(realm, start)).toEqual({ messages: 1, events: 1 });
  });

  it('of different concurrent sends with the same ids one is sent, and the others are refused', async () => {
    const realm = await newRealm();
    const start = await lastNumber(realm);
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        realm.container().call(send, realm.people.member, { ...named, content: `text ${i}` }),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ body }) => /local_id/.test(body.msg))).toHaveLength(5);
    expect(await logged(realm, start)).toMatchObject({ messages: 1 });
  });

  it('a send is remembered for at least 24 hours', async () => {
    const realm = await newRealm();
    const first = await realm.call(send, realm.people.member, named);
    const echo = { queueId: named.queue_id, localId: named.local_id };
    const sent = await realm.outside.table.get(sentKey(realm.realm, realm.people.member.userId, echo));
    expect((sent?.expires ?? 0) - Date.now() / 1000).toBeGreaterThan(24 * 3600);
    realm.pass(24 * 3600_000);
    expect((await realm.call(send, realm.people.member, named)).body).toEqual(first.body);
  });
});

describe('wire facts 3.9: read_by_sender', () => {
  const readBySender = async (given: Record<string, unknown>, agent?: string): Promise<boolean> => {
    const realm = await newRealm();
    const headers = agent === undefined ? {} : { 'user-agent': agent };
    const { body } = await realm.call(send, realm.people.member, { ...message, ...given }, { headers });
    return (await storedMessage(realm, body.id)).readBySender;
  };

  it.each([
    'ZulipAndroid',
    'ZulipiOS',
    'ZulipDesktop',
    'ZulipMobile',
    'ZulipElectron',
    'ZulipTerminal',
    'Snipe',
    'website',
    'iOS',
    'Android',
  ])('a message from a client called %s is read by its sender (4.1/read_by_sender-absent)', async (name) => {
    expect(await readBySender({}, `${name}/1.2 (somewhere)`)).toBe(true);
    expect(await readBySender({ client: name }, 'curl/8')).toBe(true);
  });

  it.each(['ZulipPython/0.9', 'curl/8', 'Mozilla/5.0 (website)', 'ZulipMobileX/1', ''])(
    'a message from a client called %j is not (4.1/read_by_sender-absent)',
    async (agent) => {
      expect(await readBySender({}, agent)).toBe(false);
    },
  );

  it('the parameter overrides the name of the client (4.1/read_by_sender)', async () => {
    expect(await readBySender({ read_by_sender: true }, 'curl/8')).toBe(true);
    expect(await readBySender({ read_by_sender: false }, 'ZulipMobile/1')).toBe(false);
  });

  it.each(['yes', '1', '"true"', 'null'])('wire facts 1.2: %s is not a boolean', async (read_by_sender) => {
    const { call, people } = await newRealm();
    const { status, body } = await call(send, people.member, { ...message, read_by_sender });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});

describe('wire facts 3.11: the reply', () => {
  it('has nothing but the id, and the policy only when it was changed (4.1/id, 4.1/automatic_new_visibility_policy)', async () => {
    const realm = await newRealm();
    const who = await givenUser(realm);
    await givenSettings(realm, who, { automatically_follow_topics_policy: 4 });
    const { channelId } = await givenChannel(realm);
    await givenSubscription(realm, who, channelId);
    const { body } = await realm.call(send, who, { ...message, to: channelId });
    expect(body).toEqual({ result: 'success', msg: '', id: expect.any(Number) });
  });

  it('specification 2.1: names the parameters that it did not use (2.1/ignored_parameters_unsupported)', async () => {
    const realm = await newRealm();
    const { body } = await realm.call(send, realm.people.member, { ...message, time: '1', stream: 'x' });
    expect(body.ignored_parameters_unsupported).toEqual(['stream', 'time']);
  });
});
