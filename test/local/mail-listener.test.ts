import { readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createTransport, type Transporter } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { buildFunctions } from '../../infra/build.ts';
import { ensureDemo, prepareDemo } from '../../infra/local/demo-organization.ts';
import { type LocalCloud, startLocalCloud } from '../../infra/local/local-cloud.ts';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { MailListener } from '../../infra/local/mail-listener.ts';
import { StartProblem } from '../../infra/local/start-problem.ts';
import { readMailRoutes } from '../../infra/local/template-mail.ts';
import { stackId, synthesize } from '../../infra/synthesize.ts';
import { getChannelEmailAddress, getChannelId } from '../../shared/endpoints/channels.ts';
import { listMessages } from '../../shared/endpoints/messages.ts';
import { exportWorker, incomingMail } from '../../shared/endpoints/workers.ts';
import { describedFetch } from '../support/described-fetch.ts';
import { temporaryFolder } from './sample-cloud.ts';

/** The parts of the service's template that handle mail. */
const declarations = {
  endpoints: [getChannelId, getChannelEmailAddress, listMessages],
  workers: [exportWorker, incomingMail],
};
const domain = 'parlance.localhost';

let folder: string;
let cloud: LocalCloud;
let mailer: Transporter;
let authorization: string;
const lines: string[] = [];

beforeAll(async () => {
  // What the demo organization is made with; the store takes any.
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  folder = await temporaryFolder();
  // All of them, which a run of all tests has built already.
  const { bundles } = await buildFunctions();
  const outdir = join(folder, 'assembly');
  const assembly = synthesize(bundles, { ...declarations, outdir, context: { mailDomain: domain } });
  const { template } = assembly.getStackArtifact(stackId);
  const dynamodb = new URL(inject('dynamodb'));
  cloud = await startLocalCloud({
    template,
    assembly: outdir,
    dataDirectory: folder,
    dynamodb,
    port: 0,
    smtp: { port: 0, isFixed: true },
    concurrency: 20,
    showLogs: false,
    report: (line) => lines.push(line),
  });
  const demo = await ensureDemo(await prepareDemo({ dataDirectory: folder }), {
    site: cloud.address,
    environment: {
      TABLE_NAME: String(cloud.service.tables[0]?.name),
      AWS_REGION: cloud.place.region,
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb.origin,
    },
  });
  const member = demo.accounts?.find(({ name }) => name === 'member');
  authorization = `Basic ${Buffer.from(`${member?.email}:${member?.apiKey}`).toString('base64')}`;
  mailer = createTransport({ host: '127.0.0.1', port: cloud.smtpPort, secure: false, ignoreTLS: true });
});

afterAll(async () => {
  mailer.close();
  await cloud.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What the service answers. */
interface Answer {
  readonly stream_id?: number;
  readonly email?: string;
  readonly messages?: readonly { readonly content: string }[];
}

async function got(path: string): Promise<Answer> {
  const reply = await describedFetch(new URL(`/api/v1/${path}`, cloud.address), {
    headers: { authorization },
  });
  return (await reply.json()) as Answer;
}

/** The texts in the topics of general. */
const textsIn = async (topic: string): Promise<string[]> => {
  const narrow = JSON.stringify([['topic', topic]]);
  const query = new URLSearchParams({
    anchor: 'newest',
    num_before: '10',
    num_after: '0',
    apply_markdown: 'false',
    narrow,
  });
  const { messages = [] } = await got(`messages?${query}`);
  return messages.map(({ content }) => content);
};

const addressOf = async (): Promise<string> => {
  const { stream_id: id } = await got('get_stream_id?stream=general');
  return String((await got(`streams/${id}/email_address`)).email);
};

describe('mail on a laptop (specification 4.7)', () => {
  test("arrives in a channel if a mail program sends it to the channel's address", async () => {
    const to = await addressOf();
    expect(to).toMatch(/^general\.[0-9a-f]{32}\.show-sender@parlance\.localhost$/);
    const { accepted } = await mailer.sendMail({
      from: { name: 'Ann Outside', address: 'ann@outside.example' },
      to,
      bcc: to,
      subject: 'Re: Lunch',
      text: '.\nYes, at noon.\n\nOn Monday, Max wrote:\n> Lunch?',
      html: '<p>Yes, at noon.</p>',
      attachments: [{ filename: 'menu.pdf', content: Buffer.alloc(3_000_000) }],
    });
    expect(accepted).toEqual([to]);
    await vi.waitFor(
      async () =>
        expect(await textsIn('Lunch')).toEqual([
          '**From:** `Ann Outside <ann@outside.example>`\n\n.\nYes, at noon.\n\n**Attachments:** `menu.pdf`',
        ]),
      { timeout: 30_000, interval: 100 },
    );
    expect(lines).toEqual([]);
  });

  test('reaches hidden recipients', async () => {
    const to = await addressOf();
    await mailer.sendMail({
      from: 'ann@outside.example',
      to: 'list@outside.example',
      subject: 'Hidden',
      text: 'x',
      envelope: { from: 'ann@outside.example', to },
    });
    await vi.waitFor(async () => expect(await textsIn('Hidden')).toHaveLength(1), { timeout: 30_000 });
  });

  test('to an unknown address is a line in the log of the worker', async () => {
    await mailer.sendMail({
      from: 'ann@outside.example',
      to: `general.${'0'.repeat(32)}@${domain}`,
      text: 'x',
    });
    const log = join(folder, 'logs', 'Parlance-incoming-mail.log');
    await vi.waitFor(
      async () => expect(await readFile(log, 'utf8')).toContain('"reason":"unknown address"'),
      {
        timeout: 30_000,
      },
    );
  });

  test('to other domains or without an end is refused at once', async () => {
    const from = 'ann@outside.example';
    await expect(mailer.sendMail({ from, to: 'bob@outside.example', text: 'x' })).rejects.toMatchObject({
      responseCode: 550,
    });
    const attachments = [{ filename: 'a', content: Buffer.alloc(41 * 1024 * 1024) }];
    await expect(mailer.sendMail({ from, to: `x@${domain}`, attachments })).rejects.toMatchObject({
      responseCode: 552,
    });
  });
});

test('a template without a notification for mail does not work locally either', () => {
  const Rule = {
    Recipients: [domain],
    Actions: [{ S3Action: { BucketName: 'mail', ObjectKeyPrefix: 'in/' } }],
  };
  const telling = (Value: string) => ({
    NotificationConfiguration: {
      QueueConfigurations: [
        {
          Event: 's3:ObjectCreated:*',
          Queue: 'arn',
          Filter: { S3Key: { Rules: [{ Name: 'prefix', Value }] } },
        },
      ],
    },
  });
  const bucketsWith = (properties: unknown) => [{ name: 'mail', properties }];
  expect(readMailRoutes({ Rule }, bucketsWith(telling('in/')))).toEqual([
    { domain, bucket: 'mail', prefix: 'in/', queueArn: 'arn' },
  ]);
  for (const properties of [{}, telling('out/')])
    expect(() => readMailRoutes({ Rule }, bucketsWith(properties))).toThrow(
      'tells nobody of the mail in mail',
    );
});

describe('the mail port', () => {
  const none = {
    routes: [],
    queues: [],
    store: new URL('http://127.0.0.1:1'),
    region: 'us-east-1',
    onFault: () => {},
  };

  test('is another one if the usual one is in use, unless it was set explicitly', async () => {
    const other: Server = createServer();
    const port = Number((await listenOnLoopback(other, 0)).port);
    const [flexible, fixed] = [new MailListener(none), new MailListener(none)];
    expect(await flexible.start({ port, isFixed: false })).not.toBe(port);
    const starting = fixed.start({ port, isFixed: true });
    await expect(starting).rejects.toThrow(StartProblem);
    await expect(starting).rejects.toThrow(
      `Port ${port} is in use: stop what listens there, or set SMTP_PORT`,
    );
    await Promise.all([flexible.stop(), fixed.stop()]);
    other.close();
  });
});
