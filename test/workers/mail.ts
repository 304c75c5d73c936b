import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { handler as getEmailAddress } from '../../functions/channels/getEmailAddress.ts';
import { handler } from '../../functions/workers/incoming-mail.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { MAIL } from '../../shared/endpoints/workers.ts';
import { entriesIn } from '../support/log-entries.ts';
import type { Person, TestRealm } from '../support/realm.ts';
import { queued, runQueue } from '../support/worker-run.ts';

export const mailDomain = 'mail.example.com';

/** The realm with mail switched on, from a container of its own. */
export const mailing = (realm: TestRealm, faults?: Parameters<TestRealm['container']>[0]): TestRealm =>
  realm.container(faults, { mailDomain });

/** The mail address of a channel for a user, with other options if given. */
export async function addressOf(
  realm: TestRealm,
  as: Person,
  channelId: number,
  { senderId, options = ['show-sender'] }: { senderId?: number; options?: readonly string[] } = {},
): Promise<string> {
  const { body } = await mailing(realm).call(getEmailAddress, as, undefined, {
    path: { stream_id: channelId },
    ...(senderId !== undefined && { query: { sender_id: senderId } }),
  });
  return String(body.email).replace('.show-sender@', ['', ...options].join('.').concat('@'));
}

/** Headers and a body as mail, with an id of its own unless one is given. */
export const mail = (headers: Readonly<Record<string, string>>, body = 'Hello from afar.'): string =>
  Object.entries({
    From: 'Ann Outside <ann@outside.example>',
    'Message-ID': `<${randomUUID()}@outside.example>`,
    ...headers,
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
    .concat('\r\n', body.replaceAll(/\r?\n/g, '\r\n'));

/** A message as the tests look at it. */
export interface Posted {
  readonly id: number;
  readonly senderId: number;
  readonly channelId: number | undefined;
  readonly topic: string | undefined;
  readonly content: string;
}

/** The messages of the realm, in order. */
export const postedIn = async (realm: TestRealm): Promise<Posted[]> =>
  (await entriesIn(realm.log)).flatMap((entry) =>
    entry.kind === 'message'
      ? [
          {
            id: entry.seq,
            senderId: entry.senderId,
            channelId: entry.channelId,
            topic: entry.topic,
            content: entry.content,
          },
        ]
      : [],
  );

/** Stores mail in the bucket, and returns the notification of S3. */
export async function arrived(realm: TestRealm, raw: string | Uint8Array): Promise<string> {
  const key = `mail/${realm.realm} ${randomUUID()}`;
  const bytes = typeof raw === 'string' ? Buffer.from(raw) : raw;
  await s3Objects(realm.outside.environment).put(MAIL, key, bytes, 'message/rfc822');
  return notificationOf(key, bytes.length);
}

export const notificationOf = (key: string, size: number): string =>
  JSON.stringify({
    Records: [{ s3: { object: { key: encodeURIComponent(key).replaceAll('%20', '+'), size } } }],
  });

/** Runs the worker for messages of its queue, and tells the bodies of those that it wants again. */
export async function worked(realm: TestRealm, ...bodies: readonly string[]): Promise<string[]> {
  const records = bodies.map((body) => queued(body));
  const { batchItemFailures } = await runQueue(realm, handler, records);
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  return records.flatMap(({ messageId, body }) => (failed.has(messageId) ? [body] : []));
}

/** What came of one mail: the messages that it became, and what was reported. */
export interface Come {
  readonly posted: readonly Posted[];
  readonly dropped: readonly unknown[];
  readonly reports: readonly Readonly<Record<string, unknown>>[];
}

/** Lets mail arrive and the worker run for it once. */
export async function received(realm: TestRealm, raw: string | Uint8Array): Promise<Come> {
  const container = mailing(realm);
  const before = (await postedIn(realm)).length;
  const failed = await worked(container, await arrived(realm, raw));
  const faults = container.reports.filter(({ level }) => level === 'ERROR');
  expect({ failed, faults }).toEqual({ failed: [], faults: [] });
  return {
    posted: (await postedIn(realm)).slice(before),
    dropped: container.reports.map(({ reason }) => reason),
    reports: container.reports,
  };
}

/** The one message that mail became. */
export async function postedOf(realm: TestRealm, raw: string | Uint8Array): Promise<Posted> {
  const { posted, dropped } = await received(realm, raw);
  expect({ count: posted.length, dropped }).toEqual({ count: 1, dropped: [] });
  return posted[0] as Posted;
}
