import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handler as register } from '../../functions/calls/register.ts';
import { handler as deactivateUser } from '../../functions/users/deactivate.ts';
import { givenClient } from '../events/queue.ts';
import { newRealm, type TestRealm } from '../realm.ts';
import { call, comeBack, realmWith, sentTo } from './consent.ts';
import { type Provider, startProvider } from './provider.ts';

let provider: Provider;
let realm: TestRealm;
beforeEach(async () => {
  provider = await startProvider();
  realm = await realmWith(provider);
});
afterEach(() => provider.stop());

const stateOf = async (as = realm.people.member, name = 'zoom') =>
  (await sentTo(realm, as, name)).searchParams.get('state') ?? '';

describe('GET /calls/{provider}/register (wire facts 13.1)', () => {
  test('sends the caller to the provider with everything that it needs to know (wire facts 13.3)', async () => {
    const zoom = await sentTo(realm, realm.people.member);
    expect(zoom.origin + zoom.pathname).toBe(`${provider.address}/oauth/authorize`);
    expect(Object.fromEntries(zoom.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'our-zoom',
      redirect_uri: `http://${realm.host}/calls/zoom/complete`,
      state: expect.stringMatching(/^[\w-]+$/),
    });
    const webex = await sentTo(realm, realm.people.member, 'webex');
    expect(webex.pathname).toBe('/v1/authorize');
    expect(webex.searchParams.get('scope')).toBe('meeting:schedules_read meeting:schedules_write');
  });

  test('is for those who say who they are, and for providers that are set up', async () => {
    expect((await realm.call(register, undefined, {}, { path: { provider: 'zoom' } })).status).toBe(401);
    const { member } = realm.people;
    expect((await realm.call(register, member, {}, { path: { provider: 'jitsi' } })).body.code).toBe(
      'BAD_REQUEST',
    );
    const bare = await newRealm();
    expect((await bare.call(register, bare.people.member, {}, { path: { provider: 'zoom' } })).status).toBe(
      400,
    );
  });
});

describe('GET /calls/{provider}/complete (wire facts 13.1)', () => {
  test('stores the token of whose consent it is, tells their clients, and closes the window (4.12/has_provider_token)', async () => {
    const { member } = realm.people;
    const client = await givenClient(realm, member, { fetch_event_types: ['video_calls'] });
    const reply = await comeBack(realm, await stateOf());
    expect(reply.status).toBe(200);
    expect(reply.headers['Content-Type']).toBe('text/html; charset=utf-8');
    expect(reply.headers['Content-Security-Policy']).toContain("default-src 'none'");
    expect(reply.body).toContain('window.close()');
    expect(await client.poll()).toEqual([{ id: expect.any(Number), type: 'has_zoom_token', value: true }]);
    expect((await call(realm, member)).status).toBe(200);
    const { body } = provider.heard[0] ?? { body: '' };
    expect(Object.fromEntries(new URLSearchParams(body))).toMatchObject({
      grant_type: 'authorization_code',
      code: 'good',
      redirect_uri: `http://${realm.host}/calls/zoom/complete`,
    });
  });

  test('takes three round trips', async () => {
    const state = await stateOf();
    realm.meter.reset();
    expect((await comeBack(realm, state)).status).toBe(200);
    expect(realm.meter.roundTrips).toBe(3);
  });

  test('takes a state once only, however many come back with it at once', async () => {
    const state = await stateOf();
    const replies = await Promise.all([1, 2, 3].map(() => comeBack(realm, state)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect((await comeBack(realm, state)).status).toBe(400);
    expect(provider.heard).toHaveLength(1);
  });

  test('refuses a state that is too old, for another provider, changed, or not ours', async () => {
    const [old, other, whole] = [await stateOf(), await stateOf(undefined, 'webex'), await stateOf()];
    const bytes = Buffer.from(whole, 'base64url');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    realm.pass(10 * 60_000 + 1_000);
    const fresh = await stateOf();
    for (const state of [
      old,
      other,
      bytes.toString('base64url'),
      'AAAA',
      '',
      'x'.repeat(5_000),
      `${fresh}x`.slice(1),
    ]) {
      const { status, body } = await comeBack(realm, state);
      expect([status, body.code], state).toEqual([400, 'BAD_REQUEST']);
    }
    expect(provider.heard).toEqual([]);
    expect((await comeBack(realm, fresh)).status).toBe(200);
  });

  test.each([
    ['no consent', { code: '', error: 'access_denied' }],
    ['a code that is not good', { code: 'bad' }],
  ])('answers BAD_REQUEST for %s, and stores nothing', async (_, query) => {
    const { status, body } = await comeBack(realm, await stateOf(), query);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect((await call(realm, realm.people.member)).body.code).toBe('INVALID_VIDEO_CALL_PROVIDER_TOKEN');
  });

  test('answers BAD_REQUEST for a provider that lies about the token', async () => {
    for (const answer of ['{}', '{"access_token":1,"token_type":"bearer"}', '<html>', '[]']) {
      provider.behave('/oauth/token', (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer),
      );
      const { status, body } = await comeBack(realm, await stateOf());
      expect([status, body.code], answer).toEqual([400, 'BAD_REQUEST']);
    }
  });

  test('gives nothing to somebody who was deactivated meanwhile', async () => {
    const state = await stateOf();
    const { admin, member } = realm.people;
    expect((await realm.call(deactivateUser, admin, {}, { path: { user: member.userId } })).status).toBe(200);
    expect((await comeBack(realm, state)).status).toBe(400);
    expect(provider.heard).toEqual([]);
  });
});
