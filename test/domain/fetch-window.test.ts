import { describe, expect, it } from 'vitest';
import { type AnchoredWindow, windowResult } from '../../shared/domain/fetch/window.ts';
import type { MessageHead } from '../../shared/log/message.ts';

const heads = (...ids: number[]): MessageHead[] =>
  ids.map((id) => ({ id, senderId: 1, conversation: 'c', readBySender: false }));

const window = (given: Partial<AnchoredWindow> = {}): AnchoredWindow => ({
  anchor: 50,
  before: 2,
  after: 2,
  includeAnchor: true,
  ...given,
});

const full = { older: heads(40, 30), newer: heads(50, 60, 70) };

describe('the result of a window', () => {
  it('is not at the end of a side that is full', () => {
    const found = windowResult(
      window(),
      { heads: full.older, isComplete: true },
      { heads: full.newer, isComplete: true },
    );
    expect(found.heads.map(({ id }) => id)).toEqual([30, 40, 50, 60, 70]);
    expect(found).toMatchObject({
      found_anchor: true,
      found_oldest: false,
      found_newest: false,
      history_limited: false,
    });
  });

  it('is at the end of a side that is not full', () => {
    const older = { heads: heads(40), isComplete: true };
    const newer = { heads: full.newer, isComplete: true };
    expect(windowResult(window(), older, newer)).toMatchObject({ found_oldest: true, found_newest: false });
    expect(windowResult(window({ before: 1 }), older, newer)).toMatchObject({ found_oldest: false });
  });

  it('lets a search that gave up continue from what it found', () => {
    const older = { heads: heads(40), isComplete: false };
    const newer = { heads: full.newer, isComplete: true };
    expect(windowResult(window(), older, newer)).toMatchObject({
      found_oldest: false,
      history_limited: false,
    });
  });

  it('gives a search that found nothing before it gave up no place to continue from', () => {
    const nothing = { heads: [], isComplete: false };
    const older = windowResult(window(), nothing, { heads: full.newer, isComplete: true });
    expect(older).toMatchObject({ found_oldest: true, found_newest: false, history_limited: true });
    const newer = windowResult(window(), { heads: full.older, isComplete: true }, nothing);
    expect(newer).toMatchObject({ found_oldest: false, found_newest: true, history_limited: true });
  });
});
