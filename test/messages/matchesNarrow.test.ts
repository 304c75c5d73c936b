import { describe, expect, it } from 'vitest';
import { handler as matches } from '../../functions/messages/matchesNarrow.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { givenChannel, givenSubscription } from '../support/given.ts';
import { sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const ask = (realm: TestRealm, as: Person, msg_ids: readonly number[], narrow: unknown = []) =>
  realm.call(matches, as, {}, { query: { msg_ids, narrow } });

const found = async (...given: Parameters<typeof ask>): Promise<string[]> =>
  Object.keys((await ask(...given)).body.messages);

describe('GET /messages/matches_narrow (companion facts 1.8)', () => {
  it('returns the messages that match, with their HTML', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const tea = await sent(realm, member, { to: general, topic: 'tea & <b>' }, '**hot** https://example.com');
    const empty = await sent(realm, member, { to: general, topic: '' });
    const direct = await sent(realm, member, { people: [admin] });
    const { status, body } = await ask(realm, admin, [direct, tea, empty, tea, 0, -1, 999_999]);
    expect(status).toBe(200);
    expect(body.messages).toEqual({
      [tea]: {
        match_content: '<p><strong>hot</strong> <a href="https://example.com">https://example.com</a></p>',
        match_subject: 'tea &amp; &lt;b&gt;',
      },
      [empty]: { match_content: '<p>text</p>', match_subject: '' },
      [direct]: { match_content: '<p>text</p>', match_subject: '' },
    });
    const all = [tea, empty, direct];
    expect(await found(realm, admin, all, [['has', 'link']])).toEqual([String(tea)]);
    expect(await found(realm, admin, all, [['topic', 'general chat']])).toEqual([String(empty)]);
    expect(await found(realm, admin, all, [{ operator: 'is', operand: 'dm', negated: true }])).toEqual([
      String(tea),
      String(empty),
    ]);
    expect(await found(realm, admin, [], [['has', 'link']])).toEqual([]);
  });

  it('considers only messages that the caller received', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const before = await sent(realm, member, { to: channelId });
    const foreign = await sent(realm, member, { people: [realm.people.owner] });
    await givenSubscription(realm, admin, channelId);
    const after = await sent(realm, member, { to: channelId });
    const all = [before, foreign, after];
    for (const narrow of [[], [['channel', channelId]], [['channels', 'public']]])
      expect(await found(realm, admin, all, narrow)).toEqual([String(after)]);
  });

  it('takes two round trips', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sent(realm, member, { to: realm.channels.general }, 'https://example.com');
    const container = realm.container();
    await ask(container, admin, [id], [['has', 'link']]);
    container.meter.reset();
    expect(await found(container, admin, [id], [['has', 'link']])).toEqual([String(id)]);
    expect(container.meter.roundTrips).toBeLessThanOrEqual(designBudgets.readTrips);
  });

  it.each([
    ['with', [['with', 5]], 'BAD_NARROW'],
    ['an unknown operator', [['colour', 'green']], 'BAD_NARROW'],
    ['a hidden channel', [['channel', 'nowhere']], 'BAD_NARROW'],
    ['an operand of the wrong type', [['has', 5]], 'BAD_REQUEST'],
  ])('refuses %s', async (_, narrow, code) => {
    const realm = await newRealm();
    const { status, body } = await ask(realm, realm.people.member, [1], narrow);
    expect([status, body.code]).toEqual([400, code]);
  });
});
