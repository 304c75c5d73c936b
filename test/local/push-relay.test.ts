import { rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { buildFunctions } from '../../infra/build.ts';
import { type DemoAccount, planDemo } from '../../infra/local/demo.ts';
import { type LocalCloud, startLocalCloud } from '../../infra/local/local-cloud.ts';
import { type PushRelay, relayContext, startPushRelay } from '../../infra/local/push-relay.ts';
import { stackId, synthesize } from '../../infra/synthesize.ts';
import { sendMessage } from '../../shared/endpoints/messages.ts';
import { registerDevice, registerPush, testPush } from '../../shared/endpoints/push.ts';
import { exportWorker, push, pushSweep } from '../../shared/endpoints/workers.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { checkDescribed } from '../support/described-fetch.ts';
import { temporaryFolder } from './sample-cloud.ts';

/** The parts of the service's template that handle push notifications. */
const declarations = {
  endpoints: [registerDevice, registerPush, testPush, sendMessage],
  workers: [exportWorker, push, pushSweep],
};
const host = 'push-relay.test';

let folder: string;
let relay: PushRelay;
let cloud: LocalCloud;
let accounts: readonly DemoAccount[];
const lines: string[] = [];

beforeAll(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  folder = await temporaryFolder();
  relay = await startPushRelay((line) => lines.push(line));
  // All of them, which a run of all tests has built already.
  const { bundles } = await buildFunctions();
  const outdir = join(folder, 'assembly');
  const assembly = synthesize(bundles, { ...declarations, outdir, context: relayContext });
  const { template } = assembly.getStackArtifact(stackId);
  const dynamodb = new URL(inject('dynamodb'));
  cloud = await startLocalCloud({
    template,
    assembly: outdir,
    dataDirectory: folder,
    dynamodb,
    port: 0,
    concurrency: 20,
    secrets: relay.secrets,
    variables: relay.variables,
    showLogs: false,
    report: (line) => lines.push(line),
  });
  const outside = makeOutside({
    TABLE_NAME: String(cloud.service.tables[0]?.name),
    AWS_REGION: cloud.place.region,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.origin,
  });
  const { demo, create } = planDemo(outside, { host, name: 'Test' });
  await create(outside);
  ({ accounts } = demo);
});

afterAll(async () => {
  await cloud.stop();
  await relay.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Calls the service as one of the accounts. */
async function call(name: string, path: string, parameters: Readonly<Record<string, string>> = {}) {
  const account = accounts.find((each) => each.name === name);
  const reply = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const request = httpRequest(
      new URL(`/api/v1/${path}`, cloud.address),
      {
        method: 'POST',
        headers: {
          host,
          authorization: `Basic ${Buffer.from(`${account?.email}:${account?.apiKey}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
      },
      (response) => text(response).then((body) => resolve({ status: response.statusCode, body }), reject),
    );
    request.on('error', reject).end(new URLSearchParams(parameters).toString());
  });
  checkDescribed('POST', `/api/v1/${path}`, reply.status ?? 0, reply.body);
  return { status: reply.status, ...JSON.parse(reply.body) };
}

describe('local push notifications (specification 4.11)', () => {
  test('go through the queue and the worker, with their permissions, to a relay that shows them', async () => {
    const { device_id } = await call('member', 'register_client_device');
    const registered = await call('member', 'mobile_push/register', {
      device_id: String(device_id),
      token_kind: 'fcm',
      token_id: 'AAAAAAAAAAE=',
      push_key: Buffer.alloc(33, 0x31).toString('base64'),
      push_key_id: '1',
      bouncer_public_key: 'x',
      encrypted_push_registration: 'x',
    });
    expect(registered).toMatchObject({ status: 200 });
    await vi.waitFor(
      () => expect(lines).toEqual(['Push relay: took the token AAAAAAAAAAE= of a device']),
      30_000,
    );
    await vi.waitFor(
      async () =>
        expect(await call('member', 'mobile_push/e2ee/test_notification')).toMatchObject({ status: 200 }),
      30_000,
    );
    const shown = 'Push relay: took encrypted notifications for 1 Android and 0 Apple devices';
    expect(lines.slice(1)).toEqual([shown]);
    const { userId } = accounts.find(({ name }) => name === 'member') as DemoAccount;
    await call('admin', 'messages', { type: 'direct', to: `[${userId}]`, content: 'Hello' });
    await vi.waitFor(() => expect(lines.slice(1)).toEqual([shown, shown]), 30_000);
  });

  test('are refused by the relay if another service sends them, or if no device can decrypt them', async () => {
    const address = String(relay.variables.PUSH_RELAY_URL);
    lines.length = 0;
    const key = relay.secrets.get('push-relay-org-key');
    const ask = async (path: string, name: string, body: string): Promise<number> => {
      const authorization = `Basic ${Buffer.from(name).toString('base64')}`;
      const url = new URL(`/api/v1/remotes/push/e2ee/${path}`, address);
      return (await fetch(url, { method: 'POST', headers: { authorization }, body })).status;
    };
    expect(await ask('notify', 'local:wrong', '{}')).toBe(401);
    expect(await ask('notify', `local:${key}`, '{}')).toBe(400);
    expect(await ask('nothing', `local:${key}`, '{}')).toBe(404);
    expect(lines.map((line) => line.slice(0, 28))).toEqual(Array(3).fill('Push relay: refused a reques'));
    expect(lines.join()).not.toContain(key);
  });
});
