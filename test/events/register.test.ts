import { randomUUID } from 'node:crypto';
import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { eventIdOf } from '../../shared/domain/event/queue.ts';
import { SETTLE } from '../../shared/log/log.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { EMPTY_TOPIC_NAME, FEATURE_LEVEL } from '../../shared/model/realm/realm.ts';
import { key } from '../../shared/table/keys.ts';
import { givenClient, said, sendTo } from '../support/event-queue.ts';
import { givenBot, givenChannel, givenGroup, givenSubscription, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const hour = 3600;

describe('POST /register', () => {
  it('creates a queue and returns the id from which its events begin', async () => {
    const realm = await newRealm();
    const before = await sendTo(realm, realm.people.admin, realm.channels.general, 'before');
    const { status, body } = await realm.call(register, realm.people.member, { event_types: ['message'] });
    expect(status).toBe(200);
    expect(body).toEqual({
      result: 'success',
      msg: '',
      queue_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      last_event_id: eventIdOf(before),
      max_message_id: before,
      zulip_version: expect.any(String),
      zulip_merge_base: expect.any(String),
      zulip_feature_level: FEATURE_LEVEL,
      idle_queue_timeout_secs: 600,
      event_queue_longpoll_timeout_seconds: 90,
    });
  });

  it('returns the state of the event types, unless other types are named for it', async () => {
    const realm = await newRealm();
    const both = { event_types: ['message'], fetch_event_types: ['realm_emoji', 'muted_users'] };
    const { body } = await realm.call(register, realm.people.member, both);
    expect(body).toMatchObject({ realm_emoji: {}, muted_users: [] });
    expect(body).not.toHaveProperty('realm_users');
  });

  it.each<[string, unknown]>([
    ['null, as the JavaScript client sends it', null],
    ['types that nobody knows', ['chess', 'message']],
    ['none at all', []],
  ])('accepts event types: %s', async (_, types) => {
    const realm = await newRealm();
    const parameters = { event_types: types, fetch_event_types: [] };
    const { body } = await realm.call(register, realm.people.member, parameters);
    expect(body.result).toBe('success');
    expect(body).not.toHaveProperty('realm_users');
  });

  it.each<[string, Record<string, unknown>, number]>([
    ['by default ten minutes', {}, 600],
    ['as asked', { idle_queue_timeout: 42 }, 42],
    ['half a day for mobile clients', { idle_queue_timeout: 'mobile' }, 12 * hour],
    ['a week at most', { idle_queue_timeout: 10_000_000 }, 7 * 24 * hour],
    ['by the older name', { queue_lifespan_secs: 77 }, 77],
    ['by the newer name if both are there', { queue_lifespan_secs: 77, idle_queue_timeout: 42 }, 42],
    ['by default also where the older name says nothing', { queue_lifespan_secs: 0 }, 600],
  ])('sets the idle time of a queue: %s', async (_, parameters, seconds) => {
    const realm = await newRealm();
    const { state } = await givenClient(realm, realm.people.member, parameters);
    expect(state.idle_queue_timeout_secs).toBe(seconds);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a narrow that events cannot have', { narrow: [['search', 'x']] }],
    ['a state that does not exist', { narrow: [['is', 'purple']] }],
    ['a state that is not known of a new message', { narrow: [['is', 'followed']] }],
    ['a negated narrow', { narrow: [{ operator: 'channel', operand: 'general', negated: true }] }],
    ['a direct conversation', { narrow: [['dm', [1]]] }],
    ['what a message has', { narrow: [['has', 'link']] }],
    ['a narrow of half a pair', { narrow: [['stream']] }],
    [
      'a narrow with more IDs than a queue can hold',
      { narrow: [['dm', Array.from({ length: 5_000 }, (_, i) => i)]] },
    ],
    ['a narrow with more text than a queue can hold', { narrow: [['topic', 'x'.repeat(500_000)]] }],
    ['more types of events than there are', { event_types: Array.from({ length: 101 }, (_, i) => `${i}`) }],
    ['a narrow that is no list', { narrow: { operator: 'stream', operand: 'x' } }],
    ['a list where one name is wanted', { narrow: [['stream', [1]]] }],
    ['event types that are no list', { event_types: 'message' }],
    ['event types that are no texts', { event_types: [1] }],
    ['a word for a boolean', { apply_markdown: '"true"' }],
    ['capabilities that are no object', { client_capabilities: [] }],
    ['a capability that is no boolean', { client_capabilities: { empty_topic_name: 1 } }],
    ['no time at all', { idle_queue_timeout: 0 }],
    ['less than no time', { idle_queue_timeout: -5 }],
    ['a time that is none', { idle_queue_timeout: 'forever' }],
    ['a lifespan below zero', { queue_lifespan_secs: -1 }],
    ['subscribers that are neither yes nor no', { include_subscribers: 'some' }],
  ])('refuses %s', async (_, parameters) => {
    const realm = await newRealm();
    const reply = await realm.call(register, realm.people.member, parameters);
    expect(reply).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
  });

  it('refuses guests who ask for all public channels', async () => {
    const realm = await newRealm();
    const reply = await realm.call(register, realm.people.guest, { all_public_streams: true });
    expect(reply).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
  });

  it('ignores unknown capabilities', async () => {
    const realm = await newRealm();
    const capabilities = { client_capabilities: { telepathy: 'yes', empty_topic_name: true } };
    const client = await givenClient(realm, realm.people.member, capabilities);
    await sendTo(realm, realm.people.admin, realm.channels.general, 'x', { topic: '' });
    const [event] = await client.poll();
    expect(event.message.subject).toBe('');
    expect(EMPTY_TOPIC_NAME).not.toBe('');
  });

  it('uses the defaults that the owner of a bot has set, unless the request overrides them', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const bot = await givenBot(realm, member);
    const { channelId } = await givenChannel(realm, {}, [admin]);
    const set = { allPublicChannels: true, eventsChannelId: channelId };
    const place = { realm: realm.realm, ownerId: member.userId, userId: bot.userId };
    await realm.outside.table.update(key('bot', place), { set });
    const [usual, other] = await Promise.all([
      givenClient(realm, bot, { event_types: ['message'] }),
      givenClient(realm, bot, { event_types: ['message'], narrow: [['topic', 'hi']] }),
    ]);
    await sendTo(realm, admin, channelId, 'one');
    await sendTo(realm, admin, realm.channels.general, 'two');
    expect(said(await usual.poll())).toEqual(['one']);
    expect(said(await other.poll())).toEqual(['one', 'two']);
  });
});

describe('the cursor of a registration', () => {
  it('is fixed before the state is read, which waits until everything before it is visible', async () => {
    const realm = await newRealm();
    await givenUser(realm);
    const order: string[] = [];
    const container = realm.container(
      (store) => (command) => {
        order.push(JSON.stringify(command).includes('/users') ? 'state' : 'other');
        return store(command);
      },
      { wait: async (ms) => void order.push(`wait ${ms}`) },
    );
    await container.call(register, realm.people.member, { event_types: ['realm_user'] });
    const waited = order.indexOf(`wait ${SETTLE}`);
    expect(waited).toBeGreaterThan(0);
    expect(order.lastIndexOf('state')).toBeGreaterThan(waited);
  });

  it('loses nothing between the state and the events', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    // New people arrive at every moment of a registration.
    let arrivals = 0;
    const busy = realm.container((store) => async (command) => {
      if (arrivals < 12) {
        arrivals++;
        await givenUser(realm);
      }
      return store(command);
    });
    const types = ['realm_user'];
    const { body } = await busy.call(register, member, { event_types: types, fetch_event_types: types });
    const client = await givenClient(realm, member, { event_types: types, fetch_event_types: types });
    const told = new Set<number>(body.realm_users.map((user: { user_id: number }) => user.user_id));
    const query = { queueId: body.queue_id, last: body.last_event_id };
    Object.assign(client, query);
    for (let events = await client.poll(); events.length > 0; events = await client.poll()) {
      for (const { person } of events) told.add(person.user_id);
    }
    const truth = await givenClient(realm, member, { fetch_event_types: types });
    expect(arrivals).toBeGreaterThan(4);
    expect([...told].sort()).toEqual(
      truth.state.realm_users.map((user: { user_id: number }) => user.user_id).sort(),
    );
  });
});

describe('the cost of a registration', () => {
  it.each([
    ['a member', 'member', {}],
    ['an administrator, who sees all bots', 'admin', {}],
    ['a bot', 'bot', {}],
    ['a guest', 'guest', {}],
    ['a guest who does not see everyone', 'guest', { can_access_all_users_group: systemGroups.members.id }],
  ] as const)('is no higher for the whole state: %s', async (_, name, settings) => {
    const realm = await newRealm(settings);
    const { admin, guest, owner, [name]: person } = realm.people;
    await givenGroup(realm, { members: [admin, guest] });
    await givenChannel(realm, {}, [person, owner]);
    await givenBot(realm, admin);
    await sendTo(realm, owner, realm.channels.general, 'unread');
    await sendTo(realm, owner, [person.userId], 'unread too');
    // By that the oldest messages of the channels are remembered.
    await realm.call(register, owner, {});
    // The end of its id chooses the slot of a queue: one that is taken costs two more round trips.
    let queues = 10;
    const container = realm.container(undefined, { uuid: () => `${randomUUID().slice(0, -2)}${queues++}` });
    const trips = async () => {
      container.meter.reset();
      const { body } = await container.call(register, person, { include_subscribers: true });
      expect(body).toMatchObject({ unread_msgs: { count: 2 }, recent_private_conversations: [{}] });
      return container.meter.roundTrips;
    };
    expect(await trips()).toBe(3);
    expect(await trips()).toBe(2);
    expect(container.meter.writeUnits).toBeLessThanOrEqual(1);
  });

  it('includes one search for the oldest message of a channel, which is remembered until another one may be older', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const { general } = realm.channels;
    const container = realm.container();
    /** The oldest message in the reply, and whether it had to be searched. */
    const told = async () => {
      container.meter.reset();
      const { body } = await container.call(register, member, { event_types: ['stream'] });
      const { first_message_id } = body.streams.find(
        (one: { stream_id: number }) => one.stream_id === general,
      );
      return [first_message_id, container.meter.calls.some(({ action }) => action === 'TransactWrite')];
    };
    expect(await told()).toEqual([null, false]);
    const first = await sendTo(realm, owner, general, 'first');
    expect(await told()).toEqual([first, true]);
    expect(await told()).toEqual([first, false]);
    const second = await sendTo(realm, owner, general, 'second', { topic: 'another' });
    expect(await told()).toEqual([first, false]);
    expect(await realm.call(deleteMessage, owner, {}, { path: { message_id: first } })).toMatchObject({
      status: 200,
    });
    expect(await told()).toEqual([second, true]);
    expect(await told()).toEqual([second, false]);
  });

  it('includes only reads for the requested types', async () => {
    const realm = await newRealm();
    const container = realm.container();
    const queries = async (types: string[], parameters: object = {}) => {
      container.meter.reset();
      await container.call(register, realm.people.member, { event_types: types, ...parameters });
      return container.meter.calls.filter(({ action }) => action === 'Query').length;
    };
    const least = await queries(['message']);
    expect(await queries(['realm_billing', 'klipy'])).toBe(least);
    expect(await queries(['subscription', 'stream', 'default_streams'])).toBe(least + 4);
    const channels = 2;
    // By now the container remembers the channels, but not how many subscribers each has.
    const lists = await queries(['subscription'], { include_subscribers: true });
    expect(lists).toBe(least + 3 + 1 + channels);
  });
});

describe('while a registration finds out what to read', () => {
  /** Registers a guest for these types; `happen` comes after that look, and before the cursor is fixed. */
  async function registered(types: string[], happen: (realm: TestRealm) => Promise<unknown>) {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    let underWay = 0;
    let isDue = true;
    const container = realm.container((send) => async (command) => {
      if (isDue && JSON.stringify(command).includes(`${realm.realm}/log`)) {
        isDue = false;
        do await tick();
        while (underWay > 0);
        await happen(realm);
      }
      underWay++;
      return send(command).finally(() => underWay--);
    });
    const asked = { event_types: types, fetch_event_types: types, include_subscribers: true };
    const { body } = await container.call(register, realm.people.guest, asked);
    expect(isDue).toBe(false);
    expect(container.meter.roundTrips).toBeLessThanOrEqual(5);
    return { realm, state: body };
  }

  it('a new channel is listed with its subscribers', async () => {
    const { realm, state } = await registered(['subscription'], (realm) =>
      givenChannel(realm, { name: 'just now' }, [realm.people.guest, realm.people.admin]),
    );
    const subscribers = [realm.people.admin.userId, realm.people.guest.userId].sort((a, b) => a - b);
    expect(state.subscriptions).toContainEqual(expect.objectContaining({ name: 'just now', subscribers }));
  });

  it('a new group is listed with its members', async () => {
    const { realm, state } = await registered(['realm_user_groups'], (realm) =>
      givenGroup(realm, { name: 'just now', members: [realm.people.admin] }),
    );
    const members = [realm.people.admin.userId];
    expect(state.realm_user_groups).toContainEqual(expect.objectContaining({ name: 'just now', members }));
  });

  it('a new direct message is unread, and its conversation the newest', async () => {
    const types = ['update_message_flags', 'recent_private_conversations'];
    const { realm, state } = await registered(types, async (realm) => {
      const { owner, guest } = realm.people;
      await givenSubscription(realm, guest, realm.channels.random);
      await sendTo(realm, owner, realm.channels.random, 'just now');
      await sendTo(realm, owner, [guest.userId], 'just now');
    });
    expect(state.unread_msgs).toMatchObject({
      count: 2,
      streams: [{ stream_id: realm.channels.random }],
      pms: [{ other_user_id: realm.people.owner.userId }],
    });
    expect(state.recent_private_conversations).toMatchObject([{ user_ids: [realm.people.owner.userId] }]);
  });

  it('a message that becomes read is listed as read', async () => {
    const { state } = await registered(['update_message_flags'], async (realm) => {
      const { owner, guest } = realm.people;
      const ids = [1, 2, 3].map((n) => sendTo(realm, owner, [guest.userId], `just now ${n}`));
      const [read] = await Promise.all(ids);
      await realm.call(updateFlags, guest, { messages: [read], op: 'add', flag: 'read' });
    });
    expect(state.unread_msgs.count).toBe(2);
  });

  it('a user who becomes known to a guest is listed', async () => {
    let friend: Person | undefined;
    const { state } = await registered(['realm_user'], async (realm) => {
      friend = await givenUser(realm);
      await givenSubscription(realm, friend, realm.channels.general);
    });
    expect(state.realm_users).toContainEqual(expect.objectContaining({ email: friend?.email }));
  });
});
