import { describe, expect, test } from 'vitest';
import { handler as removeAttachment } from '../../functions/files/remove.ts';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { givenClient } from '../support/event-queue.ts';
import { canGet, gotten, linkTo, ownFiles, uploaded } from '../support/files.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { update } from '../support/message-update.ts';
import { sent } from '../support/messages.ts';
import { workedOff } from '../support/outbox.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { workOf } from '../support/work-queue.ts';

/** An organization whose outbox worker can be woken. */
async function realmWithOutbox(): Promise<TestRealm> {
  const realm = await newRealm();
  await workOf(realm, 'outbox');
  return realm;
}

const holders = async (realm: TestRealm, as = realm.people.member): Promise<readonly (readonly number[])[]> =>
  (await ownFiles(realm, as)).attachments.map(({ message_ids }) => message_ids);

const slotOf = (realm: TestRealm, id: number) =>
  realm.outside.table.get('slot', { realm: realm.realm, seq: id }) as Promise<
    { readonly files?: readonly string[] } | undefined
  >;

const messageFiles = async (realm: TestRealm, id: number) => (await slotOf(realm, id))?.files;

describe('a message with a link to a file (companion facts 1.3)', () => {
  test('claims the file, with an event to its sender before the message', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const url = await uploaded(realm, member);
    const client = await givenClient(realm, member, { event_types: ['message', 'attachment'] });
    const { general } = realm.channels;
    const id = await sent(realm, member, { to: general }, linkTo(url));
    expect(await holders(realm)).toEqual([[id]]);
    expect(await messageFiles(realm, id)).toEqual([url.replace('/user_uploads/', '')]);
    const [change, message] = await client.poll();
    const [attachment] = (await ownFiles(realm, member)).attachments;
    expect(change).toMatchObject({ type: 'attachment', op: 'update', attachment, upload_space_used: 11 });
    expect(message).toMatchObject({ type: 'message', message: { id } });
    expect(await canGet(realm, guest, url)).toBe(true);
  });

  test("claims files linked with the organization's host or with encoded names, but not in code or on other hosts", async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const bytes = Buffer.from('x');
    const url = await uploaded(realm, member, { bytes, name: 'Zürich plan.txt' });
    const own = `http://${realm.host}`;
    const to = { to: realm.channels.general };
    for (const [content, isHeld] of [
      [linkTo(url), true],
      [linkTo(encodeURI(url)), true],
      [linkTo(`${own}${url}`), true],
      [linkTo(`${url}?x=1`), false],
      [`\`${url}\``, false],
      [linkTo(`http://elsewhere.example${url}`), false],
      [url, false],
    ] as const) {
      const id = await sent(realm, member, to, content);
      expect([content, (await messageFiles(realm, id)) !== undefined]).toEqual([content, isHeld]);
    }
  });

  test('claims no file that its sender may not get, and is sent all the same', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const url = await uploaded(realm, member);
    const to = { to: realm.channels.general };
    const gone = url.replace(/[\w-]{24}/, 'x'.repeat(24));
    const id = await sent(realm, admin, to, linkTo(url, gone, '/user_uploads/1/zz/nothing'));
    expect(await messageFiles(realm, id)).toBeUndefined();
    expect([await canGet(realm, admin, url), await canGet(realm, owner, url)]).toEqual([false, false]);
    // Once they may get it, they may hand it on.
    await sent(realm, member, { people: [admin] }, linkTo(url));
    expect([await canGet(realm, admin, url), await canGet(realm, owner, url)]).toEqual([true, false]);
    const third = await sent(realm, admin, to, linkTo(url));
    expect(await messageFiles(realm, third)).toHaveLength(1);
    expect(await canGet(realm, owner, url)).toBe(true);
  });

  test('claims thirty files at most', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const urls: string[] = [];
    for (let i = 0; i < 31; i++) urls.push(await uploaded(realm, member));
    const id = await sent(realm, member, { to: realm.channels.general }, linkTo(...urls));
    expect(await messageFiles(realm, id)).toHaveLength(30);
  });

  test('claims a file together with a concurrent message, but not a file that is removed meanwhile', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const to = { to: realm.channels.general };
    const url = await uploaded(realm, member);
    const ids = await Promise.all(
      [realm, realm.container(), realm.container()].map((each) => sent(each, member, to, linkTo(url))),
    );
    expect(await holders(realm)).toEqual([[...ids].sort((a, b) => a - b)]);
    for (let round = 0; round < 5; round++) {
      const file = await uploaded(realm, member);
      const { attachments } = await ownFiles(realm, member);
      const path = { attachment_id: attachments.at(-1)?.id ?? 0 };
      const [id, { status }] = await Promise.all([
        sent(realm, member, to, linkTo(file)),
        realm.container().call(removeAttachment, member, {}, { path }),
      ]);
      expect(status).toBe(200);
      expect((await gotten(realm, member, file)).status).toBe(404);
      expect(await slotOf(realm, id)).toBeDefined();
      expect((await ownFiles(realm, member)).attachments).toHaveLength(1);
    }
  });

  test('costs no more without such a link', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const to = { to: realm.channels.general };
    await sent(realm, member, to);
    realm.meter.reset();
    await sent(realm, member, to, 'see https://example.com/user_uploads/ and [this](/user_uploads/1/a)');
    const { roundTrips, writeUnits } = realm.meter;
    expect([roundTrips, writeUnits]).toEqual([2, expect.any(Number)]);
    expect(writeUnits).toBeLessThanOrEqual(9);
  });
});

describe('an edit (companion facts 1.3)', () => {
  test('claims the files that it adds, releases those that it removes, and returns those that no message uses any more', async () => {
    const realm = await realmWithOutbox();
    const { member, guest } = realm.people;
    const first = await uploaded(realm, member);
    const second = await uploaded(realm, member);
    const shared = await uploaded(realm, member);
    const to = { to: realm.channels.general };
    const id = await sent(realm, member, to, linkTo(first, shared));
    const other = await sent(realm, member, { people: [realm.people.admin] }, linkTo(shared));
    const { body } = await update(realm, member, id, { content: linkTo(second) });
    const { attachments } = await ownFiles(realm, member);
    expect(body.detached_uploads).toEqual([{ ...attachments[0], message_ids: [] }]);
    expect([await canGet(realm, guest, first), await canGet(realm, guest, second)]).toEqual([false, true]);
    expect(await canGet(realm, guest, shared)).toBe(false);
    await workedOff(realm);
    expect(await holders(realm)).toEqual([[], [id], [other]]);
    const { body: again } = await update(realm, member, id, { content: 'nothing left' });
    expect(again.detached_uploads).toMatchObject([{ path_id: second.replace('/user_uploads/', '') }]);
    expect(await messageFiles(realm, id)).toBeUndefined();
  });

  test('that links a file again before its release keeps it', async () => {
    const realm = await realmWithOutbox();
    const { member, guest } = realm.people;
    const url = await uploaded(realm, member);
    const id = await sent(realm, member, { to: realm.channels.general }, linkTo(url));
    await update(realm, member, id, { content: 'nothing' });
    await update(realm, member, id, { content: linkTo(url) });
    await workedOff(realm);
    expect(await holders(realm)).toEqual([[id]]);
    expect(await canGet(realm, guest, url)).toBe(true);
  });

  test('that also moves the message changes its files', async () => {
    const realm = await realmWithOutbox();
    const { member } = realm.people;
    const [first, second] = [await uploaded(realm, member), await uploaded(realm, member)];
    const id = await sent(realm, member, { to: realm.channels.general }, linkTo(first));
    const client = await givenClient(realm, member, { event_types: ['attachment'] });
    const { status, body } = await update(realm, member, id, { content: linkTo(second), topic: 'elsewhere' });
    expect([status, body.detached_uploads.length]).toEqual([200, 1]);
    await workedOff(realm);
    expect(await holders(realm)).toEqual([[], [id]]);
    expect(await client.poll()).toMatchObject([{ op: 'update', attachment: { message_ids: [id] } }]);
  });
});

describe('a message that is deleted', () => {
  test('gives no access to its files from that moment, and is removed from their lists', async () => {
    const realm = await realmWithOutbox();
    const { member, guest, owner } = realm.people;
    const url = await uploaded(realm, member);
    const id = await sent(realm, member, { to: realm.channels.general }, linkTo(url));
    expect(await canGet(realm, guest, url)).toBe(true);
    const { status } = await realm.call(deleteMessage, owner, {}, { path: { message_id: id } });
    expect(status).toBe(200);
    expect([await canGet(realm, guest, url), await canGet(realm, member, url)]).toEqual([false, true]);
    await workedOff(realm);
    expect(await holders(realm)).toEqual([[]]);
  });
});

describe('who may get a file (companion facts 1.2)', () => {
  test('depends on the messages that link it, without a way around', async () => {
    const realm = await realmWithOutbox();
    const { member, owner, admin, guest } = realm.people;
    const insider = await givenUser(realm);
    const closed = await givenChannel(realm, { isPrivate: true }, [member, insider]);
    const url = await uploaded(realm, member);
    await sent(realm, member, { to: closed.channelId }, linkTo(url));
    const seen = async () =>
      Promise.all([member, insider, owner, admin, guest].map((person) => canGet(realm, person, url)));
    expect(await seen()).toEqual([true, true, false, false, false]);
    const id = await sent(realm, member, { people: [guest] }, linkTo(url));
    expect(await seen()).toEqual([true, true, false, false, true]);
    await update(realm, member, id, { content: 'no file' });
    expect(await seen()).toEqual([true, true, false, false, false]);
  });
});
