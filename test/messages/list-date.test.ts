import { describe, expect, it } from 'vitest';
import { numberAt } from '../../shared/log/moment.ts';
import { givenChannel } from '../support/given.ts';
import { fetched, givenMessages, sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';

const BEHIND_ALL = 10_000_000_000_000_000;
const HOUR = 3_600_000;

describe('GET /messages: the anchor date (companion facts 1.16)', () => {
  it('is the first message of the narrow at or after that time, or the end if there is none', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const secret = await givenChannel(realm, { isPrivate: true }, [member]);
    const times: number[] = [];
    const ids: number[] = [];
    for (let i = 0; i < 6; i++) {
      realm.pass(HOUR);
      times.push(Math.floor(realm.outside.now() / 1_000) * 1_000);
      await sent(realm, member, { to: secret.channelId });
      ids.push(await sent(realm, member, { to: i % 2 === 0 ? general : random }));
    }
    const around = async (date: string, narrow: unknown = []) => {
      const query = { anchor: 'date', anchor_date: date, num_before: 1, num_after: 1, narrow };
      const { body } = await fetched(realm, admin, query);
      const found = body.messages.map(({ id }: { id: number }) => id);
      return { anchor: body.anchor, found: body.found_anchor, ids: found };
    };
    const iso = (i: number, shift = 0) => new Date((times[i] ?? 0) + shift).toISOString();
    for (const date of [iso(2), iso(2, -HOUR / 2), iso(2).slice(0, -5), iso(2).replace('Z', '+00:00')])
      expect(await around(date)).toEqual({ anchor: ids[2], found: true, ids: ids.slice(1, 4) });
    expect(await around(iso(2, HOUR / 2))).toMatchObject({ anchor: ids[3] });
    expect(await around(iso(2), [['channel', random]])).toEqual({
      anchor: ids[3],
      found: true,
      ids: [ids[1], ids[3], ids[5]],
    });
    expect(await around('2001-02-03')).toEqual({ anchor: ids[0], found: true, ids: ids.slice(0, 2) });
    expect(await around('2999-01-01')).toEqual({ anchor: BEHIND_ALL, found: false, ids: ids.slice(5) });
  });

  it.each([undefined, '', 'yesterday', '2024-02-31', '2024-13-01', '2024-01-01T25:00', '20240101'])(
    'refuses the date %j',
    async (anchor_date) => {
      const realm = await newRealm();
      const query = { anchor: 'date', ...(anchor_date !== undefined && { anchor_date }) };
      const { status, body } = await fetched(realm, realm.people.member, query);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );

  it('is found in a log of any length in few round trips', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const given: { readonly id: number; readonly time: number }[] = [];
    for (let i = 0; i < 30; i++) {
      realm.pass(10_000);
      const time = Math.floor(realm.outside.now() / 1_000) * 1_000;
      const [id = 0] = await givenMessages(realm, member, realm.channels.general, () => 't', 40, '');
      given.push({ id, time });
    }
    const { outside, meter } = realm;
    for (const { id, time } of given) {
      meter.reset();
      expect(await numberAt(outside.table, realm.realm, time)).toBe(id);
      expect(meter.roundTrips).toBeLessThanOrEqual(5);
    }
  });
});
