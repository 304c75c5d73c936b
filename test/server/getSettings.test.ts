import { describe, expect, it } from 'vitest';
import { handler } from '../../functions/server/getSettings.ts';
import { key } from '../../shared/table/keys.ts';
import { newRealm } from '../support/realm.ts';

describe('GET /server_settings', () => {
  it('identifies the server to a client without credentials (9/feature-level)', async () => {
    const { call, host } = await newRealm();
    const { status, body } = await call(
      handler,
      undefined,
      {},
      { headers: { 'x-forwarded-proto': 'https' } },
    );
    expect(status).toBe(200);
    expect(body).toEqual({
      result: 'success',
      msg: '',
      zulip_version: expect.stringMatching(/^\d+\.\d+/),
      zulip_feature_level: 500,
      zulip_merge_base: expect.any(String),
      push_notifications_enabled: false,
      is_incompatible: false,
      email_auth_enabled: true,
      require_email_format_usernames: true,
      realm_uri: `https://${host}`,
      realm_url: `https://${host}`,
      realm_name: 'Test',
      realm_icon: expect.stringMatching(/^https:\/\//),
      realm_description: '',
      realm_web_public_access_enabled: false,
      authentication_methods: expect.objectContaining({ password: true, email: true, dev: false }),
      external_authentication_methods: [],
    });
  });

  it('ignores credentials, and lists unknown parameters', async () => {
    const { call, people } = await newRealm();
    const wrong = { ...people.member, apiKey: 'wrong' };
    const { status, body } = await call(handler, wrong, {}, { query: { color: 'red' } });
    expect([status, body.ignored_parameters_unsupported]).toEqual([200, ['color']]);
  });

  it('is incompatible only with the test client ZulipInvalid (companion facts 3.13)', async () => {
    const { call } = await newRealm();
    const isIncompatible = async (userAgent: string) =>
      (await call(handler, undefined, {}, { headers: { 'user-agent': userAgent } })).body.is_incompatible;
    expect(await isIncompatible('ZulipInvalid/1.0')).toBe(true);
    expect(await isIncompatible('ZulipMobile/30.0')).toBe(false);
  });

  it('uses the address that the client used, with its port', async () => {
    const { call, host } = await newRealm();
    const { body } = await call(handler, undefined, {}, { headers: { host: `${host.toUpperCase()}:9991` } });
    expect(body.realm_url).toBe(`http://${host.toUpperCase()}:9991`);
  });

  it('renders the description without active HTML', async () => {
    const { call, outside, realm } = await newRealm();
    const description = '**Hello** <script>alert(1)</script>';
    await outside.table.update(key('realm', { realm }), { set: { description } });
    const { body } = await call(handler, undefined);
    expect(body.realm_description).toContain('<strong>Hello</strong>');
    expect(body.realm_description).not.toContain('<script');
  });

  it.each(['nowhere.test', '', 'a'.repeat(300), 'nowhere.test:80', '%00'])(
    'finds no organization at %j (companion facts 3.13)',
    async (host) => {
      const { call } = await newRealm();
      const { status, body } = await call(handler, undefined, {}, { headers: { host } });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );
});
