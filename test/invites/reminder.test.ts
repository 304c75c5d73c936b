import { describe, expect, it } from 'vitest';
import { handler as invite } from '../../functions/invites/create.ts';
import { handler as inviteLink } from '../../functions/invites/createLink.ts';
import { handler as list } from '../../functions/invites/list.ts';
import { handler as revoke } from '../../functions/invites/revoke.ts';
import { handler as worker } from '../../functions/workers/outbox.ts';
import { handler as sweep } from '../../functions/workers/outbox-sweep.ts';
import { joinByInvitation } from '../../shared/domain/account/join.ts';
import type { Due } from '../../shared/domain/scheduled/due.ts';
import { loadLink } from '../../shared/model/user/link.ts';
import { meanwhile, mishaps, unheard } from '../support/faults.ts';
import { givenUser } from '../support/given.ts';
import { type MailingRealm, tokenIn, withMailbox } from '../support/mailbox.ts';
import { leftIn } from '../support/outbox.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { workOf } from '../support/work-queue.ts';
import { queued, runQueue, runSchedule } from '../support/worker-run.ts';

const DAY = 86_400;
const FOUR_DAYS = 5_760;

/** A container of a service that sends mail, as that of the mailbox. */
const MAILING = { mailDomain: 'mail.example.com' };

const dueIn = async ({ outside, realm }: TestRealm): Promise<Due[]> => {
  const all = await outside.table.all('due', {});
  return all
    .filter((due) => due.realm === realm)
    .map(({ userId, what, id, at }) => ({ realm, userId, what, id, at }));
};

async function run(realm: TestRealm, ...dues: readonly Due[]): Promise<void> {
  const messages = dues.map((due) => queued(JSON.stringify({ kind: 'due', ...due })));
  expect(await runQueue(realm, worker, messages)).toEqual({ batchItemFailures: [] });
}

/** Invites these people by mail, for some minutes, and sends the first mails. Returns what is due. */
async function invited(realm: MailingRealm, invitee_emails: string, minutes?: number | null): Promise<Due[]> {
  const given = { ...(minutes !== undefined && { invite_expires_in_minutes: minutes }) };
  const { status } = await realm.call(invite, realm.people.member, {
    invitee_emails,
    stream_ids: [],
    ...given,
  });
  expect(status).toBe(200);
  await realm.sendMail();
  return dueIn(realm);
}

const reminders = ({ mails }: MailingRealm) => mails.filter(({ subject }) => subject.startsWith('Reminder'));

describe('reminders of invitations (companion facts 3.8)', () => {
  it('are mailed two days before the invitations expire, once, with a link that works', async () => {
    const realm = await withMailbox(await newRealm());
    const [due = expect.fail(), ...others] = await invited(realm, 'ada@example.com, bea@example.com');
    expect(others).toEqual([]);
    const { body } = await realm.call(list, realm.people.member);
    expect(due.at).toBe(body.invites[0].expiry_date - 2 * DAY);
    realm.pass((8 * DAY + 1) * 1000);
    await run(realm.container(mishaps({ transact: [unheard] }), MAILING), due, due);
    await run(realm, due);
    await realm.sendMail();
    expect(
      reminders(realm)
        .map(({ to }) => to)
        .sort(),
    ).toEqual(['ada@example.com', 'bea@example.com']);
    const [{ subject, text } = expect.fail()] = reminders(realm);
    expect(subject).toBe('Reminder: invitation to Test');
    expect(text).toContain('Max Member (member@example.com)');
    expect(await loadLink(realm.outside, realm.realm, tokenIn(text))).toMatchObject({ kind: 'invitation' });
    expect([await dueIn(realm), await leftIn(realm)]).toEqual([[], []]);
  });

  it('are mailed once by two runs at the same time', async () => {
    const realm = await withMailbox(await newRealm());
    const [due = expect.fail()] = await invited(realm, 'ada@example.com');
    realm.pass((8 * DAY + 1) * 1000);
    await run(
      realm.container(
        meanwhile(() => run(realm, due)),
        MAILING,
      ),
      due,
    );
    expect(await leftIn(realm)).toHaveLength(1);
  });

  it('are not mailed early', async () => {
    const realm = await withMailbox(await newRealm());
    await workOf(realm, 'outbox');
    const dues = await invited(realm, 'ada@example.com');
    await run(realm, ...dues);
    expect([await dueIn(realm), await leftIn(realm)]).toEqual([dues, []]);
  });

  it('are started by the sweep', async () => {
    const realm = await withMailbox(await newRealm());
    const work = await workOf(realm, 'outbox');
    const [due] = await invited(realm, 'ada@example.com');
    realm.pass((8 * DAY + 1) * 1000);
    await runSchedule(realm, sweep);
    // A queue may hand over a message late.
    const received: unknown[] = [];
    const bodies = async () => {
      received.push(...(await work.receive()).map(({ Body }) => JSON.parse(Body ?? '')));
      return received;
    };
    await expect.poll(bodies, { timeout: 30_000, interval: 200 }).toContainEqual({ kind: 'due', ...due });
  });

  it('are sent for invitations that expire after at least four days', async () => {
    const realm = await withMailbox(await newRealm());
    expect(await invited(realm, 'ada@example.com', FOUR_DAYS - 1)).toEqual([]);
    expect(await invited(realm, 'bea@example.com', null)).toEqual([]);
    await realm.call(inviteLink, realm.people.admin);
    expect(await dueIn(realm)).toEqual([]);
    expect(await invited(realm, 'cy@example.com', FOUR_DAYS)).toHaveLength(1);
  });

  it('are not sent while the service sends no mail, nor for invitations from that time', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const given = { invitee_emails: 'ada@example.com', stream_ids: [] };
    expect((await realm.call(invite, member, given)).status).toBe(200);
    expect(await dueIn(realm)).toEqual([]);
    const dues = await invited(await withMailbox(realm), 'bea@example.com');
    realm.pass((8 * DAY + 1) * 1000);
    await run(realm, ...dues);
    expect([dues.length, await dueIn(realm), await leftIn(realm)]).toEqual([1, [], []]);
  });

  it('are sent only for open invitations, and are removed with the others', async () => {
    const realm = await withMailbox(await newRealm());
    const { member } = realm.people;
    const emails = ['used', 'revoked', 'joined', 'open'].map((name) => `${name}@example.com`);
    const dues = await invited(realm, emails.join());
    const { body } = await realm.call(list, member);
    const revoked = body.invites.find(({ email }: { email: string }) => email === 'revoked@example.com');
    await realm.call(revoke, member, {}, { path: { invite_id: revoked.id } });
    const token = tokenIn(realm.mails.find(({ to }) => to === 'used@example.com')?.text ?? '');
    await joinByInvitation(realm.outside, { send: async () => {} }, realm.host, token, {
      email: 'used@example.com',
      fullName: 'Una Used',
      password: 'twelve grey herons',
    });
    await givenUser(realm, { email: 'joined@example.com' });
    realm.pass((8 * DAY + 1) * 1000);
    await run(realm, ...dues);
    await realm.sendMail();
    expect(reminders(realm).map(({ to }) => to)).toEqual(['open@example.com']);
    expect(await dueIn(realm)).toEqual([]);
  });

  it('are not mailed after the invitations have expired', async () => {
    const realm = await withMailbox(await newRealm());
    const dues = await invited(realm, 'ada@example.com');
    realm.pass(11 * DAY * 1000);
    await run(realm, ...dues);
    expect([await dueIn(realm), await leftIn(realm)]).toEqual([[], []]);
  });
});
