import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_NESTING } from '../../shared/markdown/container.ts';
import { loadTypesetter } from '../../shared/markdown/formula.ts';
import {
  extractReferences,
  NOTHING_RESOLVED,
  type ResolvedReferences,
} from '../../shared/markdown/references.ts';
import { MAX_HTML_BYTES, render } from '../../shared/markdown/render.ts';
import { hostileText } from '../support/hostile-text.ts';
import { inspect } from './safe-html.ts';

const typesetter = await loadTypesetter();

const every = <V>(value: V): { get(): V } => ({ get: () => value });

/** An organization in which every name exists, and every one of them attacks. */
const hostileNames = (name: string, address: string): ResolvedReferences => ({
  usersByName: every({ id: 1, fullName: name }),
  usersById: every({ id: 1, fullName: name }),
  groups: every({ id: 2, name }),
  channels: every({ id: 3, name }),
  emoji: every({ sourceUrl: address }),
  images: every({
    url: `/user_uploads/${encodeURI(name.toWellFormed())}`,
    thumbnailUrl: `/user_uploads/thumbnail/${encodeURI(name.toWellFormed())}/840x560.webp`,
    contentType: 'image/png',
    width: 1,
    height: 1,
    isAnimated: true,
  }),
  typesetter,
  translatesFaces: true,
  baseUrl: 'http://a.b',
});

const NAMES = [
  '"><script>alert(1)</script>',
  "' onclick='x()",
  '**@*#`<>&"',
  '\ud800%',
  '</a><img src=x onerror=x()>',
];
const ADDRESSES = [
  '/a.png',
  'https://a.b/?a&b',
  'javascript:alert(1)',
  '//a.b',
  'data:image/svg+xml,<svg/onload=x()>',
];

describe('the checker of these tests', () => {
  it.each([
    '<script>alert(1)</script>',
    '<p onclick="x()">a</p>',
    '<a href="javascript:alert(1)">a</a>',
    '<a href="//a.b">a</a>',
    '<img alt=":a:" class="emoji" src="data:image/png,a" title="a">',
    '<a href="/a"><a href="/b">c</a></a>',
    '<p>a',
    '<p>a</em>',
    '<p>a < b</p>',
    '<p>a & b</p>',
    '<p class=x>a</p>',
    '<div style="x">a</div>',
    '<!-- a -->',
    '<span class="evil">a</span>',
    '<p>\u0000</p>',
  ])('refuses %j', (html) => {
    expect(inspect(html).problem).toBeDefined();
  });

  it('accepts valid HTML and measures its depth', () => {
    expect(inspect('<p>a &amp; <a href="/b">c</a><br>\n</p>')).toEqual({ depth: 2 });
  });
});

describe('hostile texts', () => {
  it('never make active HTML, and never throw', () => {
    fc.assert(
      fc.property(
        hostileText,
        fc.constantFrom(...NAMES),
        fc.constantFrom(...ADDRESSES),
        (text, name, address) => {
          for (const found of [NOTHING_RESOLVED, hostileNames(name, address)]) {
            expect(inspect(render(text, found).html)).not.toHaveProperty('problem');
          }
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('give the same result every time', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const found = hostileNames('x', '/a.png');
        expect(render(text, found)).toEqual(render(text, found));
        expect(extractReferences(text)).toEqual(extractReferences(text));
      }),
      { numRuns: 300 },
    );
  });

  it('may contain NUL, which becomes the replacement character', () => {
    expect(render('a\u0000<b>', NOTHING_RESOLVED).html).toBe('<p>a\ufffd&lt;b&gt;</p>');
  });
});

/** A message is at most this long. */
const LONGEST_TEXT = 10_000;
const filledWith = (piece: string): string => piece.repeat(LONGEST_TEXT / piece.length);
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

/** Texts of full length that make a careless parser slow, its result long or its result deep. */
const LONG_TEXTS: readonly (readonly [string, string])[] = [
  ...[
    '*',
    '**',
    '*a',
    'a*',
    '***a',
    '~~',
    '_',
    '`',
    '`a',
    '[',
    '[[',
    '[a](',
    '[a](<',
    '[a](b "',
    '![',
    '<',
    '<a:',
    '<a@b.c',
    '<!--',
  ].map((piece) => [piece, filledWith(piece)] as const),
  ...[
    '@',
    '@**',
    '@**a',
    '@*a',
    '@**a**',
    '#**',
    '#**a>b**',
    ':',
    ':a',
    ':+1:',
    '🙂',
    '<time:',
    '<time:0>',
    '$$',
    '$$a',
    '&',
    '&amp;',
  ].map((piece) => [piece, filledWith(piece)] as const),
  ...[
    '>',
    '> ',
    '- ',
    '1. ',
    '> - ',
    '|',
    'a|',
    '|a|\n|-|\n',
    '\n',
    '# ',
    '\\',
    '\t',
    '- a\n',
    '> a\n',
    '```quote\n',
    '```\n',
    '~~~a\n',
  ].map((piece) => [piece, filledWith(piece)] as const),
  ...[
    'http://',
    'http://a',
    'a.com ',
    'a@b.c ',
    '://',
    'mailto:',
    'http://a/((',
    "http://a.b/'",
    'www.a.',
  ].map((piece) => [piece, filledWith(piece)] as const),
  ...[
    '(http://a/',
    ",a.com/'",
    'a@b.co,',
    '~~a',
    '~~a~~',
    '***a***',
    '***a b** ',
    ':)',
    ':) ',
    '>\n',
    '> \n>',
    '  1. a\n',
    '- a\n  ',
    '1. a\n\n',
    '<time:1 jan 2026 ',
    '$$x',
    '\\$$',
    '~~~math\n',
  ].map((piece) => [piece, filledWith(piece)] as const),
  ['brackets, balanced', '['.repeat(5000) + ']'.repeat(5000)],
  ['runs of backticks', lines(140, (index) => '`'.repeat(index))],
  ['ever deeper quotes', lines(140, (index) => `${'>'.repeat(index)}a`)],
  ['ever deeper lists', lines(140, (index) => `${' '.repeat(index)}- a`)],
  ['fenced quotes, closed', '```quote\n'.repeat(500) + '```\n'.repeat(1250)],
  ['spoilers', '```spoiler a\n'.repeat(769)],
  ['a fence before many spaces', `${'```quote\n'.repeat(30)}\`\`\`a${' '.repeat(9_700)}b`],
  ['a wide table', `${'|'.repeat(1500)}\n${'|-'.repeat(1500)}|\n${'a\n'.repeat(2500)}`],
  ['a tall table', `${'a|'.repeat(400)}\n${'-|'.repeat(400)}\n${'|\n'.repeat(4000)}`],
  ['topics of four bytes', `#**a>${'🙂'.repeat(30)}**`.repeat(150)],
];

describe('long texts', () => {
  // The limit on time is generous on purpose, for slow machines: rendering takes milliseconds, and anything that grows
  // with the square of the length takes minutes.
  it.each(LONG_TEXTS)('stay within the limits: %j', { timeout: 30_000 }, (_says, text) => {
    for (const found of [NOTHING_RESOLVED, hostileNames('x'.repeat(100), '/a.png')]) {
      const { html } = render(text, found);
      const { problem, depth } = inspect(html);
      expect(problem).toBeUndefined();
      // A level may be two elements (a list and its item, a spoiler and its content); a table adds five.
      expect(depth).toBeLessThanOrEqual(2 * MAX_NESTING + 5);
      expect(Buffer.byteLength(html)).toBeLessThanOrEqual(MAX_HTML_BYTES);
      extractReferences(text);
    }
  });

  it('show deeper nesting as text', () => {
    const { html } = render(`${'>'.repeat(MAX_NESTING + 2)} **a**`, NOTHING_RESOLVED);
    expect(html.match(/<blockquote>/g)).toHaveLength(MAX_NESTING);
    expect(html).toContain('<p>&gt;&gt; <strong>a</strong></p>');
  });

  it('are shown as source if their markup is too long, and then mention nobody', () => {
    const found = hostileNames('x', '/a.png');
    const long = render(`@**a** ${':+1:'.repeat(2_400)}\n<b>\n\nc`, found);
    expect(long.html).toBe(`<p>@**a** ${':+1:'.repeat(2_400)}<br>\n&lt;b&gt;</p>\n<p>c</p>`);
    expect(long.mentionedUserIds).toEqual([]);
    expect(render(`@**a** ${':+1:'.repeat(500)}`, found).mentionedUserIds).toEqual([1]);
  });
});

describe('the work for a text', () => {
  /** Milliseconds of processor time, the least of a few tries. */
  const work = (text: string): number =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const before = process.cpuUsage();
        render(text, NOTHING_RESOLVED);
        extractReferences(text);
        const { user } = process.cpuUsage(before);
        return user / 1_000;
      }),
    );

  // Four times the text takes four times the work; sixteen times would be the square.
  it.each(LONG_TEXTS.filter(([piece]) => piece.length < 20))(
    'is linear in its length: %j',
    { timeout: 60_000 },
    (piece) => {
      const [short, long] = [2_500, 10_000].map((length) => work(piece.repeat(length / piece.length)));
      expect((long ?? 0) < 60 || (long ?? 0) / (short ?? 1) < 11).toBe(true);
    },
  );
});
