import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { key } from '../../shared/table/keys.ts';
import { call, consented, realmWith } from '../support/call-consent.ts';
import { type Provider, startProvider } from '../support/call-provider.ts';
import { givenClient } from '../support/event-queue.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

let provider: Provider;
let realm: TestRealm;
beforeEach(async () => {
  provider = await startProvider();
  realm = await realmWith(provider);
});
afterEach(() => provider.stop());

const NO_TOKEN = [400, 'INVALID_VIDEO_CALL_PROVIDER_TOKEN'];
const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

describe('POST /calls/{provider}/create (4.12)', () => {
  test.each([
    [
      'zoom',
      '/v2/users/me/meetings',
      { settings: { host_video: true, participant_video: true }, default_password: true },
    ],
    [
      'webex',
      '/v1/meetings',
      {
        title: 'Test',
        password: expect.stringMatching(/^[a-z]{5}$/),
        start: expect.any(String),
        end: expect.any(String),
        enabledAutoRecordMeeting: false,
        allowAnyUserToBeCoHost: false,
      },
    ],
  ])(
    'makes a call by %s in the caller’s own account (wire facts 13.3) (4.12/url, 4.12/provider, 4.12/parameters)',
    async (name, path, body) => {
      await consented(realm, realm.people.member, name);
      expect((await call(realm, realm.people.member, name)).body).toEqual({
        result: 'success',
        msg: '',
        url: 'https://meet.example.com/j/1?pwd=x',
      });
      const request = provider.heard.at(-1);
      expect([request?.path, request?.authorization]).toEqual([path, 'Bearer access-1']);
      const sent = JSON.parse(request?.body ?? '');
      expect(sent).toEqual(body);
      if (sent.start) expect(Date.parse(sent.end) - Date.parse(sent.start)).toBe(40 * 60_000);
    },
  );

  test('leaves the cameras off if the caller asks for an audio call (wire facts 13.1)', async () => {
    await consented(realm, realm.people.member);
    await call(realm, realm.people.member, 'zoom', { is_video_call: false });
    expect(JSON.parse(provider.heard.at(-1)?.body ?? '').settings).toEqual({
      host_video: false,
      participant_video: false,
    });
    expect(outcome(await call(realm, realm.people.member, 'zoom', { is_video_call: 'no' }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
  });

  test('answers BAD_REQUEST for a provider that is unknown or not configured (wire facts 13.2) (4.12/configured)', async () => {
    const bare = await newRealm();
    for (const name of ['jitsi', 'Zoom', 'toString', 'provider', 'x'.repeat(200)]) {
      expect(outcome(await call(realm, realm.people.member, name)), name).toEqual([400, 'BAD_REQUEST']);
    }
    const { status, body } = await call(bare, bare.people.member);
    expect([status, body.msg]).toEqual([400, 'Video calls by zoom are not set up on this server.']);
  });

  test('needs the caller’s own consent (4.12/token)', async () => {
    await consented(realm, realm.people.admin);
    expect(outcome(await call(realm, realm.people.member))).toEqual(NO_TOKEN);
    expect(outcome(await call(realm, realm.people.admin, 'webex'))).toEqual(NO_TOKEN);
    expect((await call(realm, realm.people.admin)).status).toBe(200);
  });

  test('erases a token that the provider rejects, with an event (wire facts 13.2) (4.12/has_provider_token)', async () => {
    const { member } = realm.people;
    await consented(realm, member);
    const client = await givenClient(realm, member, { fetch_event_types: ['video_calls'] });
    expect(client.state).toMatchObject({ has_zoom_token: true, has_webex_token: false });
    provider.revoke();
    expect(outcome(await call(realm, member))).toEqual(NO_TOKEN);
    expect(await client.poll()).toEqual([{ id: expect.any(Number), type: 'has_zoom_token', value: false }]);
    expect(outcome(await call(realm, member))).toEqual(NO_TOKEN);
    expect(
      (await givenClient(realm, member, { fetch_event_types: ['video_calls'] })).state.has_zoom_token,
    ).toBe(false);
  });

  test.each<[string, Parameters<Provider['behave']>[1]]>([
    ['an error', (_, response) => response.writeHead(500).end('{}')],
    ['a refusal that is not about the token', (_, response) => response.writeHead(403).end('{}')],
    ['HTML', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['half an answer', (_, response) => response.writeHead(200, { 'content-length': '90' }).write('{"join_')],
    ['a redirection', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end()],
    ['a flood', (_, response) => response.writeHead(200).end(`{"join_url":"${'x'.repeat(400_000)}"}`)],
    ['no address', (_, response) => response.writeHead(200).end('{"join_url":null}')],
    [
      'an address that is none',
      (_, response) => response.writeHead(200).end('{"join_url":"javascript:alert(1)"}'),
    ],
    ['an answer that is no object', (_, response) => response.writeHead(200).end('null')],
    ['a connection that breaks', (_, response) => response.destroy()],
  ])('answers BAD_REQUEST when the provider gives %s, and keeps the token', async (_, answer) => {
    await consented(realm, realm.people.member);
    provider.behave('/v2/users/me/meetings', (request, response) => {
      answer?.(request, response);
      setTimeout(() => response.destroy(), 50);
    });
    const reply = await call(realm, realm.people.member);
    expect(outcome(reply)).toEqual([400, 'BAD_REQUEST']);
    expect(reply.body.msg).toBe('zoom did not answer properly. Please try again later.');
    provider.behave('/v2/users/me/meetings');
    expect((await call(realm, realm.people.member)).status).toBe(200);
  });

  test('waits at most five seconds for a provider that hangs (wire facts 2)', async () => {
    await consented(realm, realm.people.member);
    provider.behave('/v2/users/me/meetings', () => {});
    const started = performance.now();
    expect(outcome(await call(realm, realm.people.member))).toEqual([400, 'BAD_REQUEST']);
    expect(performance.now() - started).toBeGreaterThan(4_500);
  });
});

describe('a token that is about to expire', () => {
  const HOUR = 3_600_000;

  test('is refreshed and replaced, by the rules of each provider (wire facts 13.3)', async () => {
    for (const name of ['zoom', 'webex']) {
      await consented(realm, realm.people.member, name);
      realm.pass(HOUR);
      provider.heard.length = 0;
      expect((await call(realm, realm.people.member, name)).status).toBe(200);
      expect((await call(realm, realm.people.member, name)).status).toBe(200);
      const [refresh, ...others] = provider.heard;
      const form = Object.fromEntries(new URLSearchParams(refresh?.body));
      const basic = Buffer.from(refresh?.authorization?.replace('Basic ', '') ?? '', 'base64').toString();
      expect(form).toMatchObject({ grant_type: 'refresh_token' });
      expect(name === 'zoom' ? basic : `${form.client_id}:${form.client_secret}`).toContain(`our-${name}:`);
      expect(others.map(({ path }) => path)).toEqual(
        Array(2).fill(name === 'zoom' ? '/v2/users/me/meetings' : '/v1/meetings'),
      );
    }
  });

  test('is refreshed once by two concurrent calls, and both succeed', async () => {
    await consented(realm, realm.people.member);
    realm.pass(HOUR);
    provider.heard.length = 0;
    const same = { environment: realm.outside.environment };
    const [one, two] = [realm.container(undefined, same), realm.container(undefined, same)];
    const replies = await Promise.all([call(one, realm.people.member), call(two, realm.people.member)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(provider.heard.filter(({ path }) => path === '/oauth/token')).toHaveLength(1);
  });

  test('is refreshed by the next call if an earlier refresh died', async () => {
    const { member } = realm.people;
    await consented(realm, member);
    realm.pass(HOUR);
    const at = key('callToken', { realm: realm.realm, userId: member.userId, provider: 'zoom' });
    await realm.outside.table.update(at, { set: { refreshing: realm.outside.now() + 700 } });
    expect((await call(realm, member)).status).toBe(200);
  });

  test('is erased when the provider refuses to refresh it (wire facts 13.2)', async () => {
    await consented(realm, realm.people.member);
    realm.pass(HOUR);
    provider.revoke();
    expect(outcome(await call(realm, realm.people.member))).toEqual(NO_TOKEN);
    provider.heard.length = 0;
    expect(outcome(await call(realm, realm.people.member))).toEqual(NO_TOKEN);
    expect(provider.heard).toEqual([]);
  });

  test.each([
    ['is busy', 429],
    ['is broken', 500],
  ])('stays when the provider %s, and is refreshed by the next call', async (_, status) => {
    await consented(realm, realm.people.member);
    realm.pass(HOUR);
    provider.behave('/oauth/token', (_request, response) =>
      response.writeHead(status).end('{"error":"later"}'),
    );
    expect(outcome(await call(realm, realm.people.member))).toEqual([400, 'BAD_REQUEST']);
    provider.behave('/oauth/token');
    expect((await call(realm, realm.people.member)).status).toBe(200);
  });

  test('is not erased if a new consent has replaced it, and the new token is used', async () => {
    const { member } = realm.people;
    await consented(realm, member);
    provider.revoke();
    // While the old token is refused, the person consents once more.
    provider.behave('/v2/users/me/meetings', async (_, response) => {
      provider.behave('/v2/users/me/meetings');
      await consented(realm, member);
      response.writeHead(401).end('{}');
    });
    expect((await call(realm, member)).status).toBe(200);
  });

  test('is never stored or returned in clear', async () => {
    const { member } = realm.people;
    await consented(realm, member);
    const at = key('callToken', { realm: realm.realm, userId: member.userId, provider: 'zoom' });
    const stored = JSON.stringify(await realm.outside.table.get(at));
    provider.behave('/v2/users/me/meetings', (_, response) => response.writeHead(500).end('access-1'));
    const reply = await call(realm, member);
    for (const text of [stored, JSON.stringify(reply.body), JSON.stringify(realm.reports)]) {
      expect(text).not.toMatch(/access-|refresh-|of the tests/);
    }
    expect(Buffer.from(JSON.parse(stored).sealed, 'base64').toString('latin1')).not.toMatch(
      /access-|refresh-/,
    );
  });
});
