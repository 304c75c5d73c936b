import { describe, expect, it } from 'vitest';
import { Claims, contentOf, goneOf } from './claims.ts';
import type { Outcome } from './client.ts';
import { type Comparison, type Heard, wrongHearing, wrongOrder } from './heard.ts';
import { MessageCache } from './message-cache.ts';

/*
 * Every fault that `npm run soak` looks for is one that it would find.
 */

const outcome = (state: Outcome['state'], began: number, ended: number): Outcome => ({
  state,
  began,
  ended,
  body: undefined,
});

const told: readonly Heard[] = [
  { id: 3, type: 'message', messages: [3] },
  { id: 4, type: 'reaction', messages: [3] },
  { id: 7, type: 'realm_user', messages: [] },
  { id: 8, type: 'message', messages: [8] },
];

describe('the events that a reader of the soak got', () => {
  const compare = (heard: readonly Heard[], more: Partial<Comparison> = {}): string[] =>
    wrongHearing({
      ...{ name: 'r', heard, told, after: 0 },
      ...{ isGone: () => false, isFleeting: () => false },
      ...more,
    });

  it('are right if they equal the log at the end', () => {
    expect(compare(told)).toEqual([]);
  });

  it.each(told.map((_, i) => i))('are wrong without event %i', (i) => {
    expect(compare(told.toSpliced(i, 1))).toHaveLength(1);
  });

  it('are wrong with an event twice, out of order, of another type, or that was never sent', () => {
    const [first, second, ...rest] = told as [Heard, Heard, ...Heard[]];
    expect(compare([first, first, second, ...rest])).toHaveLength(1);
    expect(compare([second, first, ...rest])).toHaveLength(1);
    expect(compare([first, { ...second, type: 'presence' }, ...rest])).toHaveLength(1);
    expect(compare([first, second, { id: 5, type: 'message', messages: [5] }, ...rest])).toHaveLength(1);
  });

  it('may have messages that were deleted since, and either form for users who come and go', () => {
    const more: Heard = { id: 9, type: 'message', messages: [9] };
    const is9 = (id: number) => id === 9;
    expect(compare([...told, more], { isGone: is9 })).toEqual([]);
    expect(compare([...told, more], { isFleeting: is9 })).toEqual([]);
    expect(compare(told, { told: [...told, more], isGone: is9 })).toHaveLength(1);
    expect(compare(told, { told: [...told, more], isFleeting: is9 })).toEqual([]);
    expect(compare(told.slice(1), { after: 3 })).toEqual([]);
  });

  it('may have transient events that others did not get, or lack them', () => {
    const presence: Heard = { id: 9, type: 'presence', messages: [] };
    expect(compare([...told, presence])).toEqual([]);
    expect(compare(told, { told: [...told, presence] })).toEqual([]);
  });

  it('have rising ids in every reply, heartbeats too', () => {
    expect(wrongOrder([{ id: 4 }, { id: 5 }, { id: 6, type: 'heartbeat' }], 3)).toEqual([]);
    expect(
      wrongOrder(
        [
          { id: 4, type: 'heartbeat' },
          { id: 4, type: 'heartbeat' },
        ],
        3,
      ),
    ).toHaveLength(1);
    expect(wrongOrder([{ id: 4 }, { id: 4 }], 3)).toHaveLength(1);
    expect(wrongOrder([{ id: 3 }], 3)).toHaveLength(1);
    expect(wrongOrder([{ id: 2, type: 'heartbeat' }], 3)).toHaveLength(1);
  });
});

describe('the replies to writers of the soak', () => {
  it('require each send to be stored once, or at most once if there was no reply', () => {
    const claims = new Claims();
    claims.send('a', 'done', 1);
    claims.send('b', 'unknown', undefined);
    claims.send('c', 'refused', undefined);
    const wrong = (there: Record<string, number[]>) => claims.wrongSends(new Map(Object.entries(there)));
    expect(wrong({ a: [1] })).toEqual([]);
    expect(wrong({ a: [1], b: [2] })).toEqual([]);
    expect(wrong({})).toEqual(['a was acknowledged as 1, and is lost']);
    expect(wrong({ a: [1, 2] })).toHaveLength(1);
    expect(wrong({ a: [2] })).toHaveLength(1);
    expect(wrong({ a: [1], b: [2, 3] })).toHaveLength(1);
    expect(wrong({ a: [1], c: [2] })).toHaveLength(1);
    claims.give(goneOf(1), 'there', 'gone', outcome('unknown', 1, 2));
    expect(wrong({})).toEqual([]);
  });

  it('require a setting to have the value of the last change, or of one that overlaps it or had no reply', () => {
    const claims = new Claims();
    const isRight = (value: string) => claims.wrongValue(contentOf(1), value).length === 0;
    claims.give(contentOf(1), 'first', 'x', outcome('unknown', 1, 5));
    expect(['first', 'x', 'y'].filter(isRight)).toEqual(['first', 'x']);
    claims.give(contentOf(1), 'first', 'y', outcome('done', 4, 6));
    claims.give(contentOf(1), 'first', 'no', outcome('refused', 4, 6));
    expect(['first', 'x', 'y', 'no'].filter(isRight)).toEqual(['x', 'y']);
    claims.give(contentOf(1), 'first', 'z', outcome('done', 5.5, 8));
    expect(['first', 'x', 'y', 'z'].filter(isRight)).toEqual(['y', 'z']);
    claims.give(contentOf(1), 'first', 'end', outcome('done', 9, 10));
    expect(['first', 'x', 'y', 'z', 'end'].filter(isRight)).toEqual(['end']);
  });
});

describe('the messages of a client of the soak', () => {
  const message = { id: 5, content: 'a', stream_id: 1, subject: 't', reactions: [], flags: [] };
  const reaction = { user_id: 2, reaction_type: 'unicode_emoji', emoji_code: '1f419' };
  const events = [
    { type: 'message', message, flags: [] },
    { type: 'update_message', message_id: 5, message_ids: [5], content: 'b', subject: 'u' },
    { type: 'reaction', op: 'add', message_id: 5, ...reaction },
    { type: 'update_message_flags', op: 'add', flag: 'starred', messages: [5] },
  ];
  const after = { ...message, content: 'b', subject: 'u', reactions: [reaction], flags: ['starred'] };
  const differences = (heard: readonly object[], fetched: readonly object[] = [after]): string[] => {
    const cache = new MessageCache();
    for (const event of heard) cache.apply(event);
    return cache.differences('r', fetched, 0);
  };

  it('follow from all events, and not from fewer', () => {
    expect(differences(events)).toEqual([]);
    for (let i = 0; i < events.length; i++) expect(differences(events.toSpliced(i, 1))).toHaveLength(1);
    expect(differences([...events, { type: 'delete_message', message_ids: [5] }], [])).toEqual([]);
    expect(differences(events, [])).toHaveLength(1);
  });
});
