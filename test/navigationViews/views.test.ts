import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as add } from '../../functions/navigationViews/add.ts';
import { handler as list } from '../../functions/navigationViews/list.ts';
import { handler as remove } from '../../functions/navigationViews/remove.ts';
import { handler as update } from '../../functions/navigationViews/update.ts';
import { gatewayBody } from '../../infra/gateway-body.ts';
import { RouteTable } from '../../infra/local/route-table.ts';
import { MAX_VIEWS } from '../../shared/domain/navigation/view.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile } from '../support/faults.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const ALERTS = { fragment: 'narrow/is/alerted', is_pinned: true, name: 'Alerts' };

const at = (fragment: string) => ({ path: { fragment } });

async function added(realm: TestRealm, as: Person, given: object): Promise<void> {
  const { status, body } = await realm.call(add, as, { is_pinned: true, ...given });
  expect([status, body.msg]).toEqual([200, '']);
}

const listed = async (realm: TestRealm, as: Person) => (await realm.call(list, as)).body.navigation_views;

describe('navigation views (companion facts 2.5)', () => {
  it('can be added, changed, deleted and registered, with events only for their user', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const client = await givenClient(realm, member);
    const other = await givenClient(realm, guest);
    await added(realm, member, { ...ALERTS, name: ' Alerts ', fragment: ' narrow/is/alerted' });
    await added(realm, member, { fragment: 'inbox', is_pinned: false });
    const inbox = { fragment: 'inbox', is_pinned: false, name: null };
    expect(await listed(realm, member)).toEqual([ALERTS, inbox]);
    expect(await listed(realm, guest)).toEqual([]);
    const asked = { fetch_event_types: ['navigation_views'] };
    expect((await realm.call(register, member, asked)).body.navigation_views).toEqual([ALERTS, inbox]);
    await realm.call(update, member, { is_pinned: false }, at(ALERTS.fragment));
    await realm.call(update, member, { name: 'Words' }, at(ALERTS.fragment));
    await realm.call(update, member, {}, at(ALERTS.fragment));
    expect((await realm.call(remove, member, {}, at('inbox'))).status).toBe(200);
    expect(await listed(realm, member)).toEqual([{ ...ALERTS, is_pinned: false, name: 'Words' }]);
    const event = { type: 'navigation_view', id: expect.any(Number) };
    expect(await client.poll()).toEqual([
      { ...event, op: 'add', navigation_view: ALERTS },
      { ...event, op: 'add', navigation_view: inbox },
      { ...event, op: 'update', fragment: ALERTS.fragment, data: { is_pinned: false } },
      { ...event, op: 'update', fragment: ALERTS.fragment, data: { name: 'Words' } },
      { ...event, op: 'remove', fragment: 'inbox' },
    ]);
    expect(await other.poll()).toEqual([]);
  });

  it.each([
    ['no fragment', { is_pinned: true, name: 'x' }, 'REQUEST_VARIABLE_MISSING'],
    ['no is_pinned', { fragment: 'x', name: 'x' }, 'REQUEST_VARIABLE_MISSING'],
    ['a blank fragment', { ...ALERTS, fragment: ' ' }, 'BAD_REQUEST'],
    ['a blank name', { fragment: 'x', is_pinned: true, name: ' ' }, 'BAD_REQUEST'],
    ['a fragment that is too long', { ...ALERTS, fragment: 'x'.repeat(501), name: 'x' }, 'BAD_REQUEST'],
    ['a name that is too long', { fragment: 'x', is_pinned: true, name: 'x'.repeat(101) }, 'BAD_REQUEST'],
    ['a fragment that is there', { ...ALERTS, name: 'Other' }, 'BAD_REQUEST'],
    ['a name that is there', { ...ALERTS, fragment: 'narrow/is/followed' }, 'BAD_REQUEST'],
    ['no name', { fragment: 'narrow/is/followed', is_pinned: true }, 'BAD_REQUEST'],
    ['a name for a built-in view', { fragment: 'feed', is_pinned: true, name: 'x' }, 'BAD_REQUEST'],
  ])('are refused with %s, and nothing changes', async (_, given, code) => {
    const realm = await newRealm();
    const { member } = realm.people;
    await added(realm, member, ALERTS);
    const before = await lastNumber(realm);
    const { status, body } = await realm.call(add, member, given);
    expect([status, body.code]).toEqual([400, code]);
    expect(await loggedAfter(realm, before)).toEqual([]);
    expect(await listed(realm, member)).toEqual([ALERTS]);
  });

  it.each([
    ['a blank name', ALERTS.fragment, ' '],
    ['a name that is there', ALERTS.fragment, 'Other'],
    ['a name for a built-in view', 'inbox', 'x'],
  ])('cannot be changed to %s, and nothing changes', async (_, fragment, name) => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (const given of [ALERTS, { fragment: 'x', name: 'Other' }, { fragment: 'inbox' }])
      await added(realm, member, given);
    const before = await lastNumber(realm);
    const { status, body } = await realm.call(update, member, { name }, at(fragment));
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(await loggedAfter(realm, before)).toEqual([]);
    expect((await realm.call(update, member, { name: 'Alerts' }, at(ALERTS.fragment))).status).toBe(200);
  });

  it('get a 404 if they are unknown or belong to another user', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await added(realm, member, ALERTS);
    for (const unknown of [ALERTS.fragment, 'inbox', 'a/b']) {
      for (const handler of [update, remove]) {
        const { status, body } = await realm.call(handler, admin, { is_pinned: true }, at(unknown));
        expect([status, body.code]).toEqual([404, 'BAD_REQUEST']);
      }
    }
    expect(await listed(realm, member)).toEqual([ALERTS]);
  });

  it('are added once for two concurrent requests with the same name', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (const name of ['first', 'second']) {
      const slow = realm.container(meanwhile(() => added(realm, member, { fragment: `${name}/a`, name })));
      const given = { fragment: `${name}/b`, name, is_pinned: true };
      expect((await slow.call(add, member, given)).status).toBe(400);
    }
    expect(await listed(realm, member)).toHaveLength(2);
  });

  it('are limited to 100 for each user (docs/LIMITS.md)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (let i = 0; i < MAX_VIEWS; i++) await added(realm, member, { fragment: `a/${i}`, name: `${i}` });
    const { status, body } = await realm.call(add, member, { fragment: 'inbox', is_pinned: true });
    expect([status, body.msg]).toEqual([400, 'You have 100 navigation views: delete one of them first.']);
  });

  it('are named in the path by their fragment, plain or percent-encoded', async () => {
    const target = { uri: '', credentials: '' };
    const { paths } = gatewayBody('test', endpoints, () => target);
    const path = '/api/v1/navigation_views/{fragment+}';
    expect(paths[path]).toHaveProperty('patch');
    const routes = new RouteTable([{ method: 'PATCH', path, integration: undefined as never }]);
    const realm = await newRealm();
    const { member } = realm.people;
    await added(realm, member, ALERTS);
    for (const sent of ['narrow/is/alerted', 'narrow%2Fis%2Falerted']) {
      const match = routes.match('PATCH', `/api/v1/navigation_views/${sent}`);
      expect(match?.pathParameters).toEqual({ fragment: sent });
      const call = at(decodeURIComponent(sent));
      expect((await realm.call(update, member, { is_pinned: true }, call)).status).toBe(200);
    }
  });
});
