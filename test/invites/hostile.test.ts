import { describe, expect, it } from 'vitest';
import { handler as invite } from '../../functions/invites/create.ts';
import { handler as listInvites } from '../../functions/invites/list.ts';
import { handler as resend } from '../../functions/invites/resend.ts';
import { handler as revoke } from '../../functions/invites/revoke.ts';
import { lost, mishaps, unheard } from '../support/faults.ts';
import { basic, sendRaw } from '../support/raw-request.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const ADA = 'invitee_emails=ada%40example.com';

/** Sends a form just as it is, and returns the status, the code, and how many invitations there are then. */
async function sent(realm: TestRealm, body: string | Uint8Array) {
  const headers = {
    authorization: basic(realm.people.member),
    'content-type': 'application/x-www-form-urlencoded',
  };
  const reply = await sendRaw(realm, invite, { headers, body });
  return [reply.status, reply.body.code, (await openIn(realm)).length];
}

async function openIn(realm: TestRealm): Promise<{ readonly id: number; readonly email: string }[]> {
  return (await realm.call(listInvites, realm.people.owner)).body.invites;
}

describe('POST /invites refuses the request and changes nothing', () => {
  it.each([
    ['with a NUL in an address', `${ADA}%00&stream_ids=[]`, 'BAD_REQUEST'],
    ['with broken UTF-8', `${ADA}%ff%fe&stream_ids=[]`, 'BAD_REQUEST'],
    ['with a field twice', `${ADA}&${ADA}&stream_ids=[]`, 'BAD_REQUEST'],
    [
      'with an address of 10,000 characters',
      `${ADA}${'m'.repeat(10_000)}&stream_ids=[]`,
      'INVITATION_FAILED',
    ],
    ['with deeply nested channels', `${ADA}&stream_ids=${'['.repeat(5_000)}`, 'BAD_REQUEST'],
    ['with a role that is no number', `${ADA}&stream_ids=[]&invite_as=owner`, 'BAD_REQUEST'],
    ['with a life beyond all numbers', `${ADA}&stream_ids=[]&invite_expires_in_minutes=1e400`, 'BAD_REQUEST'],
    ['without addresses', 'stream_ids=[]', 'REQUEST_VARIABLE_MISSING'],
  ])('%s', async (_, body, code) => {
    expect(await sent(await newRealm(), body)).toEqual([400, code, 0]);
  });
});

describe('an invitation', () => {
  it.each([
    ['is lost', [lost]],
    ['works unheard', [unheard]],
  ])('is created once, with a link that works, when the first try %s', async (_, transact) => {
    const realm = await newRealm();
    const given = { invitee_emails: 'ada@example.com', stream_ids: [] };
    const { body } = await realm.container(mishaps({ transact })).call(invite, realm.people.member, given);
    expect(body.invite_links).toHaveLength(1);
    expect(await openIn(realm)).toMatchObject([{ email: 'ada@example.com' }]);
    const links = await realm.outside.table.all('invitation', { realm: realm.realm });
    expect(links).toHaveLength(1);
  });

  it('is revoked by one of two concurrent requests, and cannot be sent again afterwards', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    await sent(realm, `${ADA}&stream_ids=[]`);
    const path = { invite_id: (await openIn(realm))[0]?.id ?? 0 };
    const replies = await Promise.all([
      realm.container().call(revoke, member, {}, { path }),
      realm.container().call(revoke, owner, {}, { path }),
      realm.container().call(resend, member, {}, { path }),
    ]);
    const statuses = replies.map(({ status }) => status);
    expect(statuses.slice(0, 2).sort()).toEqual([200, 400]);
    expect([200, 400]).toContain(statuses[2]);
    expect(await openIn(realm)).toEqual([]);
    expect((await realm.call(resend, member, {}, { path })).status).toBe(400);
  });
});
