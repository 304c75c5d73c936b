import { describe, expect, it } from 'vitest';
import { handler as list } from '../../functions/messages/list.ts';
import { fetched, givenMessages, idsIn, sent, sentMany } from '../support/messages.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const BEHIND_ALL = 10_000_000_000_000_000;

/** A realm in which `member` sent ten messages to one topic. */
async function tenMessages(): Promise<{ realm: TestRealm; ids: number[] }> {
  const realm = await newRealm();
  const ids = await sentMany(realm, realm.people.member, { to: realm.channels.general, topic: 'ten' }, 10);
  return { realm, ids };
}

/** What a fetch says of itself, with the positions of its messages among the ten. */
async function outline(
  { realm, ids }: { realm: TestRealm; ids: readonly number[] },
  query: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { body } = await fetched(realm, realm.people.admin, query);
  const { messages, result, msg, history_limited, ...rest } = body;
  expect(history_limited).toBe(false);
  return { ...rest, at: messages.map(({ id }: { id: number }) => ids.indexOf(id)) };
}

describe('GET /messages: windows', () => {
  const narrows = { channel: [['channel', 'general']], everything: [], topic: [['topic', 'ten']] };

  it.each(Object.entries(narrows))(
    'have the right messages around an anchor, narrowed to %s',
    async (_, narrow) => {
      const ten = await tenMessages();
      const at = (i: number): number => ten.ids[i] as number;
      const ask = (query: object) => outline(ten, { narrow, ...query });
      expect(await ask({ anchor: 'newest', num_before: 3, num_after: 5 })).toEqual({
        anchor: BEHIND_ALL,
        found_anchor: false,
        found_oldest: false,
        found_newest: true,
        at: [7, 8, 9],
      });
      expect(await ask({ anchor: 'oldest', num_before: 5, num_after: 3 })).toEqual({
        anchor: 0,
        found_anchor: false,
        found_oldest: true,
        found_newest: false,
        at: [0, 1, 2],
      });
      expect(await ask({ anchor: String(at(4)), num_before: 2, num_after: 2 })).toEqual({
        anchor: at(4),
        found_anchor: true,
        found_oldest: false,
        found_newest: false,
        at: [2, 3, 4, 5, 6],
      });
      expect(await ask({ anchor: String(at(1)), num_before: 5, num_after: 20 })).toEqual({
        anchor: at(1),
        found_anchor: true,
        found_oldest: true,
        found_newest: true,
        at: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      });
      expect(await ask({ anchor: String(at(9) + 1_000_000), num_before: 1, num_after: 1 })).toMatchObject({
        found_anchor: false,
        found_newest: true,
        at: [9],
      });
      expect(await ask({ anchor: String(at(0) - 1), num_before: 1, num_after: 1 })).toMatchObject({
        found_anchor: false,
        found_oldest: true,
        at: [0],
      });
    },
  );

  it('include or leave out the anchor, as requested', async () => {
    const ten = await tenMessages();
    const anchor = String(ten.ids[4]);
    const at = async (query: object) => (await outline(ten, { anchor, ...query })).at;
    expect(await at({ num_before: 0, num_after: 0 })).toEqual([4]);
    expect(await at({ num_before: 0, num_after: 0, include_anchor: false })).toEqual([]);
    expect(await at({ num_before: 2, num_after: 0 })).toEqual([2, 3, 4]);
    expect(await at({ num_before: 2, num_after: 0, include_anchor: false })).toEqual([2, 3]);
    expect(await at({ num_before: 0, num_after: 2 })).toEqual([4, 5, 6]);
    expect(await at({ num_before: 0, num_after: 2, include_anchor: false })).toEqual([5, 6]);
  });

  it('may have an anchor between two messages, which belongs to neither side', async () => {
    const ten = await tenMessages();
    const anchor = String((ten.ids[4] as number) + 1);
    expect(await outline(ten, { anchor, num_before: 1, num_after: 1 })).toMatchObject({
      found_anchor: false,
      at: [4, 5],
    });
  });

  it('cover everything without a gap or a repetition, paged from either end', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids: number[] = [];
    for (let i = 0; i < 12; i++) {
      ids.push(await sent(realm, member, { to: realm.channels.general, topic: `t${i % 3}` }));
      ids.push(await sent(realm, member, { people: [admin] }));
    }
    for (const [start, count, forwards] of [
      ['newest', { num_before: 5, num_after: 0 }, false],
      ['oldest', { num_before: 0, num_after: 5 }, true],
    ] as const) {
      const seen: number[] = [];
      let anchor: string = start;
      for (let more = true; more; ) {
        const { body } = await fetched(realm, admin, { anchor, ...count, include_anchor: anchor === start });
        const page: number[] = body.messages.map(({ id }: { id: number }) => id);
        seen.push(...page);
        anchor = String(forwards ? page.at(-1) : page[0]);
        more = !(forwards ? body.found_newest : body.found_oldest);
      }
      expect(seen.toSorted((a, b) => a - b)).toEqual(ids);
    }
  });
});

describe('GET /messages: by ids', () => {
  it('returns each message that exists and may be read once, in order', async () => {
    const { realm, ids } = await tenMessages();
    const { admin, member, guest } = realm.people;
    const hidden = await sent(realm, member, { people: [guest] });
    const [a, b] = ids as [number, number];
    const message_ids = [b, hidden, a, b, 0, -5, 999_999, realm.channels.general];
    const { status, body } = await fetched(realm, admin, { message_ids });
    expect(status).toBe(200);
    expect(body.messages.map(({ id }: { id: number }) => id)).toEqual([a, b]);
    expect(body).toMatchObject({ found_anchor: false, found_oldest: false, found_newest: false });
    expect(body).not.toHaveProperty('anchor');
  });

  it('returns only messages that match the narrow', async () => {
    const { realm, ids } = await tenMessages();
    const other = await sent(realm, realm.people.member, { to: realm.channels.general, topic: 'other' });
    const query = { message_ids: [...ids, other], narrow: [['topic', 'other']] };
    expect(await idsIn(realm, realm.people.admin, query)).toEqual([other]);
  });

  it('refuses an anchor beside the ids', async () => {
    const { realm, ids } = await tenMessages();
    for (const more of [{ anchor: 'newest' }, { num_before: 1 }, { num_after: 1 }]) {
      const { status, body } = await fetched(realm, realm.people.admin, { message_ids: ids, ...more });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.parameters).toContain('message_ids');
    }
  });
});

describe('GET /messages: bad input', () => {
  it.each([
    [{ anchor: 'noon', num_before: 1 }, /anchor/],
    [{ anchor: '1.5', num_before: 1 }, /anchor/],
    [{ anchor: 'newest', num_before: -1 }, /num_before/],
    [{ anchor: 'newest', num_before: 3_000, num_after: 2_001 }, /5000/],
    [{ anchor: '5', num_before: 1, num_after: 1, include_anchor: false }, /can only be false/],
    [{ message_ids: ['1'] }, /message_ids/],
    [{ anchor: 'newest', narrow: 'general' }, /narrow/],
    [{ anchor: 'newest', narrow: { operator: 'channel', operand: 'general' } }, /narrow/],
  ])('%j is refused', async (query, says) => {
    const realm = await newRealm();
    const { status, body } = await realm.call(list, realm.people.member, {}, { query });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.msg).toMatch(says);
  });

  it('too many ids are refused', async () => {
    const realm = await newRealm();
    const message_ids = Array.from({ length: 5_001 }, (_, i) => i + 1);
    const { status, body } = await realm.call(list, realm.people.member, {}, { query: { message_ids } });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.msg).toMatch(/5000/);
  });

  it('a request without an anchor is refused', async () => {
    const realm = await newRealm();
    const { status, body } = await realm.call(list, realm.people.member, {}, { query: { num_before: 3 } });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.msg).toMatch(/anchor/);
  });

  it('an anchor that no message can have is accepted', async () => {
    const { realm, ids } = await tenMessages();
    for (const anchor of ['10000000000000000', '99999999999999999999999', '1000000000000', '999999999999']) {
      expect(await idsIn(realm, realm.people.admin, { anchor, num_before: 2, num_after: 2 })).toEqual(
        ids.slice(-2),
      );
    }
    expect(await idsIn(realm, realm.people.admin, { anchor: '-7', num_before: 2, num_after: 2 })).toEqual(
      ids.slice(0, 2),
    );
  });
});

describe('GET /messages: long replies', () => {
  it('are cut at the end far from the anchor if they would be too large, and say that there is more', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await givenMessages(realm, member, general, () => 'long', 120, 'x'.repeat(60_000));
    const { body } = await fetched(realm, admin, { num_before: 500, narrow: [['channel', general]] });
    const found = body.messages.map(({ id }: { id: number }) => id);
    expect(found.length).toBeGreaterThan(50);
    expect(found.length).toBeLessThan(120);
    expect(found).toEqual(ids.slice(-found.length));
    expect(body).toMatchObject({ found_oldest: false, found_newest: true });
    const byIds = await fetched(realm, admin, { message_ids: ids });
    expect([byIds.status, byIds.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(byIds.body.msg).toMatch(/fewer/);
  });
});
