import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { handler as worker } from '../../functions/workers/push.ts';
import type { Send } from '../../shared/table/table.ts';
import { sendTo } from '../support/event-queue.ts';
import { fault, lost, type Mishap, mishaps, refusedWith, requestOf, unheard } from '../support/faults.ts';
import {
  activePhone,
  elsewhere,
  form,
  newPhone,
  nudged,
  type Phone,
  type PushRealm,
  pushRealm,
  registered,
  relayAt,
} from '../support/phone.ts';
import { type Answer, type FakeRelay, json, startRelay, taken } from '../support/push-relay.ts';
import type { Person } from '../support/realm.ts';
import { queued, runQueue } from '../support/worker-run.ts';

let relay: FakeRelay;
let realm: PushRealm;
let member: Person;
let admin: Person;
let phone: Phone;
beforeEach(async () => {
  relay = await startRelay();
  realm = await pushRealm(relay);
  ({ member, admin } = realm.people);
  phone = await activePhone(realm, member);
  relay.asked.length = 0;
});
afterEach(() => relay.stop());

const MINUTE = 60_000;

const body = (): string => JSON.stringify({ realm: realm.realm });
const jobs = () => realm.outside.table.all('pushJob', { realm: realm.realm });
/** What the telephone was shown, in order. */
const shown = () =>
  relay
    .sent()
    .flat()
    .map((request) => phone.read(request).content);
/** The reports to the operator. */
const told = (of: PushRealm = realm) =>
  of.reports.map(({ level, job, trouble, tried }) => [level, job, trouble, tried]);

describe('the queue', () => {
  test('a queue message that is delivered three times gives one notification', async () => {
    await sendTo(realm, admin, [member.userId], 'one');
    await Promise.all([
      runQueue(realm, worker, [queued(body()), queued(body())]),
      runQueue(elsewhere(realm), worker, [queued(body())]),
    ]);
    realm.pass(5 * MINUTE);
    await nudged(realm);
    expect([shown(), await jobs()]).toEqual([['one'], []]);
  });

  test('unreadable records of a batch are returned to the queue, and the others are done', async () => {
    await sendTo(realm, admin, [member.userId], 'one');
    const records = [queued('no JSON'), queued(body()), queued('{}'), queued('null')];
    const { batchItemFailures } = await runQueue(realm, worker, records);
    const bad = [records[0], records[2], records[3]].map((record) => record?.messageId);
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(bad);
    expect(shown()).toEqual(['one']);
    expect(realm.reports.every(({ level, worker: of }) => level === 'ERROR' && of === 'push')).toBe(true);
  });
});

describe('the relay', () => {
  test.each<[string, Answer, string]>([
    ['is broken', json(500, {}), 'relayError'],
    ['is busy', json(429, {}), 'relayError'],
  ])('%s, and the notification is sent once, later', async (_, answer, trouble) => {
    await sendTo(realm, admin, [member.userId], 'one');
    relay.behave(answer);
    await nudged(realm);
    expect(told()).toEqual([['ERROR', 'message', trouble, 'again later']]);
    relay.behave();
    relay.asked.length = 0;
    await nudged(realm);
    expect(shown()).toEqual([]);
    realm.pass(MINUTE);
    await nudged(realm);
    expect([shown(), await jobs()]).toEqual([['one'], []]);
  });

  test('is unreachable, and the notification is sent later', async () => {
    const gone = await startRelay();
    gone.stop();
    const down = elsewhere(realm, undefined, {
      environment: { ...realm.outside.environment, ...relayAt(gone.address) },
    });
    await sendTo(realm, admin, [member.userId], 'one');
    await nudged(down);
    expect(told(down)).toEqual([['ERROR', 'message', 'unreachable', 'again later']]);
    realm.pass(MINUTE);
    await nudged(realm);
    expect(shown()).toEqual(['one']);
  });

  test.each<[string, Answer, string]>([
    ['breaks off, so that nobody knows what it did', (response) => void response.destroy(), 'noReply'],
    ['does not know us', json(401, {}), 'misconfigured'],
    ['does not let us in', json(403, {}), 'misconfigured'],
    ['answers with HTML', (response) => void response.writeHead(200).end('<html>'), 'misconfigured'],
  ])('%s, and the notification is not repeated, but the failure is logged', async (_, answer, trouble) => {
    await sendTo(realm, admin, [member.userId], 'one');
    relay.behave(answer);
    await nudged(realm);
    relay.behave();
    realm.pass(5 * MINUTE);
    await nudged(realm);
    expect([shown(), await jobs(), told()]).toEqual([
      ['one'],
      [],
      [['ERROR', 'message', trouble, 'no more']],
    ]);
  });

  test('hangs, and notifications of other messages are sent meanwhile', async () => {
    await sendTo(realm, admin, [member.userId], 'one');
    relay.behave(() => {});
    const hanging = nudged(realm);
    while (relay.asked.length === 0) await realm.outside.wait(10);
    relay.behave();
    await sendTo(realm, admin, [member.userId], 'two');
    await nudged(elsewhere(realm));
    expect(shown()).toEqual(['one', 'two']);
    relay.stop();
    await hanging;
    expect(told()).toEqual([['ERROR', 'message', 'noReply', 'no more']]);
  });

  test('loses a reply to a removal, which is repeated', async () => {
    const id = await sendTo(realm, admin, [member.userId], 'one');
    await nudged(realm);
    await realm.call(updateFlags, member, { messages: [id], op: 'add', flag: 'read' });
    relay.behave((response) => void response.destroy());
    await nudged(realm);
    relay.behave();
    relay.asked.length = 0;
    realm.pass(MINUTE);
    await nudged(realm);
    expect(
      relay
        .sent()
        .flat()
        .map((request) => phone.read(request).message_ids),
    ).toEqual([[id]]);
  });

  test('reports a dead token, which is dropped, and other devices still get notifications', async () => {
    const other = await activePhone(realm, member, 'apns');
    relay.behave(taken({ delete_token_ids: [phone.tokenId] }));
    await sendTo(realm, admin, [member.userId], 'one');
    await nudged(realm);
    relay.behave();
    relay.asked.length = 0;
    await sendTo(realm, admin, [member.userId], 'two');
    await nudged(realm);
    expect(
      relay
        .sent()
        .flat()
        .map((request) => other.read(request).content),
    ).toEqual(['two']);
  });
});

describe('two runs at once', () => {
  test('a run that is stalled before it moves the cursor does not repeat the work of the other run', async () => {
    await sendTo(realm, admin, [member.userId], 'one');
    let isFirst = true;
    const stalled = elsewhere(realm, (send) => async (command) => {
      if (requestOf(command) === 'transact' && isFirst) {
        isFirst = false;
        await runQueue(elsewhere(realm), worker, [queued(body())]);
      }
      return send(command);
    });
    await nudged(stalled);
    expect([shown(), await jobs()]).toEqual([['one'], []]);
  });
});

describe('a user who reads a message during its notification', () => {
  /** Reads it just before the given write of its kind. Updates: the lease, the record. Transactions: cursor, mark, end. */
  const readBefore = (kind: 'transact' | 'update', turn: number, id: number): PushRealm => {
    let seen = 0;
    return elsewhere(realm, (send) => async (command) => {
      if (requestOf(command) === kind && seen++ === turn) {
        await realm.call(updateFlags, member, { messages: [id], op: 'add', flag: 'read' });
        await runQueue(elsewhere(realm), worker, [queued(body())]);
      }
      return send(command);
    });
  };

  test('gets no notification if they read it before the check', async () => {
    const id = await sendTo(realm, admin, [member.userId], 'one');
    await nudged(readBefore('update', 1, id));
    await nudged(realm);
    expect(relay.sent()).toEqual([]);
  });

  test('gets the notification and then its removal if they read it after the check', async () => {
    const id = await sendTo(realm, admin, [member.userId], 'one');
    const late = readBefore('transact', 1, id);
    await nudged(late);
    realm.pass(3_000);
    await nudged(realm);
    const types = relay
      .sent()
      .flat()
      .map((request) => phone.read(request).type);
    expect(types).toEqual(['message', 'remove']);
  });
});

describe('a run that dies', () => {
  /** Dies at the given write of its kind and at everything after it. */
  const dyingAt =
    (kind: 'transact' | 'update', turn: number) =>
    (send: Send): Send => {
      let seen = 0;
      let dead = false;
      return async (command) => {
        if (requestOf(command) === kind && seen++ === turn) dead = true;
        if (dead) throw new Error('dead');
        return send(command);
      };
    };

  test('before it moves the cursor leaves all work to the next run', async () => {
    await sendTo(realm, admin, [member.userId], 'one');
    await nudged(elsewhere(realm, dyingAt('transact', 0)));
    expect(shown()).toEqual([]);
    await nudged(realm);
    expect(shown()).toEqual(['one']);
  });

  test('before its request leaves the job to the next run, after the lease', async () => {
    await sendTo(realm, admin, [member.userId], 'one');
    // Transactions: the cursor, the mark that the job is being sent.
    await nudged(elsewhere(realm, dyingAt('transact', 1)));
    await nudged(realm);
    expect(shown()).toEqual([]);
    realm.pass(2 * MINUTE);
    await nudged(realm);
    expect([shown(), await jobs()]).toEqual([['one'], []]);
  });

  test('after its request does not repeat the notification, and the failure is logged', async () => {
    await sendTo(realm, admin, [member.userId], 'one');
    // Transactions: the cursor, the mark, the end of the job.
    await nudged(elsewhere(realm, dyingAt('transact', 2)));
    realm.pass(2 * MINUTE);
    await nudged(realm);
    expect([shown(), await jobs(), told()]).toEqual([
      ['one'],
      [],
      [['ERROR', 'message', 'noReply', 'no more']],
    ]);
  });

  test('after the relay accepted a token lets the next run register the token again', async () => {
    const other = await newPhone(realm, member);
    await registered(realm, member, form(other));
    await nudged(elsewhere(realm, dyingAt('transact', 0)));
    realm.pass(2 * MINUTE);
    await nudged(realm);
    await sendTo(realm, admin, [member.userId], 'one');
    relay.asked.length = 0;
    await nudged(realm);
    expect(relay.sent().flat()).toHaveLength(2);
  });
});

describe('throttling and lost replies of DynamoDB, at each call in turn', () => {
  const throttled = refusedWith(() => fault('ProvisionedThroughputExceededException'));

  test.each<[string, Mishap]>([
    ['throttled', throttled],
    ['lost', lost],
    ['unheard', unheard],
  ])('%s: each message gets exactly one notification', async (_, mishap) => {
    const kinds = ['get', 'query', 'update', 'transact', 'put'] as const;
    const most = { get: 7, query: 7, update: 4, transact: 5, put: 0 };
    const expected: string[] = [];
    for (const kind of kinds) {
      for (let turn = 0; turn < most[kind]; turn++) {
        const content = `${kind} ${turn}`;
        expected.push(content);
        await sendTo(realm, admin, [member.userId], content);
        const plan = { [kind]: [...Array(turn).fill(undefined), mishap] };
        await nudged(elsewhere(realm, mishaps(plan)));
        await nudged(realm);
        realm.pass(2 * MINUTE);
        await nudged(realm);
      }
    }
    expect(shown()).toEqual(expected);
    expect(await jobs()).toEqual([]);
  });
});
