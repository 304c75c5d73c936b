import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import zulip from 'zulip-js';
import type { DemoName } from '../../infra/local/demo.ts';
import { checkDescribed } from '../support/described-fetch.ts';
import { type LocalService, STARTING, startLocalService } from '../support/local-service.ts';

// The client puts another FormData in the place of Node's; the tests that this process runs after these have their own.
const NodesFormData = vi.hoisted(() => globalThis.FormData);
afterAll(() => {
  globalThis.FormData = NodesFormData;
});

type Client = Awaited<ReturnType<typeof zulip>>;

/** By which the client fetches everything. */
const transport: { fetch: (address: string, init: { readonly method?: string }) => Promise<Response> } =
  createRequire(import.meta.url)('zulip-js/lib/helper');
const itsFetch = transport.fetch;

/** Checks each reply and each event that the client gets against the declaration of its endpoint. */
transport.fetch = async (address, init) => {
  const response = await itsFetch(address, init);
  const text = await response.text();
  checkDescribed(init.method ?? 'GET', new URL(address).pathname, response.status, text);
  return new Response(text, { status: response.status });
};

let service: LocalService;
let member: Client;
let guest: Client;
let owner: Client;

beforeAll(async () => {
  service = await startLocalService();
  member = await zulip({ zuliprc: service.zuliprc('member') });
  guest = await zulip({ zuliprc: service.zuliprc('guest') });
  owner = await zulip({ zuliprc: service.zuliprc('owner') });
}, STARTING);

afterAll(() => service?.end());

/** The address and the key in a client configuration file. */
async function credentialsIn(file: string): Promise<Record<string, string>> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.includes('='));
  return Object.fromEntries(lines.map((line) => line.split('=')));
}

const send = { type: 'stream', to: 'general', topic: 'clients', content: 'Hello from **zulip-js**' };

/** Polls as a client does, until an event of the type comes. */
async function nextEvent(client: Client, queue: { queue_id: string; last_event_id: number }, type: string) {
  let { last_event_id } = queue;
  for (;;) {
    const { events } = await client.events.retrieve({ queue_id: queue.queue_id, last_event_id });
    for (const event of events) {
      last_event_id = Math.max(last_event_id, event.id);
      if (event.type === type) return event;
    }
  }
}

describe('the official JavaScript client, with the files that npm start writes', () => {
  it('registers a queue, sends, receives the message as an event and reads it back', async () => {
    const queue = await member.queues.register({ event_types: ['message'], apply_markdown: 'true' });
    expect(queue).toMatchObject({ result: 'success', zulip_feature_level: 500 });
    const sent = await guest.messages.send(send);
    expect(sent).toMatchObject({ result: 'success', msg: '' });

    const event = await nextEvent(member, queue, 'message');
    expect(event.message).toMatchObject({
      id: sent.id,
      subject: 'clients',
      display_recipient: 'general',
      sender_email: 'guest@example.com',
      content: '<p>Hello from <strong>zulip-js</strong></p>',
    });

    const narrow = [
      { operator: 'channel', operand: 'general' },
      { operator: 'topic', operand: 'clients' },
    ];
    const read = await member.messages.retrieve({ anchor: 'newest', num_before: 10, num_after: 0, narrow });
    expect(read.messages.map(({ id }: { id: number }) => id)).toContain(sent.id);
    const one = await member.messages.getById({ message_id: sent.id });
    expect(one.message.id).toBe(sent.id);
    expect(await member.queues.deregister({ queue_id: queue.queue_id })).toMatchObject({ result: 'success' });
  });

  it('reads the whole state, which comes compressed', async () => {
    const state = await member.queues.register({});
    expect(state).toMatchObject({
      result: 'success',
      realm_users: expect.any(Array),
      email: 'member@example.com',
    });
    const { email, key } = await credentialsIn(service.zuliprc('member'));
    const reply = await fetch(`${service.address}/api/v1/register`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${email}:${key}`)}`, 'accept-encoding': 'gzip' },
    });
    expect(reply.headers.get('content-encoding')).toBe('gzip');
    expect(Number(reply.headers.get('content-length'))).toBeLessThan(JSON.stringify(state).length / 2);
    expect(await reply.json()).toMatchObject({ realm_users: state.realm_users });
  });

  it.each<DemoName>(['owner', 'admin', 'moderator', 'member', 'guest', 'bot'])(
    'authenticates with the file of the %s',
    async (name) => {
      const client = await zulip({ zuliprc: service.zuliprc(name) });
      const { email } = await credentialsIn(service.zuliprc(name));
      expect(await client.users.me.getProfile()).toMatchObject({ result: 'success', email });
    },
  );

  it('edits, reacts to and deletes messages, and reads their history', async () => {
    const { id: message_id } = await member.messages.send(send);
    const edited = await member.messages.update({ message_id, content: 'Hello *again*' });
    expect(edited).toMatchObject({ result: 'success' });
    const { message_history } = await member.messages.getHistoryById({ message_id });
    expect(message_history.map(({ content }: { content: string }) => content)).toEqual([
      send.content,
      'Hello *again*',
    ]);
    const smile = { message_id, emoji_name: 'smile' };
    expect(await guest.reactions.add(smile)).toMatchObject({ result: 'success' });
    expect((await member.messages.getById({ message_id })).message.reactions).toMatchObject([
      { emoji_name: 'smile', emoji_code: '1f604' },
    ]);
    expect(await guest.reactions.remove(smile)).toMatchObject({ result: 'success' });
    await guest.reactions.add(smile);
    expect(await guest.messages.deleteReactionById(smile)).toMatchObject({ result: 'success' });
    expect((await member.messages.getById({ message_id })).message.reactions).toEqual([]);
    expect(await owner.messages.deleteById({ message_id })).toMatchObject({ result: 'success' });
    expect(await member.messages.getById({ message_id })).toMatchObject({ result: 'error' });
  });

  it('reads the server settings and custom emoji, and creates and removes accounts and channels', async () => {
    expect(await member.server.settings()).toMatchObject({ result: 'success', zulip_feature_level: 500 });
    expect(await member.emojis.retrieve()).toMatchObject({ result: 'success', emoji: {} });
    const account = {
      email: 'new@example.com',
      password: 'twelve grey herons',
      full_name: 'Nora New',
      short_name: 'nora',
    };
    expect(await owner.users.create(account)).toMatchObject({
      result: 'success',
      user_id: expect.any(Number),
      ignored_parameters_unsupported: ['short_name'],
    });
    const subscriptions = JSON.stringify([{ name: 'passing' }]);
    await owner.users.me.subscriptions.add({ subscriptions });
    const { stream_id } = await owner.streams.getStreamId({ stream: 'passing' });
    expect(
      await owner.users.me.subscriptions.remove({ subscriptions: JSON.stringify(['passing']) }),
    ).toMatchObject({ result: 'success', removed: ['passing'] });
    expect(await owner.streams.deleteById({ stream_id })).toMatchObject({ result: 'success' });
    expect(await owner.callEndpoint('/users/me/subscriptions')).toMatchObject({ result: 'success' });
  });

  it('calls back for each event, as long as it runs', async () => {
    const code = `
      const { parentPort, workerData } = require('node:worker_threads');
      require('zulip-js')({ zuliprc: workerData }).then((client) =>
        client.callOnEachEvent((event) => parentPort.postMessage(event), ['message']));`;
    const listener = new Worker(code, { eval: true, workerData: service.zuliprc('moderator') });
    onTestFinished(async () => void (await listener.terminate()));
    const heard: { readonly type: string; readonly message: object }[] = [];
    listener.on('message', (event) => heard.push(event));
    // It says nowhere that it listens: what is sent until it does is not for it.
    for (let sent = 0; heard.length === 0 && sent < 50; sent++) {
      await guest.messages.send({ ...send, content: 'anybody?' });
      await wait(300);
    }
    expect(heard[0]).toMatchObject({
      type: 'message',
      message: { content: 'anybody?', sender_email: 'guest@example.com' },
    });
  });

  it('wakes a waiting poll', async () => {
    const queue = await member.queues.register({ event_types: ['message'] });
    const waiting = nextEvent(member, queue, 'message');
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { id } = await guest.messages.send({ ...send, content: 'wake up' });
    expect((await waiting).message.id).toBe(id);
  });

  it('marks messages as read and starred', async () => {
    const { id } = await guest.messages.send({ ...send, content: 'read me' });
    expect(await member.messages.flags.add({ flag: 'read', messages: [id] })).toMatchObject({
      messages: [id],
    });
    expect(await member.messages.flags.add({ flag: 'starred', messages: [id] })).toMatchObject({
      messages: [id],
    });
    const one = await member.messages.getById({ message_id: id });
    expect(one.message.flags).toEqual(expect.arrayContaining(['read', 'starred']));
    expect(await member.messages.flags.remove({ flag: 'starred', messages: [id] })).toMatchObject({
      messages: [id],
    });
    expect((await member.messages.getById({ message_id: id })).message.flags).toEqual(['read']);
  });

  it('lists people, channels, topics and subscriptions', async () => {
    const { members } = await member.users.retrieve();
    expect(members.map(({ email }: { email: string }) => email)).toContain('owner@example.com');
    expect((await member.users.me.getProfile()).email).toBe('member@example.com');
    expect((await member.streams.retrieve()).streams.map(({ name }: { name: string }) => name)).toContain(
      'random',
    );
    const { stream_id } = await member.streams.getStreamId('general');
    const { topics } = await member.streams.topics.retrieve({ stream_id });
    expect(topics.map(({ name }: { name: string }) => name)).toContain('clients');
    const { subscriptions } = await member.streams.subscriptions.retrieve();
    expect(subscriptions.length).toBe(2);
    const created = await member.users.me.subscriptions.add({
      subscriptions: JSON.stringify([{ name: 'clients only' }]),
    });
    expect(created).toMatchObject({ result: 'success' });
  });

  it('gets errors in the form of the API', async () => {
    expect(await member.messages.send({ ...send, to: 'nowhere' })).toMatchObject({
      result: 'error',
      code: 'STREAM_DOES_NOT_EXIST',
      stream: 'nowhere',
    });
    const stranger = await zulip({ realm: service.address, username: 'member@example.com', apiKey: 'wrong' });
    expect(await stranger.users.me.getProfile()).toMatchObject({ result: 'error', code: 'UNAUTHORIZED' });
  });

  it(
    'finds everything that was acknowledged before a power failure',
    async () => {
      const { id } = await guest.messages.send({ ...send, content: 'just before the cut' });
      await service.kill();
      await service.restart();
      const one = await member.messages.getById({ message_id: id });
      expect(one).toMatchObject({ result: 'success', raw_content: 'just before the cut' });
    },
    STARTING,
  );
});
