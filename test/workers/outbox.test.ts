import { describe, expect, it } from 'vitest';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as add } from '../../functions/subscriptions/add.ts';
import { handler as remove } from '../../functions/subscriptions/remove.ts';
import { handler as sweep } from '../../functions/workers/outbox-sweep.ts';
import type { ReadMessage } from '../../shared/log/slot.ts';
import { key } from '../../shared/table/keys.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { mishaps, refusedWith, unheard } from '../support/faults.ts';
import {
  givenBot,
  givenChangedChannel,
  givenChangedUser,
  givenChannel,
  givenRealmSettings,
  givenUser,
} from '../support/given.ts';
import { entriesIn } from '../support/log-entries.ts';
import { deliver, leftIn, messagesOf, workedOff } from '../support/outbox.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { type Work, workOf } from '../support/work-queue.ts';
import { runSchedule } from '../support/worker-run.ts';

const crowd = (realm: TestRealm, size: number): Promise<Person[]> =>
  Promise.all(Array.from({ length: size }, () => givenUser(realm)));

const subscribe = (
  realm: TestRealm,
  names: readonly string[],
  people: readonly Person[],
  more: object = {},
) =>
  realm.call(add, realm.people.admin, {
    subscriptions: names.map((name) => ({ name })),
    principals: people.map(({ userId }) => userId),
    ...more,
  });

/** To whom, or to which channel, the service said something, and what, in the order of the log. */
async function told({ log }: TestRealm): Promise<{ to: number | undefined; content: string }[]> {
  const messages = (await entriesIn(log)).filter((entry): entry is ReadMessage => entry.kind === 'message');
  return messages
    .filter(({ client }) => client === 'Internal')
    .map(({ people, senderId, channelId, content }) => ({
      to: channelId ?? people?.find((id) => id !== senderId),
      content,
    }));
}

const recipients = async (realm: TestRealm): Promise<(number | undefined)[]> =>
  (await told(realm)).map(({ to }) => to).sort();

const ids = (people: readonly Person[]): number[] => people.map(({ userId }) => userId).sort();

const broken = refusedWith(() => new Error('the worker ended'));

describe('messages of the outbox worker about subscriptions', () => {
  it('are sent once, however often the queue message is delivered, in sequence or at once', async () => {
    const realm = await newRealm();
    const people = await crowd(realm, 45);
    await givenChannel(realm, { name: 'tea' });
    await subscribe(realm, ['tea'], people);
    const messages = messagesOf(await leftIn(realm));
    expect(messages).toHaveLength(1);
    const runs = await Promise.all([1, 2, 3].map(() => deliver(realm.container(), messages)));
    for (const { batchItemFailures } of runs) expect(batchItemFailures).toEqual([]);
    expect(await deliver(realm, messages)).toEqual({ batchItemFailures: [] });
    expect(await recipients(realm)).toEqual(ids(people));
    expect(await leftIn(realm)).toEqual([]);
  });

  it('are all sent once by the next run, if one ended halfway or its reply was lost', async () => {
    const realm = await newRealm();
    const people = await crowd(realm, 45);
    await givenChannel(realm, { name: 'tea' });
    await subscribe(realm, ['tea'], people);
    const messages = messagesOf(await leftIn(realm));
    const dying = realm.container(mishaps({ transact: [unheard, broken, broken, broken, broken] }));
    expect((await deliver(dying, messages)).batchItemFailures).toHaveLength(1);
    expect(dying.counts).toMatchObject([{ metric: 'WorkFailures', kind: 'outbox' }]);
    const some = await recipients(realm);
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(45);
    expect(await deliver(realm, messages)).toEqual({ batchItemFailures: [] });
    expect(await recipients(realm)).toEqual(ids(people));
    // It ended after the last message was sent, before the job was removed.
    await subscribe(realm, ['cake'], [realm.people.member]);
    await givenChannel(realm, { name: 'pie' });
    await subscribe(realm, ['pie'], [realm.people.member]);
    const last = messagesOf(await leftIn(realm));
    const late = realm.container(mishaps({ transact: [undefined, broken] }));
    expect((await deliver(late, last)).batchItemFailures).toHaveLength(1);
    expect(await deliver(realm, last)).toEqual({ batchItemFailures: [] });
    expect(await recipients(realm)).toEqual(ids([...people, realm.people.member]));
    expect(await leftIn(realm)).toEqual([]);
  });

  it('name all channels of a user, even if the subscription took several transactions', async () => {
    const realm = await newRealm();
    const people = await crowd(realm, 40);
    for (const name of ['tea', 'cake', 'pie']) await givenChannel(realm, { name });
    await subscribe(realm, ['tea', 'cake', 'pie'], people);
    expect((await leftIn(realm)).length).toBeGreaterThan(3);
    await workedOff(realm);
    const notices = await told(realm);
    expect(notices.map(({ to }) => to).sort()).toEqual(ids(people));
    for (const { content } of notices) {
      for (const name of ['tea', 'cake', 'pie']) expect(content).toContain(`#**${name}**`);
    }
  });

  it('cover the part that an interrupted request did, and the rest after its retry', async () => {
    const realm = await newRealm();
    const people = await crowd(realm, 60);
    await givenChannel(realm, { name: 'tea' });
    const failing = realm.container(mishaps({ transact: [undefined, broken] }));
    expect((await subscribe(failing, ['tea'], people)).status).toBe(500);
    expect(await leftIn(realm)).toHaveLength(1);
    expect((await subscribe(realm, ['tea'], people)).status).toBe(200);
    await workedOff(realm);
    expect(await recipients(realm)).toEqual(ids(people));
    // Another retry has nothing to tell.
    await subscribe(realm, ['tea'], people);
    expect(await leftIn(realm)).toEqual([]);
  });

  it('are not sent to a user who has left the channel or the organization by then', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const people = await crowd(realm, 5);
    const [gone, deactivated, stays, both, nowhere] = people as [Person, Person, Person, Person, Person];
    const bot = await givenBot(realm, owner);
    for (const name of ['tea', 'closed']) await givenChannel(realm, { name, isPrivate: true }, [admin]);
    const { channelId } = await givenChannel(realm, { name: 'archived' }, [admin]);
    await subscribe(realm, ['tea'], [gone, deactivated, stays, bot]);
    await subscribe(realm, ['closed', 'archived', 'tea'], [both]);
    await subscribe(realm, ['archived'], [nowhere]);
    const subscriptions = ['closed'];
    await realm.call(remove, admin, { subscriptions, principals: [both.userId] });
    await realm.call(remove, admin, { subscriptions: ['tea'], principals: [gone.userId] });
    await realm.call(archive, admin, {}, { path: { stream_id: channelId } });
    await givenChangedUser(realm, deactivated, { isActive: false });
    const who = `@_**Adam Admin|${admin.userId}**`;
    await workedOff(realm);
    const direct = (await told(realm)).filter(({ to }) => to !== channelId);
    expect(new Map(direct.map(({ to, content }) => [to, content]))).toEqual(
      new Map([stays, both].map(({ userId }) => [userId, `${who} subscribed you to #**tea**.`])),
    );
    expect(direct).toHaveLength(2);
  });

  it('are sent in an organization that was deactivated meanwhile, which may be reactivated', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenChannel(realm, { name: 'tea' });
    await subscribe(realm, ['tea'], [member]);
    await realm.outside.table.update(key('realm', { realm: realm.realm }), { set: { deactivated: true } });
    await workedOff(realm);
    expect(await recipients(realm)).toEqual([member.userId]);
  });

  it('are dropped with an organization that no longer exists', async () => {
    const realm = await newRealm();
    await givenChannel(realm, { name: 'tea' });
    await subscribe(realm, ['tea'], [realm.people.member]);
    const gone = { delete: key('realm', { realm: realm.realm }) };
    await realm.outside.table.transact([gone], realm.outside.uuid());
    await workedOff(realm);
    expect(await told(realm)).toEqual([]);
  });
});

describe('the announcement of new channels by the worker of the outbox', () => {
  it('is sent once, is read for the creator, and unread for others', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin, member]);
    await givenRealmSettings(realm, { new_stream_announcements_stream_id: channelId });
    const types = { event_types: ['message', 'update_message_flags'] };
    const [hers, his] = [await givenClient(realm, admin, types), await givenClient(realm, member, types)];
    await subscribe(realm, ['tea', 'secret'], [admin], { announce: true });
    const messages = messagesOf(await leftIn(realm));
    await Promise.all([1, 2, 3].map(() => deliver(realm.container(), messages)));
    await deliver(realm, messages);
    expect(await told(realm)).toHaveLength(1);
    const [message, flags, ...others] = await hers.poll();
    expect(flags).toMatchObject({
      type: 'update_message_flags',
      op: 'add',
      flag: 'read',
      messages: [message.message.id],
    });
    expect(others).toEqual([]);
    expect((await his.poll()).map(({ type }) => type)).toEqual(['message']);
    const unread = async (person: Person): Promise<unknown[]> => {
      const { state } = await givenClient(realm, person, {
        fetch_event_types: ['update_message_flags', 'message'],
      });
      return state.unread_msgs.streams.filter((each: { stream_id: number }) => each.stream_id === channelId);
    };
    expect(await unread(admin)).toEqual([]);
    expect(await unread(member)).toMatchObject([{ unread_message_ids: [message.message.id] }]);
    // So is the next one, in a topic with messages of others in between.
    await sendTo(realm, member, channelId, 'x', { topic: 'new channels' });
    await subscribe(realm, ['pie'], [admin], { announce: true });
    await workedOff(realm);
    expect(await unread(admin)).toMatchObject([{ unread_message_ids: [expect.any(Number)] }]);
  });

  it('does not name channels that became private or were archived meanwhile', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    await givenRealmSettings(realm, { new_stream_announcements_stream_id: channelId });
    const { body } = await subscribe(realm, ['tea', 'cake', 'pie'], [admin], { announce: true });
    expect(body.subscribed[admin.userId]).toHaveLength(3);
    const [left] = (await leftIn(realm)) as unknown as [{ created: [number, number, number] }];
    await givenChangedChannel(realm, left.created[0], { isPrivate: true });
    await givenChangedChannel(realm, left.created[1], { isArchived: true });
    await workedOff(realm);
    expect(await told(realm)).toEqual([
      { to: channelId, content: `@_**Adam Admin|${admin.userId}** created the channel #**pie**.` },
    ]);
  });
});

describe('a job whose queue message was lost', () => {
  /** The queue messages of this realm's jobs; a sweep sees those of all organizations. */
  const swept = async (realm: TestRealm, work: Work): Promise<string[]> => {
    const bodies: string[] = [];
    for (let some = await work.receive(); some.length > 0; some = await work.receive()) {
      for (const message of some) {
        bodies.push(message.Body ?? '');
        await work.done(message);
      }
    }
    return bodies.filter((body) => JSON.parse(body).realm === realm.realm);
  };

  it('makes no request fail, is reported to the operator, and is found by the sweep', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenChannel(realm, { name: 'tea' });
    // There is no queue yet, so SQS refuses the message; so it is where the function dies after its commit.
    const { status, body } = await subscribe(realm, ['tea'], [member]);
    expect([status, body.new_subscription_messages_sent]).toEqual([200, true]);
    expect(realm.reports).toMatchObject([{ level: 'WARN', worker: 'outbox', realm: realm.realm }]);
    expect(realm.counts).toMatchObject([
      { metric: 'WorkFailures', kind: 'outbox', message: 'outbox worker not woken' },
    ]);
    const work = await workOf(realm, 'outbox');
    const messages = messagesOf(await leftIn(realm));
    // A request may still be at it.
    await runSchedule(realm, sweep);
    expect(await swept(realm, work)).toEqual([]);
    realm.pass(3 * 60_000);
    await runSchedule(realm, sweep);
    const found = await swept(realm, work);
    expect(found).toEqual(messages);
    expect(await deliver(realm, found)).toEqual({ batchItemFailures: [] });
    expect(await recipients(realm)).toEqual([member.userId]);
    await runSchedule(realm, sweep);
    expect(await swept(realm, work)).toEqual([]);
  });

  it('stays for the operator after it has failed for a day, and costs a sweep two queries', async () => {
    const realm = await newRealm();
    await givenChannel(realm, { name: 'tea' });
    const work = await workOf(realm, 'outbox');
    await subscribe(realm, ['tea'], [realm.people.member]);
    const [first] = await swept(realm, work);
    realm.pass(25 * 3_600_000);
    const container = realm.container();
    await runSchedule(container, sweep);
    expect(container.meter.calls.map(({ action }) => action)).toEqual(['Query', 'Query']);
    expect(await swept(realm, work)).toEqual([]);
    expect(await deliver(realm, [first as string])).toEqual({ batchItemFailures: [] });
    expect(await recipients(realm)).toEqual([realm.people.member.userId]);
  });

  it('contains no texts of users', async () => {
    const realm = await newRealm();
    await givenChannel(realm, { name: 'tea' });
    await subscribe(realm, ['tea'], [realm.people.member]);
    const stored = await realm.outside.table.all('outbox', {}, { prefix: `${realm.realm}/` });
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain('tea');
  });
});

it('a queue message without a job is no error, but an unreadable one is', async () => {
  const realm = await newRealm();
  const of = (body: object): string => JSON.stringify(body);
  const nothing = of({ realm: realm.realm, kind: 'subscribed', job: 'gone' });
  expect(await deliver(realm, [nothing])).toEqual({ batchItemFailures: [] });
  expect((await deliver(realm, [of({ realm: realm.realm })])).batchItemFailures).toHaveLength(1);
});
