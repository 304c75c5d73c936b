import { describe, expect, test } from 'vitest';
import { handler as deleteExport } from '../../functions/exports/delete.ts';
import { handler as listConsents } from '../../functions/exports/listConsents.ts';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { exportAt } from '../../shared/domain/export/realm-export.ts';
import { endExport } from '../../shared/domain/export/state.ts';
import { out } from '../support/accounts.ts';
import { givenClient } from '../support/event-queue.ts';
import { archiveOf, delivered, givenExport, listed, workerOf } from '../support/export-request.ts';
import { givenBot, givenSettings, givenUser } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { justBefore } from '../support/retention-run.ts';

const refused = { status: 400, body: { result: 'error', code: 'BAD_REQUEST' } };
const unauthorized = { status: 400, body: { code: 'UNAUTHORIZED_PRINCIPAL' } };

const remove = (realm: TestRealm, as: Person, export_id: number): Promise<Reply> =>
  realm.call(deleteExport, as, {}, { path: { export_id } });

describe('GET /export/realm (wire facts 10)', () => {
  test('lists each export with its outcome', async () => {
    const realm = await newRealm();
    const asked = realm.outside.now() / 1000;
    const pending = await givenExport(realm, 'public');
    const [done, gone] = [await givenExport(realm, 'public'), await givenExport(realm, 'full_with_consent')];
    for (const job of [done, gone]) await delivered(workerOf(realm), job);
    expect(await remove(realm, realm.people.admin, gone.id)).toMatchObject({ status: 200 });
    const failed = await givenExport(realm, 'full_without_consent');
    await endExport(realm.outside, failed, 0, 'failed');

    const nothing = { deleted_timestamp: null, failed_timestamp: null, export_url: null, pending: false };
    const base = { acting_user_id: realm.people.owner.userId, export_time: expect.any(Number) };
    const exports = (await listed(realm, realm.people.admin)).reverse();
    expect(exports).toEqual([
      { ...base, ...nothing, id: pending.id, export_type: 'public', pending: true, progress: 0 },
      {
        ...base,
        ...nothing,
        id: done.id,
        export_type: 'public',
        export_url: expect.stringMatching(/^http/),
        progress: 100,
      },
      {
        ...base,
        ...nothing,
        id: gone.id,
        export_type: 'full_with_consent',
        deleted_timestamp: expect.any(Number),
        progress: 100,
      },
      {
        ...base,
        ...nothing,
        id: failed.id,
        export_type: 'full_without_consent',
        failed_timestamp: expect.any(Number),
        progress: 0,
      },
    ]);
    const times = [exports[0]?.export_time, exports[2]?.deleted_timestamp, exports[3]?.failed_timestamp];
    for (const time of times as number[]) expect(Math.abs(time - asked)).toBeLessThan(60);
  });

  test('is allowed only to administrators, and takes at most two round trips', async () => {
    const realm = await newRealm();
    await givenExport(realm, 'public');
    for (const person of [realm.people.moderator, realm.people.member]) {
      await expect(listed(realm, person)).rejects.toThrow();
    }
    const container = realm.container();
    for (let i = 0; i < 2; i++) {
      container.meter.reset();
      await listed(container, realm.people.admin);
      expect(container.meter.roundTrips).toBeLessThanOrEqual(2);
    }
  });
});

describe('an archive', () => {
  const DAY = 86_400_000;

  test('is kept for 30 days, and then listed as deleted, also in events', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const job = await givenExport(realm, 'public');
    await delivered(workerOf(realm), job);
    const [before] = await listed(realm);
    realm.pass(30 * DAY - 60_000);
    expect(await listed(realm)).toMatchObject([{ export_url: expect.any(String), deleted_timestamp: null }]);
    realm.pass(120_000);
    const [after] = await listed(realm);
    expect(after).toMatchObject({ id: job.id, export_url: null, pending: false, progress: 100 });
    expect(after?.deleted_timestamp).toBeCloseTo(Number(before?.export_time) + 30 * 86_400, -2);
    expect(await remove(realm, admin, job.id)).toMatchObject({
      status: 400,
      body: { msg: 'The export has already been deleted.' },
    });
    const client = await givenClient(realm, admin, { event_types: ['realm_export'] });
    await givenExport(realm, 'public');
    const [event] = await client.poll();
    expect(event.exports[0]).toMatchObject({ id: job.id, export_url: null });
  });

  test('gets no link if it expires while the list is read', () => {
    const one = { exportId: 1, token: 't', type: 'public', actingUserId: 1, requested: 0, ended: 5 } as const;
    const held = { claim: 0, leased: 0, tries: 0, part: 1 };
    const at = (state: 'succeeded' | 'failed' | 'pending', now: number) =>
      exportAt({ ...one, ...held, state }, now).state;
    expect(at('succeeded', 30 * DAY + 4)).toBe('succeeded');
    expect(at('succeeded', 30 * DAY + 5)).toBe('deleted');
    for (const state of ['failed', 'pending'] as const) expect(at(state, 90 * DAY)).toBe(state);
  });
});

describe('DELETE /export/realm/{export_id} (wire facts 10)', () => {
  test('deletes the archive once', async () => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const job = await givenExport(realm, 'public');
    await delivered(workerOf(realm), job);
    const [one] = await listed(realm);
    const replies = await Promise.all([remove(realm, admin, job.id), remove(realm, owner, job.id)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await archiveOf(realm, job)).toBeUndefined();
    expect((await fetch(one?.export_url ?? '')).status).toBe(404);
    expect(await listed(realm)).toMatchObject([{ id: job.id, export_url: null, pending: false }]);
  });

  test('refuses an export without an archive, with a message for each reason', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const [pending, failed, gone] = [
      await givenExport(realm, 'public'),
      await givenExport(realm, 'public'),
      await givenExport(realm, 'public'),
    ];
    await endExport(realm.outside, failed, 0, 'failed');
    await delivered(workerOf(realm), gone);
    await remove(realm, admin, gone.id);
    const replies: Reply[] = [];
    for (const id of [pending.id, failed.id, gone.id, 5]) replies.push(await remove(realm, admin, id));
    for (const reply of replies) expect(reply).toMatchObject(refused);
    expect(new Set(replies.map(({ body }) => body.msg)).size).toBe(4);
    expect(await remove(realm, realm.people.moderator, pending.id)).toMatchObject(unauthorized);
  });

  test('marks an export as deleted only after its archive is deleted', async () => {
    const realm = await newRealm();
    const job = await givenExport(realm, 'public');
    await delivered(workerOf(realm), job);
    const dying = realm.container(
      justBefore(async () => {
        throw new Error('the function ended');
      }),
    );
    expect(await remove(dying, realm.people.admin, job.id)).toMatchObject({ status: 500 });
    expect(await listed(realm)).toMatchObject([{ export_url: expect.any(String) }]);
    expect(await remove(realm, realm.people.admin, job.id)).toMatchObject({ status: 200 });
    expect(await archiveOf(realm, job)).toBeUndefined();
  });
});

describe('GET /export/realm/consents (wire facts 10)', () => {
  test('lists the consent of each active person', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const [left, bot] = [await givenUser(realm), await givenBot(realm, member)];
    for (const person of [left, bot]) await givenSettings(realm, person, { allow_private_data_export: true });
    await out(realm, owner, left);
    await realm.call(updateSettings, member, { allow_private_data_export: true });
    const { body } = await realm.call(listConsents, admin);
    const people = Object.entries(realm.people).filter(([name]) => name !== 'bot');
    expect(body.export_consents).toEqual(
      people
        .map(([, { userId }]) => ({ user_id: userId, consented: userId === member.userId }))
        .sort((a, b) => a.user_id - b.user_id),
    );
    expect(await realm.call(listConsents, member)).toMatchObject(unauthorized);
    const container = realm.container();
    await container.call(listConsents, admin);
    container.meter.reset();
    await container.call(listConsents, admin);
    expect(container.meter.roundTrips).toBeLessThanOrEqual(2);
  });
});

describe('realm_export events (wire facts 10)', () => {
  test('send administrators all exports when one of them changes', async () => {
    const realm = await newRealm();
    const { admin, moderator } = realm.people;
    const types = { event_types: ['realm_export', 'realm_export_consent'], fetch_event_types: [] };
    const [client, other] = [
      await givenClient(realm, admin, types),
      await givenClient(realm, moderator, types),
    ];
    const job = await givenExport(realm, 'public');
    const event = (one: object) => ({ type: 'realm_export', exports: [{ id: job.id, ...one }] });
    expect(await client.poll()).toMatchObject([event({ pending: true, export_url: null })]);
    await delivered(workerOf(realm), job);
    const [finished] = await client.poll();
    expect(finished).toMatchObject(event({ pending: false }));
    expect((await fetch(finished.exports[0].export_url)).status).toBe(200);
    await remove(realm, admin, job.id);
    expect(await client.poll()).toMatchObject([event({ deleted_timestamp: expect.any(Number) })]);
    const failing = await givenExport(realm, 'public');
    await endExport(realm.outside, failing, 0, 'failed');
    // Events have the state at the time of the poll, so both have the same.
    const failed = { id: failing.id, pending: false, failed_timestamp: expect.any(Number) };
    const events = await client.poll();
    expect(events.length).toBe(2);
    for (const { exports } of events) expect(exports).toMatchObject([{ id: job.id }, failed]);

    await realm.call(updateSettings, moderator, { allow_private_data_export: true });
    expect(await client.poll()).toMatchObject([
      { type: 'realm_export_consent', user_id: moderator.userId, consented: true },
    ]);
    expect(await other.poll()).toEqual([]);
  });
});
