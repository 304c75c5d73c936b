import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { htmlDiff } from '../../shared/domain/reader/html-diff.ts';
import { render } from '../../shared/markdown/render.ts';
import { hostileText } from '../support/hostile-text.ts';
import { KNOWN } from '../support/known-names.ts';

const ins = (text: string): string => `<span class="highlight_text_inserted">${text}</span>`;
const del = (text: string): string => `<span class="highlight_text_deleted">${text}</span>`;

const SPANS = /<span class="highlight_text_(inserted|deleted)">((?:(?!<\/span>).)*)<\/span>/gs;

/** One side of a difference: without the words of the other one, and without marks. */
const sideOf = (diff: string, side: 'inserted' | 'deleted'): string =>
  diff.replace(SPANS, (_, as, text) => (as === side ? text : ''));

const words = (html: string): string[] =>
  html
    .replace(/<(?!img)[^>]*>/g, ' ')
    .split(/\s+/)
    .filter(Boolean);
/** All of it that is text, in no order: tags that are gone no longer part words. */
const letters = (html: string): string[] => [...words(html).join('')].sort();
const tags = (html: string): string[] => html.match(/<(?!img)[^>]*>/g) ?? [];

describe('the difference of two versions of a message', () => {
  it.each([
    ['nothing', '<p>a b</p>', '<p>a b</p>', '<p>a b</p>'],
    [
      'a word in the middle',
      '<p>content before edit</p>',
      '<p>content after edit</p>',
      `<p>content ${ins('after')} ${del('before')} edit</p>`,
    ],
    ['a word at the end', '<p>a b</p>', '<p>a c</p>', `<p>a ${ins('c')}${del('b')}</p>`],
    ['words that are new', '<p>a d</p>', '<p>a b c d</p>', `<p>a ${ins('b c')} d</p>`],
    ['words that are gone', '<p>a b c d</p>', '<p>a d</p>', `<p>a ${del('b c')} d</p>`],
    ['a paragraph', '<p>a</p>', '<p>a</p>\n<p>b c</p>', `<p>a</p>\n<p>${ins('b c')}</p>`],
    ['paragraphs', '<p>a</p>\n<p>b</p>\n<p>c</p>', '<p>a</p>', `<p>a</p>${del('b c')}`],
    [
      'emphasis, which is no word',
      '<p>a b</p>',
      '<p>a <strong>b</strong></p>',
      '<p>a <strong>b</strong></p>',
    ],
    ['everything', '<p>x</p>', '<ul>\n<li>y</li>\n</ul>', `${del('x')}<ul>\n<li>${ins('y')}</li>\n</ul>`],
    [
      'a picture',
      '<p><img alt=":a:" src="/a.png"></p>',
      '<p><img alt=":b:" src="/b.png"></p>',
      `<p>${ins('<img alt=":b:" src="/b.png">')}${del('<img alt=":a:" src="/a.png">')}</p>`,
    ],
    ['an entity', '<p>a &amp; b</p>', '<p>a &lt; b</p>', `<p>a ${ins('&lt;')} ${del('&amp;')} b</p>`],
  ])('%s', (_says, before, after, expected) => {
    expect(htmlDiff(before, after)).toBe(`<div>${expected}</div>`);
  });

  it('has exactly the tags of the new version, and all words of the old one, for any texts', () => {
    fc.assert(
      fc.property(hostileText, hostileText, fc.nat(), (one, two, cut) => {
        // Half of the second text is the first one, so that there is something in common.
        const before = render(one, KNOWN).html;
        const after = render(`${one.slice(0, cut % (one.length + 1))}${two}`, KNOWN).html;
        const diff = htmlDiff(before, after);
        const shown = sideOf(diff, 'inserted');
        expect(tags(shown)).toEqual(tags(`<div>${after}</div>`));
        expect(words(shown)).toEqual(words(after));
        // Words that stayed stand outside of any mark, and so on both sides.
        expect(letters(sideOf(diff, 'deleted'))).toEqual(letters(before));
      }),
      { numRuns: 300 },
    );
  });

  it('takes bounded time for long texts that have nothing in common', () => {
    const text = (word: string): string =>
      `<p>${Array.from({ length: 20_000 }, (_, i) => word + i).join(' ')}</p>`;
    const started = performance.now();
    const diff = htmlDiff(text('a'), text('b'));
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(sideOf(diff, 'inserted')).toBe(`<div>${text('b')}</div>`);
    expect(words(sideOf(diff, 'deleted'))).toHaveLength(20_000);
  });

  it('finds a small change in a long text', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `w${i}`);
    const text = (list: readonly string[]): string => `<p>${list.join(' ')}</p>`;
    const changed = many.with(300, 'x').with(600, 'y');
    const marks = htmlDiff(text(many), text(changed)).match(SPANS);
    expect(marks).toEqual([ins('x'), del('w300'), ins('y'), del('w600')]);
  });
});
