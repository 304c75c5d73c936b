import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DemoName } from '../../infra/local/demo.ts';
import { type LocalService, STARTING, startLocalService } from '../support/local-service.ts';

let service: LocalService;

beforeAll(async () => {
  service = await startLocalService();
}, STARTING);

afterAll(() => service?.end());

/** The `Authorization` header of a demo account. */
async function credentials(account: DemoName): Promise<string> {
  const text = await readFile(service.zuliprc(account), 'utf8');
  const [email, key] = ['email', 'key'].map((name) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]);
  return `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;
}

// biome-ignore lint/suspicious/noExplicitAny: replies are what the test looks into
type Body = any;

async function post(as: DemoName, path: string, fields: Record<string, string>): Promise<Body> {
  const headers = { authorization: await credentials(as) };
  const body = new URLSearchParams(fields);
  return (await fetch(`${service.address}/api/v1/${path}`, { method: 'POST', headers, body })).json();
}

const say = (content: string): Promise<Body> =>
  post('admin', 'messages', { type: 'channel', to: 'general', topic: 'waiting', content });

/** A client with a queue. Each of its polls has a connection of its own, whose end it sees. */
async function givenClient(as: DemoName) {
  const registered = await post(as, 'register', { event_types: '["message"]', fetch_event_types: '[]' });
  const authorization = await credentials(as);
  let last: number = registered.last_event_id;
  const poll = () => {
    const query = new URLSearchParams({ queue_id: registered.queue_id, last_event_id: String(last) });
    const sent = request(`${service.address}/api/v1/events?${query}`, {
      headers: { authorization },
      agent: new Agent(),
    });
    const reply = new Promise<{ status: number | undefined; body: Body }>((resolve, reject) => {
      sent.on('error', reject);
      sent.on('response', async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode, body: JSON.parse(text) });
      });
    });
    sent.end();
    return { reply, hangUp: () => sent.destroy() };
  };
  return {
    poll,
    hear: async (): Promise<string[]> => {
      const { body } = await poll().reply;
      last = body.events.at(-1).id;
      return body.events.map((event: Body) => event.message?.content ?? event.type);
    },
  };
}

/** The process ids of the service's listener. */
async function listeners(): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args=']);
  const folder = service.zuliprc('member').split('/zuliprc/')[0] as string;
  return stdout
    .split('\n')
    .filter(
      (line) => line.includes(`${folder}/assembly/events.listen/index.mjs`) && !line.includes('/bin/sh'),
    )
    .map((line) => Number(line.trim().split(' ')[0]));
}

describe('the listener of the local cloud', () => {
  test('holds all local polls in one process', async () => {
    const clients = await Promise.all((['member', 'owner', 'moderator'] as const).map(givenClient));
    const heard = clients.map((client) => client.hear());
    await pause(500);
    await say('to all of you');
    expect(await Promise.all(heard)).toEqual(clients.map(() => ['to all of you']));
    expect(await listeners()).toHaveLength(1);
  });

  test('notices when a client disconnects, and serves it when it comes again', async () => {
    const client = await givenClient('member');
    const asked = client.poll();
    asked.reply.catch(() => {});
    await pause(300);
    asked.hangUp();
    const heard = client.hear();
    await pause(300);
    await say('again');
    expect(await heard).toEqual(['again']);
  });

  test('is started again when it ends, and clients reconnect and miss nothing', async () => {
    const client = await givenClient('member');
    const asked = client.poll();
    await pause(300);
    const [before] = await listeners();
    process.kill(before as number, 'SIGKILL');
    expect((await asked.reply).status).toBe(502);
    await say('while it was away');
    expect(await client.hear()).toEqual(['while it was away']);
    const [after] = await listeners();
    expect(after).not.toBe(before);
  });

  test('ends with the service, and polls get a heartbeat', async () => {
    const client = await givenClient('member');
    const heard = client.hear();
    await pause(300);
    const ended = service.end();
    expect(await heard).toEqual(['heartbeat']);
    await ended;
    await vi.waitFor(async () => expect(await listeners()).toEqual([]), { timeout: 30_000 });
  });
});
