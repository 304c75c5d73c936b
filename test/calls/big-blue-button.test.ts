import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handler as create } from '../../functions/calls/createBigBlueButton.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as join } from '../../functions/pages/joinCall.ts';
import { Browser } from '../support/browser.ts';
import { type Provider, startProvider } from '../support/call-provider.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const CREATE = '/bigbluebutton/api/create';
const SECRET = 'the big-blue-button-secret of the tests';

const xml = (response: ServerResponse, code: string): void =>
  void response
    .writeHead(200, { 'content-type': 'text/xml' })
    .end(`<response><returncode>${code}</returncode><createTime>1700000000123</createTime></response>`);

let provider: Provider;
let realm: TestRealm;
beforeEach(async () => {
  provider = await startProvider();
  provider.behave(CREATE, (_, response) => xml(response, 'SUCCESS'));
  const environment = { BIG_BLUE_BUTTON_URL: `${provider.address}/bigbluebutton/` };
  realm = (await newRealm()).container(undefined, { environment });
});
afterEach(() => provider.stop());

async function link(as: Person, given: object = {}): Promise<string> {
  const { body } = await realm.call(create, as, { meeting_name: 'Lunch & tea', ...given });
  expect(body).toMatchObject({
    result: 'success',
    url: expect.stringMatching(/^\/calls\/bigbluebutton\/join\?/),
  });
  return new URL(body.url, 'https://x').searchParams.get('bigbluebutton') ?? '';
}

const opened = (as: Person | undefined, bigbluebutton: string, within = realm) => {
  const browser = new Browser(within);
  if (as) browser.signIn(as);
  return browser.open(join, { query: { bigbluebutton }, realm: within });
};

/** The call of an address and its parameters; fails if its checksum is not right. */
function calledIn(address: string) {
  const { pathname, search } = new URL(address);
  const [query = '', checksum] = search.slice(1).split('&checksum=');
  const call = pathname.split('/').at(-1) ?? '';
  expect(checksum).toBe(createHash('sha256').update(`${call}${query}${SECRET}`).digest('hex'));
  return [call, Object.fromEntries(new URLSearchParams(query))] as const;
}

describe('video calls by BigBlueButton (companion facts 4.7)', () => {
  it('lead users of the organization to a meeting, which the user who made the link moderates', async () => {
    const { member, guest } = realm.people;
    const given = await link(member, { voice_only: true });
    expect(provider.heard).toEqual([]);
    const [own, other] = [await opened(member, given), await opened(guest, given)];
    expect([own.status, other.status]).toEqual([302, 302]);
    const meetingID = expect.stringMatching(/^zulip-\d{12}$/);
    const [call, made] = calledIn(`${provider.address}${provider.heard[0]?.path}`);
    expect([call, made]).toEqual([
      'create',
      { meetingID, name: 'Lunch & tea', lockSettingsDisableCam: 'true' },
    ]);
    const visits = [own, other].map(({ headers }) => calledIn(String(headers.Location)));
    const joining = { meetingID: made.meetingID, createTime: '1700000000123' };
    expect(visits).toEqual([
      ['join', { ...joining, role: 'MODERATOR', fullName: 'Max Member' }],
      ['join', { ...joining, role: 'VIEWER', fullName: 'Gus Guest' }],
    ]);
  });

  it('need a session', async () => {
    const reply = await opened(undefined, await link(realm.people.member));
    expect([reply.status, String(reply.headers.Location)]).toEqual([
      303,
      expect.stringMatching(/^\/login\/\?next=/),
    ]);
    expect(provider.heard).toEqual([]);
  });

  it('are refused for a link that was changed, or made for another organization', async () => {
    const { member } = realm.people;
    const given = await link(member);
    const [text = '', signature] = given.split('.');
    const other = (await newRealm()).container(undefined, { environment: realm.outside.environment });
    const forged = Buffer.from(Buffer.from(text, 'base64url').toString().replace('Lunch', 'Other'));
    for (const bad of ['', 'x', `${text}.x`, `${forged.toString('base64url')}.${signature}`]) {
      expect((await opened(member, bad)).status).toBe(400);
    }
    expect((await opened(other.people.member, given, other)).status).toBe(400);
    expect(provider.heard).toEqual([]);
  });

  it.each([
    ['refuses', (_: unknown, response: ServerResponse) => xml(response, 'FAILED')],
    ['fails', (_: unknown, response: ServerResponse) => void response.writeHead(500).end('broken')],
    ['breaks off', (_: unknown, response: ServerResponse) => void response.destroy()],
  ])('are refused while the server %s', async (_, answer) => {
    const { member } = realm.people;
    const given = await link(member);
    provider.behave(CREATE, answer);
    expect((await opened(member, given)).status).toBe(400);
  });

  it('are offered only where the operator has set a server up', async () => {
    const asked = { fetch_event_types: ['realm'] };
    const offered = async (within: TestRealm) =>
      (await within.call(register, within.people.member, asked)).body.realm_available_video_chat_providers;
    expect(await offered(realm)).toMatchObject({ big_blue_button: { id: 4, name: 'BigBlueButton' } });
    const bare = await newRealm();
    expect(await offered(bare)).not.toHaveProperty('big_blue_button');
    const { body } = await bare.call(create, bare.people.member, { meeting_name: 'Lunch' });
    const given = new URL(body.url, 'https://x').searchParams.get('bigbluebutton') ?? '';
    expect((await opened(bare.people.member, given, bare)).status).toBe(400);
  });

  it.each([
    ['a bot', 'bot', { meeting_name: 'Lunch' }, 'BAD_REQUEST'],
    ['no name', 'member', {}, 'REQUEST_VARIABLE_MISSING'],
    ['a blank name', 'member', { meeting_name: ' ' }, 'BAD_REQUEST'],
    ['a name that is too long', 'member', { meeting_name: 'x'.repeat(301) }, 'BAD_REQUEST'],
  ] as const)('are refused for %s', async (_, as, given, code) => {
    const { status, body } = await realm.call(create, realm.people[as], given);
    expect([status, body.code]).toEqual([400, code]);
  });
});
