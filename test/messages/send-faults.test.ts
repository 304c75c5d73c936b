import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import {
  firstOf,
  lastNumber,
  loggedAfter,
  storedConversation,
  storedCount,
  storedTopic,
} from '../support/stored.ts';

const named = (name: string, more = {}) => Object.assign(new Error(name), { name, ...more });

/**
 * What can happen to one call: it never arrives, its reply never comes, it collides with another transaction, the
 * function dies after it, or before.
 */
const faults: Readonly<Record<string, (store: Send, command: object) => Promise<unknown>>> = {
  throttled: async () => {
    throw named('ThrottlingException');
  },
  lost: async (store, command) => {
    await store(command);
    throw named('TimeoutError');
  },
  conflict: async (_, command) => {
    throw command.constructor.name === 'TransactWriteCommand'
      ? named('TransactionCanceledException', { CancellationReasons: [{ Code: 'TransactionConflict' }] })
      : named('TransactionConflictException');
  },
  died: async (store, command) => {
    await store(command);
    throw named('AccessDeniedException');
  },
  broken: async () => {
    throw named('AccessDeniedException');
  },
};

/** A container whose nth call meets a fault; `calls` are the actions that were called. */
function faulty(realm: TestRealm, nth: number, fault: string): { container: TestRealm; calls: string[] } {
  const calls: string[] = [];
  const container = realm.container((store) => async (command) => {
    calls.push(command.constructor.name.replace('Command', ''));
    return calls.length === nth ? faults[fault]?.(store, command) : store(command);
  });
  return { container, calls };
}

const message = { topic: 'hi', content: 'hello @**Adam Admin**', queue_id: 'q', local_id: '1' };

describe('DESIGN 5: a send under faults of the store', () => {
  it.each(Object.keys(faults))(
    'stores at most one message and leaves valid data after "%s" at each call in turn',
    async (fault) => {
      for (let nth = 1; ; nth++) {
        const realm = await newRealm();
        const { member } = realm.people;
        const { channelId } = await givenChannel(realm);
        const start = await lastNumber(realm);
        const { container, calls } = faulty(realm, nth, fault);
        const wanted = { ...message, type: 'channel', to: channelId };
        const first = await container.call(send, member, wanted);
        expect([200, 429, 500], `call ${nth}`).toContain(first.status);
        const retried = await realm.container().call(send, member, wanted);
        if (first.status === 200) expect(retried.body).toEqual(first.body);
        const { id, automatic_new_visibility_policy } = retried.body;
        expect(automatic_new_visibility_policy).toBe(3);
        const where = `${fault} at call ${nth}, a ${calls[nth - 1]}`;
        const logged = await loggedAfter(realm, start);
        expect(
          logged.filter(({ kind }) => kind === 'message').map(({ seq }) => seq),
          where,
        ).toEqual([id]);
        expect(await storedTopic(realm, channelId, 'hi'), where).toMatchObject({
          maxId: id,
          participants: 1,
        });
        expect(await storedCount(realm, channelId), where).toMatchObject({ namedTopics: 1 });
        expect(await firstOf(realm, channelId), where).toBe(id);
        if (calls.length < nth) return;
      }
    },
  );

  it.each(['throttled', 'lost', 'conflict'])('succeeds in spite of "%s" at the commit', async (fault) => {
    const realm = await newRealm();
    const nth = await transactionOf(realm);
    const { container, calls } = faulty(realm, nth, fault);
    const wanted = { ...message, type: 'channel', to: 'random' };
    const { status } = await container.call(send, realm.people.member, wanted);
    expect(calls[nth - 1]).toBe('TransactWrite');
    expect(status).toBe(200);
  });

  it('does the same for a direct message', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const start = await lastNumber(realm);
    const ids: number[] = [];
    let nth = 0;
    for (const fault of ['throttled', 'lost', 'conflict', 'lost', 'throttled', 'lost']) {
      const { container } = faulty(realm, ++nth, fault);
      const wanted = { ...message, type: 'direct', to: [guest.userId], local_id: `${nth}` };
      await container.call(send, member, wanted);
      ids.push((await realm.container().call(send, member, wanted)).body.id);
    }
    const logged = await loggedAfter(realm, start);
    expect(logged.map(({ seq }) => seq)).toEqual(ids);
    expect(await storedConversation(realm, [member, guest])).toMatchObject({
      maxId: ids.at(-1),
      recipientId: ids[0],
    });
  });

  it('stores each message once, for many senders who all retry until they get an answer', async () => {
    const realm = await newRealm();
    const { people } = realm;
    const { channelId } = await givenChannel(realm, {}, [people.member]);
    const start = await lastNumber(realm);
    const kinds = ['throttled', 'lost', 'conflict'];
    // A fixed sequence, so that a failure can be seen again.
    let seed = 1;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const unlucky = () =>
      realm.container((store) => async (command) => {
        const fault = random() < 0.15 ? faults[kinds[Math.floor(random() * 3)] ?? ''] : undefined;
        return fault ? fault(store, command) : store(command);
      });
    const senders = [people.owner, people.admin, people.moderator, people.member, people.bot];
    const sent = await Promise.all(
      senders.flatMap((as) =>
        ['a', 'b', 'c', 'd'].map(async (topic, i): Promise<{ topic: string; id: number }> => {
          const wanted = { ...message, type: 'channel', to: channelId, topic, local_id: `${i}` };
          for (let attempt = 1; attempt <= 50; attempt++) {
            const { status, body } = await unlucky().call(send, as, wanted);
            if (status === 200) return { topic, id: body.id };
            expect([429, 500]).toContain(status);
          }
          throw new Error('no answer in fifty tries');
        }),
      ),
    );
    const logged = (await loggedAfter(realm, start)).filter(({ kind }) => kind === 'message');
    expect(logged.map(({ seq }) => seq)).toEqual(sent.map(({ id }) => id).toSorted((a, b) => a - b));
    for (const topic of ['a', 'b', 'c', 'd']) {
      const ids = sent.filter((one) => one.topic === topic).map(({ id }) => id);
      expect(await storedTopic(realm, channelId, topic)).toMatchObject({
        maxId: Math.max(...ids),
        participants: senders.length,
      });
    }
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 4 });
    expect(await firstOf(realm, channelId)).toBe(Math.min(...sent.map(({ id }) => id)));
  });
});

/** Which call of a send is its transaction. */
async function transactionOf(realm: TestRealm): Promise<number> {
  const { container, calls } = faulty(realm, 0, 'throttled');
  await container.call(send, realm.people.member, {
    ...message,
    type: 'channel',
    to: 'general',
    local_id: 'x',
  });
  return calls.indexOf('TransactWrite') + 1;
}
