import { describe, expect, it } from 'vitest';
import { foundIn, type Placed } from '../../shared/domain/fetch/message-window.ts';
import type { MessageHead } from '../../shared/log/message.ts';

const heads = (...ids: number[]): MessageHead[] =>
  ids.map((id) => ({ id, senderId: 1, conversation: 'c', readBySender: false }));

const window = (given: Partial<Placed> = {}): Placed => ({
  anchor: 50,
  before: 2,
  after: 2,
  includeAnchor: true,
  ...given,
});

const full = { older: heads(40, 30), newer: heads(50, 60, 70) };

describe('what was found of a window', () => {
  it('both sides full', () => {
    const found = foundIn(
      window(),
      { heads: full.older, complete: true },
      { heads: full.newer, complete: true },
    );
    expect(found.heads.map(({ id }) => id)).toEqual([30, 40, 50, 60, 70]);
    expect(found).toMatchObject({
      found_anchor: true,
      found_oldest: false,
      found_newest: false,
      history_limited: false,
    });
  });

  it('a side that has an end', () => {
    const older = { heads: heads(40), complete: true };
    const newer = { heads: full.newer, complete: true };
    expect(foundIn(window(), older, newer)).toMatchObject({ found_oldest: true, found_newest: false });
    expect(foundIn(window({ before: 1 }), older, newer)).toMatchObject({ found_oldest: false });
  });

  it('a search that gave up goes on from what it found', () => {
    const older = { heads: heads(40), complete: false };
    const newer = { heads: full.newer, complete: true };
    expect(foundIn(window(), older, newer)).toMatchObject({ found_oldest: false, history_limited: false });
  });

  it('a search that gave up without finding anything has nowhere to go on from', () => {
    const nothing = { heads: [], complete: false };
    const older = foundIn(window(), nothing, { heads: full.newer, complete: true });
    expect(older).toMatchObject({ found_oldest: true, found_newest: false, history_limited: true });
    const newer = foundIn(window(), { heads: full.older, complete: true }, nothing);
    expect(newer).toMatchObject({ found_oldest: false, found_newest: true, history_limited: true });
  });
});
