import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handler as register } from '../../functions/calls/register.ts';
import { handler as deactivateUser } from '../../functions/users/deactivate.ts';
import { begin, call, comeBack, realmWith } from '../support/call-consent.ts';
import { type Provider, startProvider } from '../support/call-provider.ts';
import { givenClient } from '../support/event-queue.ts';
import { newRealm, type Reply, type TestRealm } from '../support/realm.ts';

let provider: Provider;
let realm: TestRealm;
beforeEach(async () => {
  provider = await startProvider();
  realm = await realmWith(provider);
});
afterEach(() => provider.stop());

const begun = (as = realm.people.member, name = 'zoom') => begin(realm, as, name);

describe('GET /calls/{provider}/register (wire facts 13.1)', () => {
  test('redirects the caller to the provider’s consent page with all parameters (wire facts 13.3)', async () => {
    const { url: zoom } = await begun();
    expect(zoom.origin + zoom.pathname).toBe(`${provider.address}/oauth/authorize`);
    expect(Object.fromEntries(zoom.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'our-zoom',
      redirect_uri: `http://${realm.host}/calls/zoom/complete`,
      state: expect.stringMatching(/^[\w-]+$/),
    });
    const { url: webex } = await begun(undefined, 'webex');
    expect(webex.pathname).toBe('/v1/authorize');
    expect(webex.searchParams.get('scope')).toBe('meeting:schedules_read meeting:schedules_write');
  });

  test('needs credentials and a configured provider', async () => {
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
  test('stores the token of the consenting user, sends them an event, and closes the window (4.12/has_provider_token)', async () => {
    const { member } = realm.people;
    const client = await givenClient(realm, member, { fetch_event_types: ['video_calls'] });
    const reply = await comeBack(realm, await begun());
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

  test('accepts a state once, even in concurrent requests', async () => {
    const consent = await begun();
    const replies = await Promise.all([1, 2, 3].map(() => comeBack(realm, consent)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect((await comeBack(realm, consent)).status).toBe(400);
    expect(provider.heard).toHaveLength(1);
  });

  test('refuses a state that has expired, is for another provider, is changed or is forged', async () => {
    const [old, other, whole] = [await begun(), await begun(undefined, 'webex'), await begun()];
    const bytes = Buffer.from(whole.state, 'base64url');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    realm.pass(10 * 60_000 + 1_000);
    const fresh = await begun();
    for (const consent of [
      old,
      other,
      { ...whole, state: bytes.toString('base64url') },
      ...['AAAA', '', 'x'.repeat(5_000), `${fresh.state}x`.slice(1)].map((state) => ({ ...fresh, state })),
    ]) {
      const { status, body } = await comeBack(realm, consent);
      expect([status, body.code], consent.state).toEqual([400, 'BAD_REQUEST']);
    }
    expect(provider.heard).toEqual([]);
    expect((await comeBack(realm, fresh)).status).toBe(200);
  });

  test.each([
    ['no consent', { code: '', error: 'access_denied' }],
    ['a code that is not good', { code: 'bad' }],
  ])('answers BAD_REQUEST for %s, and stores nothing', async (_, query) => {
    const { status, body } = await comeBack(realm, await begun(), { query });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect((await call(realm, realm.people.member)).body.code).toBe('INVALID_VIDEO_CALL_PROVIDER_TOKEN');
  });

  test('answers BAD_REQUEST for an invalid token response', async () => {
    for (const answer of ['{}', '{"access_token":1,"token_type":"bearer"}', '<html>', '[]']) {
      provider.behave('/oauth/token', (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer),
      );
      const { status, body } = await comeBack(realm, await begun());
      expect([status, body.code], answer).toEqual([400, 'BAD_REQUEST']);
    }
  });

  test('refuses a user who was deactivated meanwhile', async () => {
    const consent = await begun();
    const { admin, member } = realm.people;
    expect((await realm.call(deactivateUser, admin, {}, { path: { user: member.userId } })).status).toBe(200);
    expect((await comeBack(realm, consent)).status).toBe(400);
    expect(provider.heard).toEqual([]);
  });
});

describe('the browser that completes a consent (RFC 6749, 10.12)', () => {
  const refused = async (reply: Promise<Reply>): Promise<void> => {
    const { status, body } = await reply;
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  };

  test('a state from an attacker has no effect in the browser of a victim', async () => {
    const attacker = await begun(realm.people.guest);
    await refused(comeBack(realm, { state: attacker.state }));
    // The victim is in the middle of a consent of their own, and keeps it.
    const victim = await begun();
    await refused(comeBack(realm, { state: attacker.state, cookie: victim.cookie }));
    await refused(comeBack(realm, { state: victim.state, cookie: attacker.cookie }));
    expect(provider.heard).toEqual([]);
    for (const person of [realm.people.guest, realm.people.member]) {
      expect((await call(realm, person)).body.code).toBe('INVALID_VIDEO_CALL_PROVIDER_TOKEN');
    }
    expect((await comeBack(realm, victim)).status).toBe(200);
    expect((await call(realm, realm.people.member)).status).toBe(200);
  });

  test('a state without its cookie is refused and stays usable', async () => {
    const consent = await begun();
    for (const cookie of [undefined, 'parlance-call-zoom=', 'parlance-call-zoom=x', 'parlance-call-zoom']) {
      await refused(comeBack(realm, { state: consent.state, ...(cookie !== undefined && { cookie }) }));
    }
    const [, secret = ''] = consent.cookie.split('=');
    for (const name of ['parlance-call-webex', 'call-zoom', '__Host-parlance-call-zoom']) {
      await refused(comeBack(realm, { state: consent.state, cookie: `${name}=${secret}` }));
    }
    expect((await comeBack(realm, consent)).status).toBe(200);
  });

  test('credentials do not replace the cookie', async () => {
    const consent = await begun();
    const { email, apiKey } = realm.people.member;
    const authorization = `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`;
    await refused(comeBack(realm, { state: consent.state }, { headers: { authorization } }));
  });

  test('the cookie is found among others, and is deleted after use', async () => {
    const consent = await begun();
    const reply = await comeBack(realm, { ...consent, cookie: `a=b; ${consent.cookie};c=d` });
    expect(reply.status).toBe(200);
    expect(reply.headers['Set-Cookie']).toBe(
      'parlance-call-zoom=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    );
  });

  test('two consents for different providers can run in one browser', async () => {
    const [zoom, webex] = [await begun(), await begun(undefined, 'webex')];
    const cookie = `${zoom.cookie}; ${webex.cookie}`;
    expect((await comeBack(realm, { state: zoom.state, cookie })).status).toBe(200);
    expect((await comeBack(realm, { state: webex.state, cookie }, { provider: 'webex' })).status).toBe(200);
  });

  test('with TLS the cookie has the __Host- prefix and is Secure', async () => {
    const proxied = { 'x-forwarded-host': realm.host, 'x-forwarded-proto': 'https' };
    const at = { path: { provider: 'zoom' }, headers: proxied };
    const { headers } = await realm.call(register, realm.people.member, {}, at);
    expect(headers['Set-Cookie']).toMatch(
      /^__Host-parlance-call-zoom=[\w-]{43}; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
    );
    const consent = await begin(realm, realm.people.member, 'zoom', proxied);
    const [, secret = ''] = consent.cookie.split('=');
    const tossed = { state: consent.state, cookie: `parlance-call-zoom=${secret}` };
    await refused(comeBack(realm, tossed, { headers: proxied }));
    expect((await comeBack(realm, consent, { headers: proxied })).status).toBe(200);
  });

  test('a page of another site cannot start a consent, with any credentials in its link', async () => {
    const from = (site: string) =>
      realm.call(
        register,
        realm.people.guest,
        {},
        {
          path: { provider: 'zoom' },
          headers: { 'sec-fetch-site': site },
        },
      );
    await refused(from('cross-site'));
    for (const site of ['none', 'same-origin', 'same-site']) expect((await from(site)).status).toBe(302);
  });

  test('the state does not contain the secret of the cookie', async () => {
    const { url, cookie } = await begun();
    const [, secret = ''] = cookie.split('=');
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(url.href).not.toContain(secret);
  });
});
