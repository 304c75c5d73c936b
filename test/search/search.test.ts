import { describe, expect, it, vi } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as list } from '../../functions/messages/list.ts';
import { handler as update } from '../../functions/messages/update.ts';
import { handler as updateFlagsForNarrow } from '../../functions/messages/updateFlagsForNarrow.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { SEARCH_QUEUE } from '../../shared/kernel/wake-up.ts';
import { givenChannel } from '../support/given.ts';
import { sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { workOf } from '../support/work-queue.ts';
import { damage, indexed, segmentsOf } from './search-index.ts';

const searched = (
  realm: TestRealm,
  as: Person,
  search: string,
  narrow: readonly unknown[] = [],
  more: Readonly<Record<string, unknown>> = {},
) =>
  realm.call(list, as, {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    narrow: [{ operator: 'search', operand: search }, ...narrow],
    ...more,
  });

const idsOf = ({ body }: Awaited<ReturnType<typeof searched>>): number[] =>
  body.messages.map(({ id }: { id: number }) => id);

/** Some messages. The first ones are in the index if wanted, the others in the log only. */
async function givenTexts(texts: readonly string[], indexedTexts = 0) {
  const realm = await newRealm();
  const ids: number[] = [];
  for (const [i, text] of texts.entries()) {
    if (i === indexedTexts && i > 0) await indexed(realm);
    ids.push(await sent(realm, realm.people.member, { to: realm.channels.general, topic: 'tea' }, text));
  }
  if (indexedTexts === texts.length) await indexed(realm);
  return { realm, ids };
}

describe.each([0, 2, 5])('a search with %i messages in the index', (inIndex) => {
  it('finds words by their stems, in any case and without accents', async () => {
    const texts = ['I was running', 'She **RUNS** a café', 'nobody walks', 'the runner', 'Cafe run'];
    const { realm, ids } = await givenTexts(texts, inIndex);
    const { member } = realm.people;
    expect(idsOf(await searched(realm, member, 'run'))).toEqual([ids[0], ids[1], ids[4]]);
    expect(idsOf(await searched(realm, member, 'running cafe'))).toEqual([ids[1], ids[4]]);
    expect(idsOf(await searched(realm, member, 'tea walk'))).toEqual([ids[2]]);
    expect(idsOf(await searched(realm, member, 'café -runs'))).toEqual([]);
    expect(idsOf(await searched(realm, member, '-run'))).toEqual([ids[2], ids[3]]);
    expect(idsOf(await searched(realm, member, 'the was'))).toEqual([]);
  });

  it('finds phrases as they were written', async () => {
    const texts = ['black tea now', 'tea, black', 'Black   tea', 'a BLACK TEA', 'blacks teas'];
    const { realm, ids } = await givenTexts(texts, inIndex);
    const { member } = realm.people;
    expect(idsOf(await searched(realm, member, 'black tea'))).toEqual(ids);
    expect(idsOf(await searched(realm, member, '"black tea"'))).toEqual([ids[0], ids[3]]);
    expect(idsOf(await searched(realm, member, 'tea -"black tea"'))).toEqual([ids[1], ids[2], ids[4]]);
  });

  it('finds parts of sentences in scripts without spaces', async () => {
    const texts = ['今日は東京タワーへ行く', '京都と東', 'สวัสดีครับ', '서울에서 만나요', '東 京'];
    const { realm, ids } = await givenTexts(texts, inIndex);
    const { member } = realm.people;
    expect(idsOf(await searched(realm, member, '東京'))).toEqual([ids[0]]);
    expect(idsOf(await searched(realm, member, '東'))).toEqual([ids[0], ids[1], ids[4]]);
    expect(idsOf(await searched(realm, member, 'สดี'))).toEqual([ids[2]]);
    expect(idsOf(await searched(realm, member, '서울'))).toEqual([ids[3]]);
    expect(idsOf(await searched(realm, member, '京都 東京'))).toEqual([]);
  });

  it('accepts any text', async () => {
    const { realm, ids } = await givenTexts(['NEAR here', 'a*b ^c', 'x', 'text:near', 'y'], inIndex);
    const { member } = realm.people;
    const harmless = [
      'NEAR(',
      '"',
      '""',
      '*',
      '^',
      '-',
      '--',
      '- -',
      '"-"',
      '()',
      'a AND',
      "' OR 1=1 --",
      '<b>',
    ];
    for (const search of harmless) expect((await searched(realm, member, search)).status).toBe(200);
    expect((await searched(realm, member, 'a\0b')).body.code).toBe('BAD_REQUEST');
    expect(idsOf(await searched(realm, member, 'NEAR('))).toEqual([ids[0], ids[3]]);
    expect(idsOf(await searched(realm, member, 'near*'))).toEqual([ids[0], ids[3]]);
    expect(idsOf(await searched(realm, member, '"near'))).toEqual([ids[0], ids[3]]);
    expect(idsOf(await searched(realm, member, 'text:near'))).toEqual([ids[3]]);
    expect(idsOf(await searched(realm, member, 'x '.repeat(5_000)))).toEqual([ids[2]]);
    expect(idsOf(await searched(realm, member, 'x'.repeat(10_000)))).toEqual([]);
    const many = Array.from({ length: 2_000 }, (_, i) => `w${i}`).join(' ');
    expect(idsOf(await searched(realm, member, many))).toEqual([]);
    expect((await searched(realm, member, '')).body.code).toBe('BAD_REQUEST');
  });

  it('pages like any other narrow', async () => {
    const { realm, ids } = await givenTexts(['a1 word', 'word', 'word', 'word b', 'word'], inIndex);
    const { member } = realm.people;
    const at = (anchor: number | string, before: number, after: number) =>
      searched(realm, member, 'word', [], { anchor, num_before: before, num_after: after });
    const first = await at('newest', 2, 0);
    expect(idsOf(first)).toEqual([ids[3], ids[4]]);
    expect(first.body).toMatchObject({ found_oldest: false, found_newest: true, history_limited: false });
    const middle = await at(ids[2] ?? 0, 1, 1);
    expect(idsOf(middle)).toEqual([ids[1], ids[2], ids[3]]);
    expect(middle.body).toMatchObject({ found_anchor: true, found_oldest: false, found_newest: false });
    const all = await at('oldest', 0, 50);
    expect(idsOf(all)).toEqual(ids);
    expect(all.body).toMatchObject({ found_oldest: true, found_newest: true });
  });
});

describe('highlights of a search', () => {
  it('mark matches in the HTML and in the topic, never inside a tag', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const to = { to: realm.channels.general, topic: 'run <b> & "running"' };
    await sent(realm, member, to, '**Running** to [run](https://run.example/run) & 東京タワー');
    const { body } = await searched(realm, member, 'runs 京タ', [], { apply_markdown: false });
    expect(body.messages).toMatchObject([
      {
        content: '**Running** to [run](https://run.example/run) & 東京タワー',
        match_content:
          '<p><strong><span class="highlight">Running</span></strong> to ' +
          '<a href="https://run.example/run"><span class="highlight">run</span></a> &amp; ' +
          '東<span class="highlight">京タ</span>ワー</p>',
        match_subject:
          '<span class="highlight">run</span> &lt;b&gt; &amp; &quot;<span class="highlight">running</span>&quot;',
      },
    ]);
  });

  it('are absent for a narrow without a search', async () => {
    const { realm } = await givenTexts(['one']);
    const { body } = await realm.call(list, realm.people.member, {
      anchor: 'newest',
      num_before: 9,
      num_after: 0,
    });
    expect(body.messages[0]).not.toHaveProperty('match_content');
  });

  it('come with the list of words that are too common', async () => {
    const { realm } = await givenTexts([]);
    const { body } = await realm.call(register, realm.people.member, { fetch_event_types: ['stop_words'] });
    expect(body.stop_words).toContain('the');
    expect(body.stop_words).toHaveLength(127);
  });
});

describe('a search together with other conditions', () => {
  it('matches all of them, and combines several searches into one', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = [
      await sent(realm, member, { to: general, topic: 'tea' }, 'green leaves'),
      await sent(realm, member, { to: random, topic: 'tea' }, 'green leaves'),
      await sent(realm, admin, { to: general, topic: 'tea' }, 'green'),
      await sent(realm, member, { people: [admin] }, 'green leaves https://a.example'),
    ];
    const find = async (search: string, ...narrow: readonly unknown[]) =>
      idsOf(await searched(realm, member, search, narrow)).map((id) => ids.indexOf(id));
    for (const isIndexed of [false, true]) {
      if (isIndexed) await indexed(realm);
      expect(await find('green', ['channel', general])).toEqual([0, 2]);
      expect(await find('green', { operator: 'channel', operand: general, negated: true })).toEqual([1, 3]);
      expect(await find('green', ['sender', admin.userId])).toEqual([2]);
      expect(await find('green', ['topic', 'TEA'])).toEqual([0, 1, 2]);
      expect(await find('green', ['is', 'dm'])).toEqual([3]);
      expect(await find('green', ['dm', [admin.userId]])).toEqual([3]);
      expect(await find('green', ['has', 'link'])).toEqual([3]);
      expect(await find('green', ['search', 'leaf'])).toEqual([]);
      expect(await find('green', ['search', 'leaves'])).toEqual([0, 1, 3]);
      expect(await find('green', { operator: 'search', operand: 'leaves', negated: true })).toEqual([2]);
      expect(await find('green', ['id', ids[1]])).toEqual([1]);
    }
  });

  it('finds messages by id, and highlights those of matches_narrow', async () => {
    const { realm, ids } = await givenTexts(['one two', 'two', 'three'], 2);
    const { member } = realm.people;
    const narrow = [{ operator: 'search', operand: 'two' }];
    const { body } = await realm.call(list, member, { message_ids: ids, narrow });
    expect(body.messages.map(({ match_content }: { match_content: string }) => match_content)).toEqual([
      '<p>one <span class="highlight">two</span></p>',
      '<p><span class="highlight">two</span></p>',
    ]);
    const flags = { anchor: 'newest', num_before: 50, num_after: 0, narrow, op: 'add', flag: 'starred' };
    const marked = await realm.call(updateFlagsForNarrow, member, flags);
    expect(marked.body).toMatchObject({ processed_count: 2, updated_count: 2 });
  });
});

describe('the cost of a search', () => {
  it('is two round trips in a warm container, and three in a new one', async () => {
    const { realm } = await givenTexts(['apples', 'more apples', 'red apples', 'pears'], 2);
    const tripsOf = async (container: TestRealm): Promise<number> => {
      container.meter.reset();
      expect(idsOf(await searched(container, realm.people.guest, 'apple'))).toHaveLength(3);
      return container.meter.roundTrips;
    };
    const container = realm.container();
    expect([await tripsOf(container), await tripsOf(container)]).toEqual([3, 2]);
  });
});

describe('a search during changes', () => {
  it('follows edits, moves and departures at once, whatever the index has', async () => {
    const { realm, ids } = await givenTexts(['red apples', 'green apples', 'no fruit'], 3);
    const { member, owner } = realm.people;
    const { general } = realm.channels;
    const { channelId: secret } = await givenChannel(realm, { isPrivate: true }, [owner]);
    await realm.call(update, member, { content: 'pears' }, { path: { message_id: ids[0] ?? 0 } });
    await realm.call(update, member, { content: 'apples' }, { path: { message_id: ids[2] ?? 0 } });
    await realm.call(update, owner, { stream_id: secret }, { path: { message_id: ids[1] ?? 0 } });
    expect(idsOf(await searched(realm, member, 'apples'))).toEqual([ids[2]]);
    expect(idsOf(await searched(realm, owner, 'apples', [['channel', secret]]))).toEqual([ids[1]]);
    await realm.call(unsubscribe, member, { subscriptions: ['general'] });
    expect(idsOf(await searched(realm, member, 'apples'))).toEqual([]);
    // Who names a public channel sees its history.
    expect(idsOf(await searched(realm, member, 'apples', [['channel', general]]))).toEqual([ids[2]]);
  });

  // Each waits some seconds for its message.
  it.concurrent.each(['lost', 'cut short'])(
    'returns an error if a segment is %s, and has it rebuilt',
    async (how) => {
      const { realm, ids } = await givenTexts(['apples', 'pears'], 2);
      const { member } = realm.people;
      const work = await workOf(realm, SEARCH_QUEUE);
      const [segment] = (await segmentsOf(realm)).segments;
      await damage(realm, segment?.name ?? '', how === 'lost' ? undefined : Buffer.from('SQLite format 3'));
      const refused = await searched(realm, member, 'apples');
      expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
      expect(refused.headers['Retry-After']).toBe('10');
      // Any other request goes on.
      expect((await realm.call(list, member, { anchor: 'newest', num_before: 5, num_after: 0 })).status).toBe(
        200,
      );
      const woken = await vi.waitFor(
        async () => {
          const messages = await work.receive();
          expect(messages).toHaveLength(1);
          return messages;
        },
        { timeout: 60_000, interval: 500 },
      );
      expect(woken.map(({ Body = '' }) => JSON.parse(Body))).toEqual([{ realm: realm.realm, verify: true }]);
      await indexed(realm);
      expect(idsOf(await searched(realm, member, 'apples'))).toEqual([ids[0]]);
    },
    90_000,
  );
});
