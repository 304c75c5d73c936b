import { expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as add } from '../../functions/users/addAlertWords.ts';
import { handler as list } from '../../functions/users/listAlertWords.ts';
import { handler as remove } from '../../functions/users/removeAlertWords.ts';
import { MAX_WORDS } from '../../shared/domain/account/alert-words.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile } from '../support/faults.ts';
import { cost } from '../support/fetch-cost.ts';
import { givenChannel } from '../support/given.ts';
import { update } from '../support/message-update.ts';
import { flagsFor, idsIn, sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

async function changed(realm: TestRealm, as: Person, handler: typeof add, ...alert_words: string[]) {
  const { status, body } = await realm.call(handler, as, { alert_words });
  expect([status, body.msg]).toEqual([200, '']);
  return body.alert_words;
}

it('alert words are added and removed, trimmed and once in any case, and the reply has the whole list (companion facts 3.1)', async () => {
  const realm = await newRealm();
  const { member } = realm.people;
  const client = await givenClient(realm, member);
  expect(await changed(realm, member, add, ' Tea ', '', '  ', 'café', 'CAFÉ')).toEqual(['Tea', 'CAFÉ']);
  expect(await changed(realm, member, add, 'tea')).toEqual(['Tea', 'CAFÉ']);
  expect(await changed(realm, member, remove, 'TEA', 'unknown', ' café ')).toEqual(['CAFÉ']);
  expect((await realm.call(list, member)).body.alert_words).toEqual(['CAFÉ']);
  expect(
    (await realm.call(register, member, { fetch_event_types: ['alert_words'] })).body.alert_words,
  ).toEqual(['CAFÉ']);
  // Even where nothing changed.
  expect((await client.poll()).map(({ alert_words }) => alert_words)).toEqual([
    ['Tea', 'CAFÉ'],
    ['Tea', 'CAFÉ'],
    ['CAFÉ'],
  ]);
});

it('an alert word of more than 100 characters, and too many words, are refused and change nothing', async () => {
  const realm = await newRealm();
  const { member } = realm.people;
  await changed(realm, member, add, 'é'.repeat(100));
  for (const alert_words of [
    ['fine', 'é'.repeat(101)],
    Array.from({ length: MAX_WORDS }, (_, i) => `w${i}`),
    Array.from({ length: 29 }, (_, i) => `${i}`.padEnd(100, 'x')),
  ]) {
    const { status, body } = await realm.call(add, member, { alert_words });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  }
  expect((await realm.call(list, member)).body.alert_words).toHaveLength(1);
});

it('two concurrent additions of alert words are both kept', async () => {
  const realm = await newRealm();
  const { member } = realm.people;
  const slow = realm.container(meanwhile(() => changed(realm, member, add, 'one')));
  expect((await slow.call(add, member, { alert_words: ['two'] })).body.alert_words).toEqual(['one', 'two']);
});

it('a message with an alert word has the flag for that user alone, in events, fetches and is:alerted (companion facts 3.1)', async () => {
  const realm = await newRealm();
  const { member, admin, owner } = realm.people;
  const { channelId: to } = await givenChannel(realm, {}, [member, admin, owner]);
  const earlier = await sent(realm, admin, { to }, 'More TEA!');
  await changed(realm, member, add, 'tea', 'R&D', 'green leaf');
  const client = await givenClient(realm, member);
  const flagged = [
    earlier,
    await sent(realm, admin, { to }, '(tea)'),
    await sent(realm, admin, { to }, 'our r&d is here'),
    await sent(realm, admin, { people: [member] }, 'a **Green** leaf'),
  ];
  const others = [
    await sent(realm, admin, { to }, 'teapot, steam and tea_time'),
    await sent(realm, admin, { to }, '`tea` and\n```\ntea\n```'),
    await sent(realm, admin, { to }, 'https://example.com/tea'),
  ];
  for (const id of flagged) expect(await flagsFor(realm, member, id)).toContain('has_alert_word');
  for (const id of others) expect(await flagsFor(realm, member, id)).not.toContain('has_alert_word');
  expect(await flagsFor(realm, owner, earlier)).not.toContain('has_alert_word');
  const events = await client.poll();
  expect(events.map(({ flags }) => flags.includes('has_alert_word'))).toEqual([
    ...flagged.slice(1).map(() => true),
    ...others.map(() => false),
  ]);
  const alerted = (negated: boolean) => ({
    narrow: JSON.stringify([{ operator: 'is', operand: 'alerted', negated }]),
  });
  expect(await idsIn(realm, member, alerted(false))).toEqual(flagged);
  expect(await idsIn(realm, member, alerted(true))).toEqual(others);
  expect(await idsIn(realm, owner, alerted(false))).toEqual([]);
});

it('an edit adds and removes the flag, in its event too', async () => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const { channelId: to } = await givenChannel(realm, {}, [member, admin]);
  const id = await sent(realm, admin, { to }, 'coffee');
  await changed(realm, member, add, 'tea');
  const client = await givenClient(realm, member);
  for (const [content, has] of [
    ['tea', true],
    ['coffee', false],
  ] as const) {
    expect((await update(realm, admin, id, { content })).status).toBe(200);
    const [event] = await client.poll();
    expect([event.type, event.flags.includes('has_alert_word')]).toEqual(['update_message', has]);
    expect((await flagsFor(realm, member, id))?.includes('has_alert_word')).toBe(has);
  }
});

it('a fetch costs no more with alert words than without', async () => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const { channelId: to } = await givenChannel(realm, {}, [member, admin]);
  for (let i = 0; i < 5; i++) await sent(realm, admin, { to }, 'tea');
  const before = await cost(realm, member, { num_before: 5 });
  await changed(realm, member, add, 'tea');
  expect(await cost(realm, member, { num_before: 5 })).toEqual(before);
});

it('100 alert words and a hostile text take no longer than others', async () => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const words = Array.from({ length: 29 }, (_, i) => 'a '.repeat(45) + i);
  await changed(realm, member, add, ...words);
  const id = await sent(realm, admin, { people: [member] }, 'a '.repeat(4_900));
  expect(await flagsFor(realm, member, id)).not.toContain('has_alert_word');
});
