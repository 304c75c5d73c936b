import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { storedMessage } from '../support/stored.ts';

/** Where a message went that was sent to `to`: the ids of the channel or of the people; or the refusal. */
async function whereTo(realm: TestRealm, type: string, to: unknown): Promise<unknown> {
  const { body } = await realm.call(send, realm.people.member, { type, to, topic: 'hi', content: 'hello' });
  if (body.result === 'error') return { code: body.code, msg: body.msg };
  const { channelId, people } = await storedMessage(realm, body.id);
  return channelId ?? people;
}

const refused = (msg: RegExp) => ({ code: 'BAD_REQUEST', msg: expect.stringMatching(msg) });

describe('specification 4.1: type', () => {
  it('`channel` and `stream` send a channel message, `direct` and `private` a direct one (4.1/channel, 4.1/stream, 4.1/direct, 4.1/private)', async () => {
    const realm = await newRealm();
    const { general } = realm.channels;
    const { member, guest } = realm.people;
    for (const type of ['channel', 'stream']) expect(await whereTo(realm, type, 'general')).toBe(general);
    for (const type of ['direct', 'private']) {
      expect(await whereTo(realm, type, [guest.userId])).toEqual([member.userId, guest.userId]);
    }
  });

  it.each(['', 'Direct', 'topic', '"direct"'])('%j is not a type (4.1/type)', async (type) => {
    const realm = await newRealm();
    expect(await whereTo(realm, type, 'general')).toEqual(refused(/'type'/));
  });

  it.each(['type', 'to', 'content'])(
    'wire facts 1.3: %s is required (4.1/type, 4.1/to, 4.1/content)',
    async (name) => {
      const { call, people } = await newRealm();
      const { [name]: _, ...rest } = { type: 'channel', to: 'general', topic: 'hi', content: 'x' } as Record<
        string,
        string
      >;
      const { status, body } = await call(send, people.member, rest);
      expect([status, body]).toMatchObject([400, { code: 'REQUEST_VARIABLE_MISSING', var_name: name }]);
    },
  );
});

describe('wire facts 3.2: `to` of a channel message', () => {
  it('is a name as text, a name as a JSON string, an integer id, or a list of exactly one of them (4.1/to-name, 4.1/to-id)', async () => {
    const realm = await newRealm();
    const { general } = realm.channels;
    const spellings = ['general', '"general"', '["general"]', `${general}`, `[${general}]`, ` ${general} `];
    for (const to of spellings) expect(await whereTo(realm, 'channel', to), to).toBe(general);
  });

  it('trims the name and ignores its case', async () => {
    const realm = await newRealm();
    for (const to of ['  GENERAL ', '" General"']) {
      expect(await whereTo(realm, 'channel', to)).toBe(realm.channels.general);
    }
  });

  it('takes digits as an id, so that a channel whose name is digits needs a JSON string', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, { name: '2026' });
    expect(await whereTo(realm, 'channel', '"2026"')).toBe(channelId);
    expect(await whereTo(realm, 'channel', '["2026"]')).toBe(channelId);
    expect(await whereTo(realm, 'channel', '2026')).toMatchObject({ code: 'STREAM_DOES_NOT_EXIST' });
  });

  it('takes text that is almost JSON as a name', async () => {
    const realm = await newRealm();
    for (const name of ['[draft', '{ideas}', '"quoted', '1,2']) {
      const { channelId } = await givenChannel(realm, { name });
      expect(await whereTo(realm, 'channel', name)).toBe(channelId);
    }
  });

  it.each([
    '[]',
    '["general", "random"]',
    '[[1]]',
    '{}',
    '{"id":1}',
    'null',
    'true',
    '1.5',
    '7.0',
    '1e2',
    '[null]',
    '["\\ud800"]',
    '9007199254740992',
  ])('%s is an error', async (to) => {
    const realm = await newRealm();
    expect(await whereTo(realm, 'channel', to)).toEqual(refused(/channel/));
  });
});

describe('wire facts 3.2: `to` of a direct message', () => {
  it('is a list of ids or a list of addresses, in any order, repetitions and the sender ignored (4.1/to-ids, 4.1/to-emails, 4.1/to-sender)', async () => {
    const realm = await newRealm();
    const { member, guest, admin } = realm.people;
    const all = [admin.userId, member.userId, guest.userId];
    for (const to of [
      [guest.userId, admin.userId],
      [admin.userId, guest.userId, admin.userId],
      [member.userId, guest.userId, admin.userId],
      [guest.email, admin.email],
      [guest.email, guest.email, member.email, admin.email],
      [` ${guest.email} `, '', admin.email.toUpperCase(), admin.email],
    ]) {
      expect(await whereTo(realm, 'direct', to), JSON.stringify(to)).toEqual(all);
    }
  });

  it('is text of addresses separated by commas, JSON or not', async () => {
    const realm = await newRealm();
    const { member, guest, admin } = realm.people;
    const all = [admin.userId, member.userId, guest.userId];
    const text = `${guest.email}, ${admin.email},`;
    expect(await whereTo(realm, 'direct', text)).toEqual(all);
    expect(await whereTo(realm, 'direct', JSON.stringify(text))).toEqual(all);
    expect(await whereTo(realm, 'direct', guest.email)).toEqual([member.userId, guest.userId]);
  });

  it('takes text of digits and commas as addresses, which nobody has', async () => {
    const realm = await newRealm();
    const { admin, guest } = realm.people;
    expect(await whereTo(realm, 'direct', `${admin.userId},${guest.userId}`)).toEqual(
      refused(new RegExp(`^Invalid email '${admin.userId}'`)),
    );
  });

  it.each([
    ['7', /list/],
    ['{}', /list/],
    ['null', /list/],
    ['true', /list/],
    ['1.5', /list/],
    ['[1, "a@example.com"]', /only/],
    ['[1.0]', /only/],
    ['[null]', /only/],
    ['[["a@example.com"]]', /only/],
    ['["\\udc00"]', /only/],
    ['[]', /recipients/],
    ['[""]', /recipients/],
    ['', /recipients/],
    ['" , "', /recipients/],
  ])('%s is an error', async (to, msg) => {
    const realm = await newRealm();
    expect(await whereTo(realm, 'direct', to)).toEqual(refused(msg));
  });

  it('with an unknown recipient is a bad request that names them (specification 4.1 rule 3) (4.1/unknown-recipient)', async () => {
    const realm = await newRealm();
    const { guest } = realm.people;
    const nobody = 'nobody@example.com';
    expect(await whereTo(realm, 'direct', [guest.email, nobody])).toEqual(
      refused(/^Invalid email 'nobody@example.com'/),
    );
    for (const id of [999_999, 0, -1, 2 ** 53 - 1]) {
      expect(await whereTo(realm, 'direct', [guest.userId, id])).toEqual(
        refused(new RegExp(`^Invalid user ID ${id}`)),
      );
    }
  });

  it('with an address that no account can have is refused like any unknown one, however long', async () => {
    const realm = await newRealm();
    for (const email of ['x'.repeat(5_000), 'a\u0000b@example.com', '/'.repeat(250)]) {
      expect(await whereTo(realm, 'direct', [email])).toEqual(refused(/^Invalid email/));
    }
  });

  it('does not find people of another organization', async () => {
    const [realm, other] = await Promise.all([newRealm(), newRealm()]);
    const stranger = await givenUser(other);
    expect(await whereTo(realm, 'direct', [stranger.email])).toEqual(refused(/^Invalid email/));
  });
});

describe('a hostile `to`', () => {
  it('is refused within milliseconds, however many entries it has', async () => {
    const realm = await newRealm();
    const entries = Array(80_000).fill(0);
    for (const to of [entries, entries.slice(0, 15_000), 'a,'.repeat(40_000)]) {
      const before = process.threadCpuUsage();
      expect(await whereTo(realm, 'direct', to)).toMatchObject({ code: 'BAD_REQUEST' });
      const { user } = process.threadCpuUsage(before);
      expect(user / 1_000, 'milliseconds of processor').toBeLessThan(200);
    }
  });
});
