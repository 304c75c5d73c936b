import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, inject, test } from 'vitest';
import { handler as create } from '../../functions/exports/create.ts';
import { MAX_MESSAGES } from '../../shared/domain/export/request.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import { change, out } from '../support/accounts.ts';
import { asked, contentsOf, delivered, listed, worked, workerOf } from '../support/export-request.ts';
import { givenRealmSettings, givenSettings, givenUser } from '../support/given.ts';
import { sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { givenDays, justBefore, run } from '../support/retention-run.ts';
import { workOf } from '../support/work-queue.ts';
import { startFaultyStore } from './faulty-store.ts';

const DAY = 86_400_000;
const refused = { status: 400, body: { result: 'error', code: 'BAD_REQUEST' } };
const granted = { status: 200, body: { result: 'success', id: expect.any(Number) } };

const consents = (realm: TestRealm, person: Person, allowed = true): Promise<void> =>
  givenSettings(realm, person, { allow_private_data_export: allowed });

/** An organization with a queue for the worker. */
async function exporting(settings = {}) {
  const realm = await newRealm(settings);
  return { realm, work: await workOf(realm, 'export') };
}

describe('POST /export/realm', () => {
  test('makes an archive that administrators can download, of public data by default (4.8/default, 4.8/id)', async () => {
    const { realm, work } = await exporting();
    const { body } = await asked(realm, realm.people.admin);
    expect((await listed(realm))[0]).toMatchObject({ id: body.id, pending: true, export_type: 'public' });
    expect(await worked(realm, work)).toBe(1);
    const [done] = await listed(realm);
    expect(done).toMatchObject({ id: body.id, pending: false });
    const link = new URL(done?.export_url ?? '');
    expect(link.searchParams.get('response-content-disposition')).toContain(
      `organization-export-${body.id}.tar.gz`,
    );
    const answer = await fetch(link);
    const { manifest } = await contentsOf(new Uint8Array(await answer.arrayBuffer()));
    expect(manifest).toMatchObject({ export_id: body.id, export_type: 'public' });
    expect(realm.reports).toEqual([]);
  });

  test('is allowed only to administrators and owners, which is checked first (4.8/administrators, wire facts 10)', async () => {
    const { realm } = await exporting();
    const { owner, admin, moderator, member, guest } = realm.people;
    for (const person of [moderator, member, guest]) {
      expect(await asked(realm, person, 'everything')).toMatchObject({
        status: 400,
        body: { code: 'UNAUTHORIZED_PRINCIPAL' },
      });
    }
    for (const type of ['everything', '1', ''])
      expect(await asked(realm, admin, type)).toMatchObject(refused);
    expect(await asked(realm, owner, 'public')).toMatchObject(granted);
  });

  test('is allowed five times in seven days, whatever the outcome (wire facts 2)', async () => {
    const { realm } = await exporting();
    const { admin, owner } = realm.people;
    for (let i = 0; i < 5; i++) {
      expect(await asked(realm, i % 2 ? admin : owner)).toMatchObject(granted);
      realm.pass(DAY);
    }
    expect(await asked(realm, admin)).toMatchObject(refused);
    realm.pass(2 * DAY - 60_000);
    expect(await asked(realm, admin)).toMatchObject(refused);
    realm.pass(60_000);
    // A week ago there was one; the next one was a day later.
    expect(await asked(realm, admin)).toMatchObject(granted);
    expect(await asked(realm, admin)).toMatchObject(refused);
  });

  test('refuses one of six concurrent requests (wire facts 2)', async () => {
    const { realm } = await exporting();
    const containers = Array.from({ length: 6 }, () => realm.container());
    const replies = await Promise.all(containers.map((each) => asked(each, realm.people.admin)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 400]);
    expect(replies.find(({ status }) => status === 400)).toMatchObject(refused);
    const ids = replies.flatMap(({ body }) => body.id ?? []);
    expect((await listed(realm)).map(({ id }) => id).sort()).toEqual(ids.sort());
  });

  test('refuses organizations that are too large, and points to a manual export (4.8/too-large, wire facts 2)', async () => {
    const { realm } = await exporting();
    const { table } = realm.outside;
    const at = key('counter', { realm: realm.realm });
    await sent(realm, realm.people.member, { to: realm.channels.general });
    expect((await table.get(at))?.messages).toBe(1);
    await table.update(at, { set: { messages: MAX_MESSAGES } });
    expect(await asked(realm, realm.people.admin)).toMatchObject(granted);
    await sent(realm, realm.people.member, { people: [realm.people.admin] });
    const reply = await asked(realm, realm.people.admin);
    expect(reply).toMatchObject(refused);
    expect(reply.body.msg).toContain('manual export');
  });

  test('does not count messages deleted by retention (wire facts 2)', async () => {
    const { realm } = await exporting();
    await sent(realm, realm.people.member, { to: realm.channels.general });
    await givenDays(realm, 1);
    realm.pass(2 * DAY);
    await sent(realm, realm.people.member, { to: realm.channels.general });
    await run(realm);
    const counter = await realm.outside.table.get('counter', { realm: realm.realm });
    expect(counter?.messages).toBe(1);
  });

  test('needs the consent of an active owner for private data (wire facts 10)', async () => {
    const { realm } = await exporting();
    const { owner, admin } = realm.people;
    await consents(realm, admin);
    expect(await asked(realm, admin, 'full_with_consent')).toMatchObject(refused);
    const second = await givenUser(realm, { role: roles.owner });
    await consents(realm, second);
    expect(await asked(realm, admin, 'full_with_consent')).toMatchObject(granted);

    expect(await out(realm, owner, second)).toMatchObject({ status: 200 });
    expect(await asked(realm, admin, 'full_with_consent')).toMatchObject(refused);
    const third = await givenUser(realm);
    await consents(realm, third);
    expect(await change(realm, owner, third, { role: roles.owner })).toMatchObject({ status: 200 });
    expect(await asked(realm, admin, 'full_with_consent')).toMatchObject(granted);
    expect(await change(realm, owner, third, { role: roles.member })).toMatchObject({ status: 200 });
    expect(await asked(realm, admin, 'full_with_consent')).toMatchObject(refused);
    await consents(realm, owner);
    expect(await asked(realm, admin, 'full_with_consent')).toMatchObject(granted);
  });

  test('exports all private data only if the organization allows it (4.8/owner_full_content_access)', async () => {
    const { realm } = await exporting();
    const { owner, admin } = realm.people;
    await consents(realm, owner);
    expect(await asked(realm, owner, 'full_without_consent')).toMatchObject(refused);
    await givenRealmSettings(realm, { owner_full_content_access: true });
    expect(await asked(realm, admin, 'full_without_consent')).toMatchObject(granted);
  });

  test('is refused if its permission is withdrawn concurrently', async () => {
    const { realm } = await exporting({ owner_full_content_access: true });
    const { owner, admin } = realm.people;
    await consents(realm, owner);
    const withdrawn = realm.container(justBefore(() => consents(realm, owner, false)));
    expect(await asked(withdrawn, admin, 'full_with_consent')).toMatchObject(refused);
    const closed = realm.container(
      justBefore(() => givenRealmSettings(realm, { owner_full_content_access: false })),
    );
    expect(await asked(closed, admin, 'full_without_consent')).toMatchObject(refused);
    expect(await listed(realm)).toEqual([]);
  });

  test.each(['public', 'full_with_consent', 'full_without_consent'])(
    'takes at most three round trips for %s, and two in a warm container',
    async (type) => {
      const { realm } = await exporting({ owner_full_content_access: true });
      await consents(realm, realm.people.owner);
      const container = realm.container();
      await asked(container, realm.people.admin, type);
      expect(container.meter.roundTrips).toBeLessThanOrEqual(3);
      container.meter.reset();
      await asked(container, realm.people.admin, type);
      expect(container.meter.roundTrips).toBeLessThanOrEqual(2);
    },
  );
});

describe('a request that dies', () => {
  /** Messages that wait for their time. */
  async function waiting(url: string): Promise<number> {
    const client = new SQSClient({ endpoint: inject('sqsS3'), region: 'us-east-1' });
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
    );
    return Number(Attributes?.ApproximateNumberOfMessagesDelayed);
  }

  test('before its commit leaves a queue message without effect', async () => {
    const { realm, work } = await exporting();
    const broken = realm.container((send) => async (command) => {
      if (/TransactWrite/.test(command.constructor.name)) throw new Error('the function ended');
      return send(command);
    });
    expect((await asked(broken, realm.people.admin)).status).toBe(500);
    expect(await waiting(work.url)).toBe(1);
    expect(await listed(realm)).toEqual([]);
    const job = { realm: realm.realm, token: realm.outside.uuid() };
    expect(await delivered(workerOf(realm), job)).toBe(true);
    expect(await work.receive()).toEqual([]);
  });

  test('after its commit is processed a minute later', async () => {
    const { realm, work } = await exporting();
    let sends = 0;
    const store = await startFaultyStore(inject('sqsS3'), () => (++sends > 1 ? 'refuse' : 'pass'));
    const queue = work.url.replace(inject('sqsS3'), store.url);
    const half = realm.container(undefined, {
      environment: { AWS_ENDPOINT_URL_SQS: store.url, QUEUE_EXPORT_URL: queue },
    });
    const { status, body } = await asked(half, realm.people.admin);
    expect(status).toBe(200);
    store.close();
    expect(half.reports).toMatchObject([{ level: 'WARN', exportId: body.id }]);
    expect(await work.receive()).toEqual([]);
    expect(await waiting(work.url)).toBe(1);
    expect((await listed(realm))[0]).toMatchObject({ id: body.id, pending: true });
  });

  test('fails without a change if the queue does not accept its message', async () => {
    const realm = await newRealm();
    // There is no queue.
    expect((await realm.call(create, realm.people.admin)).status).toBe(500);
    expect(await listed(realm)).toEqual([]);
  });
});
