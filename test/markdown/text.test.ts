import { describe, expect, it } from 'vitest';
import { NOTHING_RESOLVED } from '../../shared/markdown/references.ts';
import { render, renderDescription } from '../../shared/markdown/render.ts';

type Example = readonly [says: string, text: string, html: string];

const examples = (rows: readonly Example[]): void => {
  it.each(rows)('%s', (_says, text, html) => {
    expect(render(text, NOTHING_RESOLVED).html).toBe(html);
  });
};

describe('emphasis', () => {
  examples([
    ['asterisks', '*a* **b** ***c***', '<p><em>a</em> <strong>b</strong> <strong><em>c</em></strong></p>'],
    ['inside a word', 'un*frigging*believable', '<p>un<em>frigging</em>believable</p>'],
    ['asterisks alone are text', 'char * and void *', '<p>char * and void *</p>'],
    ['underscores are text', '_a_ __init__ snake_case_name', '<p>_a_ __init__ snake_case_name</p>'],
    ['both, one of them longer', '***a** b*', '<p><em><strong>a</strong> b</em></p>'],
    ['ends with its line', '**a\nb** *c\nd*', '<p>**a<br>\nb** *c<br>\nd*</p>'],
    ['deletion', '~~gone~~ ~stays~', '<p><del>gone</del> ~stays~</p>'],
    ['deletion with spaces', 'not ~~ *that* ~~ this', '<p>not <del> <em>that</em> </del> this</p>'],
    ['deletion ends with its line', '~~a\nb~~ ~~~c~~', '<p>~~a<br>\nb~~ ~~~c~~</p>'],
    ['a backslash is text', String.raw`C:\*a* \\`, String.raw`<p>C:\<em>a</em> \\</p>`],
  ]);
});

describe('paragraphs and lines', () => {
  examples([
    ['a new line is a line break', 'a\nb\n\nc', '<p>a<br>\nb</p>\n<p>c</p>'],
    ['a line of Windows', 'a\r\nb', '<p>a<br>\nb</p>'],
    ['a heading', '# One\n## Two', '<h1>One</h1>\n<h2>Two</h2>'],
    ['white space in lines stays', 'a \n   b', '<p>a <br>\n   b</p>'],
    ['a hash tag is no heading', '#one', '<p>#one</p>'],
    ['underlined text is no heading', 'a\n===', '<p>a<br>\n===</p>'],
    ['a rule', 'a\n\n---', '<p>a</p>\n<hr>'],
    ['nothing', '', ''],
  ]);
});

describe('lists', () => {
  examples([
    ['bullets right after a paragraph', 'a:\n* b\n* c', '<p>a:</p>\n<ul>\n<li>b</li>\n<li>c</li>\n</ul>'],
    ['a nested list', '- a\n  - b', '<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>'],
    [
      'a list two spaces into a numbered one',
      '1. red\n  4. dark\n  5. light\n2. blue',
      '<ol>\n<li>red<ol start="4">\n<li>dark</li>\n<li>light</li>\n</ol>\n</li>\n<li>blue</li>\n</ol>',
    ],
    ['all bullets are alike', '+ a\n- b\n* c', '<ul>\n<li>a</li>\n<li>b</li>\n<li>c</li>\n</ul>'],
    [
      'items with blank lines between',
      '* a\n\n* b',
      '<ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>',
    ],
    ['bullets, then numbers', '* a\n1. b', '<ul>\n<li>a</li>\n</ul>\n<ol>\n<li>b</li>\n</ol>'],
    ['a line below an item is part of it', '* a\nb', '<ul>\n<li>a<br>\nb</li>\n</ul>'],
    ['a year begins no list in a paragraph', 'since\n1999. So', '<p>since<br>\n1999. So</p>'],
    ['an empty item', '* \n* b', '<ul>\n<li></li>\n<li>b</li>\n</ul>'],
    [
      'code in an item',
      '1. a\n  ```\n  x\n  ```',
      '<ol>\n<li>a<div class="codehilite"><pre><span></span><code>x\n</code></pre></div>\n</li>\n</ol>',
    ],

    ['numbers', '1. a\n2. b', '<ol>\n<li>a</li>\n<li>b</li>\n</ol>'],
    [
      'numbers go on where an earlier message ended',
      '7. a\n8. b',
      '<ol start="7">\n<li>a</li>\n<li>b</li>\n</ol>',
    ],
  ]);
});

describe('quotes', () => {
  examples([
    ['marked lines', '> a\n> b\n\nc', '<blockquote>\n<p>a<br>\nb</p>\n</blockquote>\n<p>c</p>'],
    ['marks that quote nothing', '>\n>', '<p>&gt;<br>\n&gt;</p>'],
    ['marks at the end of a paragraph', 'a\n>', '<p>a<br>\n&gt;</p>'],
    ['nested', '> > a', '<blockquote>\n<blockquote>\n<p>a</p>\n</blockquote>\n</blockquote>'],
    ['fenced', '```quote\n*a*\n```\nb', '<blockquote>\n<p><em>a</em></p>\n</blockquote>\n<p>b</p>'],
    ['fenced, never closed', '~~~ quote\na', '<blockquote>\n<p>a</p>\n</blockquote>'],
    [
      'fenced in a list',
      '- ```quote\n  a\n  ```\nb',
      '<ul>\n<li>\n<blockquote>\n<p>a</p>\n</blockquote>\n</li>\n</ul>\n<p>b</p>',
    ],
    [
      'quotes nest with equal fences',
      '```quote\n```quote\na\n```\nb\n```\nc',
      '<blockquote>\n<blockquote>\n<p>a</p>\n</blockquote>\n<p>b</p>\n</blockquote>\n<p>c</p>',
    ],
    [
      'code in a quote',
      '```quote\n```py\n> x\n```\na\n```\nb',
      '<blockquote>\n<div class="codehilite" data-code-language="Python"><pre><span></span><code>&gt; x\n</code></pre></div>\n<p>a</p>\n</blockquote>\n<p>b</p>',
    ],
    [
      'a quote shown as code is no quote',
      '````\n```quote\na\n```\n````',
      '<div class="codehilite"><pre><span></span><code>```quote\na\n```\n</code></pre></div>',
    ],
    [
      'other words are code',
      '```quoted\na\n```',
      '<div class="codehilite" data-code-language="quoted"><pre><span></span><code>a\n</code></pre></div>',
    ],
  ]);
});

describe('spoilers', () => {
  const frame = (header: string, content: string): string =>
    `<div class="spoiler-block"><div class="spoiler-header">\n${header}</div>` +
    `<div class="spoiler-content" aria-hidden="true">\n${content}</div></div>`;
  examples([
    [
      'with a header',
      '```spoiler The *end*\nHe did it.\n```\nb',
      `${frame('<p>The <em>end</em></p>\n', '<p>He did it.</p>\n')}\n<p>b</p>`,
    ],
    ['without a header', '```spoiler\na\n```', frame('', '<p>a</p>\n')],
    [
      'in a quote',
      '```quote\n```spoiler a\nb\n```\n```',
      `<blockquote>\n${frame('<p>a</p>\n', '<p>b</p>\n')}\n</blockquote>`,
    ],
  ]);
});

describe('code', () => {
  const block = (code: string, language = ''): string =>
    `<div class="codehilite"${language}><pre><span></span><code>${code}</code></pre></div>`;
  examples([
    ['in a line', 'a `<b> *c* &amp;` d', '<p>a <code>&lt;b&gt; *c* &amp;amp;</code> d</p>'],
    ['fenced', '```\n<i>\n```', block('&lt;i&gt;\n')],
    ['with a language', '```js\n1 < 2\n```', block('1 &lt; 2\n', ' data-code-language="JavaScript"')],
    ['with a language in braces', '~~~ {.rs}\nx\n~~~', block('x\n', ' data-code-language="Rust"')],
    ['with an unknown language', '``` Foo+1\nx\n```', block('x\n', ' data-code-language="Foo+1"')],
    ['with words that are no language', '``` "><script>\nx\n```', block('x\n')],
    ['never closed', '```\nx', block('x\n')],
    ['indented', '    x\n    y', block('x\ny\n')],
    ['empty', '```\n```', block('')],
    ['with its spaces', '` a ` `` `b` ``', '<p><code> a </code> <code> `b` </code></p>'],
    ['without space at the ends of lines', '```\n\na \t\n\n  b\n\n```', block('a\n\n  b\n')],
    ['a fence with marks after it is text', '~~~a ~ b\nc', '<p>~~~a ~ b<br>\nc</p>'],
    ['only a fence of the same marks ends it', '```\na\n````\nb\n```', block('a\n````\nb\n')],
    ['older and mixed languages', '```py2\nx\n```', block('x\n', ' data-code-language="Python 2.x"')],
    ['without a typesetter formulas are code', '$$x^2 < y$$', '<p><code>x^2 &lt; y</code></p>'],
    ['blocks of formulas too', '```math\n\\frac12\n```', block('\\frac12\n', ' data-code-language="math"')],
  ]);
});

describe('tables', () => {
  examples([
    [
      'with alignment',
      'a | b\n:- | -:\n*1* | `2`',
      '<table>\n<thead>\n<tr>\n<th style="text-align: left;">a</th>\n<th style="text-align: right;">b</th>\n</tr>\n</thead>\n' +
        '<tbody>\n<tr>\n<td style="text-align: left;"><em>1</em></td>\n<td style="text-align: right;"><code>2</code></td>\n</tr>\n</tbody>\n</table>',
    ],
    ['without a line of dashes it is text', '| a | b |', '<p>| a | b |</p>'],
  ]);
});

describe('links', () => {
  examples([
    [
      'with a text',
      '[a *b*](https://example.com/?x=1&y=2)',
      '<p><a href="https://example.com/?x=1&amp;y=2">a <em>b</em></a></p>',
    ],
    [
      'with a title',
      '[a](https://example.com "say \'<i>\'")',
      '<p><a href="https://example.com" title="say \'&lt;i&gt;\'">a</a></p>',
    ],
    [
      'an address by itself',
      'see https://example.com/a_b_c.',
      '<p>see <a href="https://example.com/a_b_c">https://example.com/a_b_c</a>.</p>',
    ],
    [
      'an address without a scheme',
      'example.com/x',
      '<p><a href="http://example.com/x">example.com/x</a></p>',
    ],
    [
      'a file name is no address',
      'README.md main.py build.sh lib.rs',
      '<p>README.md main.py build.sh lib.rs</p>',
    ],
    [
      'an address is shown as written',
      'https://example.com/%C3%A9',
      '<p><a href="https://example.com/%C3%A9">https://example.com/%C3%A9</a></p>',
    ],
    [
      'a host of another alphabet',
      'https://bücher.example',
      '<p><a href="https://xn--bcher-kva.example">https://bücher.example</a></p>',
    ],
    [
      'in angle brackets',
      '<https://example.com>',
      '<p>&lt;<a href="https://example.com">https://example.com</a>&gt;</p>',
    ],
    [
      'with a name before the host',
      'ftp http://ada@example.com:81/a?b#c',
      '<p>ftp <a href="http://ada@example.com:81/a?b#c">http://ada@example.com:81/a?b#c</a></p>',
    ],
    [
      'punctuation after it is not part of it',
      '(see http://a.example/b_(c)). "d.example"! Or http://e:',
      '<p>(see <a href="http://a.example/b_(c)">http://a.example/b_(c)</a>). &quot;d.example&quot;! Or <a href="http://e">http://e</a>:</p>',
    ],
    [
      'after a quote or a colon',
      '"go.dev/x" at:go.dev',
      '<p>&quot;<a href="http://go.dev/x">go.dev/x</a>&quot; at:<a href="http://go.dev">go.dev</a></p>',
    ],
    [
      'not after other marks',
      'a=http://b.example /go.dev -go.dev',
      '<p>a=http://b.example /go.dev -go.dev</p>',
    ],
    [
      'not with other text after it',
      'http://a.example"b go.dev_x',
      '<p>http://a.example&quot;b go.dev_x</p>',
    ],
    [
      'parentheses may nest six times',
      `http://a.example/${'('.repeat(6)}${')'.repeat(6)} http://a.example/${'('.repeat(7)}${')'.repeat(7)}`,
      `<p><a href="http://a.example/${'('.repeat(6)}${')'.repeat(6)}">http://a.example/${'('.repeat(6)}${')'.repeat(6)}</a> http://a.example/${'('.repeat(7)}${')'.repeat(7)}</p>`,
    ],
    [
      'emphasis and emoji in it are part of it',
      'go.dev/*a*:smile:_b_',
      '<p><a href="http://go.dev/*a*:smile:_b_">go.dev/*a*:smile:_b_</a></p>',
    ],
    ['mail goes to a host only', 'ada@go.dev/x', '<p>ada@go.dev/x</p>'],
    [
      'no text',
      '[](https://a.example/b) [ ](go.dev)',
      '<p><a href="https://a.example/b">https://a.example/b</a> <a href="http://go.dev">http://go.dev</a></p>',
    ],
    ['telephones', '[a](tel:+1) [b](sms:+1)', '<p><a href="tel:+1">a</a> <a href="sms:+1">b</a></p>'],
    ['mail', 'ada@example.com', '<p><a href="mailto:ada@example.com">ada@example.com</a></p>'],
    [
      'a path on this server',
      '[f.txt](/user_uploads/2/ab/f.txt)',
      '<p><a href="/user_uploads/2/ab/f.txt">f.txt</a></p>',
    ],
    ['a place in the client', '[x](#narrow/channel/1)', '<p><a href="#narrow/channel/1">x</a></p>'],
    [
      'a target without a scheme',
      '[x](example.com) [y](me@example.com)',
      '<p><a href="http://example.com">x</a> <a href="mailto:me@example.com">y</a></p>',
    ],
    [
      'an image is a link',
      '![x](https://example.com/x.png)',
      '<p>!<a href="https://example.com/x.png">x</a></p>',
    ],
    ['no reference definitions', '[a]\n\n[a]: /b', '<p>[a]</p>\n<p>[a]: /b</p>'],
    [
      'no names in a link’s address',
      'https://example.com/:smile:/',
      '<p><a href="https://example.com/:smile:/">https://example.com/:smile:/</a></p>',
    ],
  ]);

  it.each([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](javascript&colon;alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](<java\tscript:alert(1)>)',
    '[x](\u0001javascript:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](data:image/png;base64,AAAA)',
    '[x](vbscript:msgbox(1))',
    '[x](file:///etc/passwd)',
    '[x](//example.com)',
    '[x](blob:0123-4567)',
    '<javascript:alert(1)>',
    'javascript://example.com/%0aalert(1)',
  ])('are not made of %j', (text) => {
    expect(render(text, NOTHING_RESOLVED)).toMatchObject({
      hasLink: false,
      html: expect.not.stringMatching(/<a|href=/),
    });
  });

  it.each([
    ['https://example.com', { links: ['https://example.com'], hasLink: true, hasImage: false }],
    ['https://example.com/a.PNG?x#y', { hasLink: true, hasImage: true }],
    ['https://example.com/?a.png', { hasLink: true, hasImage: false }],
    [
      '[a](/user_uploads/2/a.txt) [b](/user_uploads/2/b.png) [c](/user_uploads/2/a.txt)',
      { links: ['/user_uploads/2/a.txt', '/user_uploads/2/b.png'], hasLink: true, hasImage: true },
    ],
    ['`https://example.com/a.png`', { links: [], hasLink: false, hasImage: false }],
  ])('are reported with the contents of %j', (text, contains) => {
    expect(render(text, NOTHING_RESOLVED)).toMatchObject(contains);
  });
});

describe('HTML is text', () => {
  examples([
    ['tags', '<b onclick="x()">a</b>', '<p>&lt;b onclick=&quot;x()&quot;&gt;a&lt;/b&gt;</p>'],
    [
      'blocks',
      '<div>\n<script>alert(1)</script>',
      '<p>&lt;div&gt;<br>\n&lt;script&gt;alert(1)&lt;/script&gt;</p>',
    ],
    ['comments', '<!-- a --> <![CDATA[b]]>', '<p>&lt;!-- a --&gt; &lt;![CDATA[b]]&gt;</p>'],
    [
      'character references are handed on',
      '&lt;b&gt; &copy; &#x41; &; & &a',
      '<p>&lt;b&gt; &copy; &#x41; &amp;; &amp; &amp;a</p>',
    ],
  ]);
});

describe('times', () => {
  const time = (datetime: string, text: string): string =>
    `<p><time datetime="${datetime}">${text}</time></p>`;
  const error = (text: string): string =>
    `<p><span class="timestamp-error">Invalid time format: ${text}</span></p>`;
  examples([
    ['UTC', '<time:2026-01-01T00:00:00Z>', time('2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')],
    [
      'with a zone',
      '<time:2026-01-01T09:30:00+05:30>',
      time('2026-01-01T04:00:00Z', '2026-01-01T09:30:00+05:30'),
    ],
    ['no zone is UTC', '<time:2026-01-01 09:30>', time('2026-01-01T09:30:00Z', '2026-01-01 09:30')],
    ['a day', '<time:2026-02-28>', time('2026-02-28T00:00:00Z', '2026-02-28')],
    ['a day in words', '<time:Feb 3rd 2026>', time('2026-02-03T00:00:00Z', 'Feb 3rd 2026')],
    [
      'a day and a time in words',
      '<time:Sunday, 1 March 2026 12:05 am CET>',
      time('2026-02-28T23:05:00Z', 'Sunday, 1 March 2026 12:05 am CET'),
    ],
    ['a month alone', '<time:March 2026>', error('March 2026')],
    ['a day that no month has', '<time:31 June 2026>', error('31 June 2026')],
    ['an hour that no half has', '<time:1 June 2026 13pm>', error('1 June 2026 13pm')],
    ['a zone that nobody knows', '<time:1 June 2026 XYZ>', error('1 June 2026 XYZ')],
    ['a leap day', '<time:2028-02-29>', time('2028-02-29T00:00:00Z', '2028-02-29')],
    ['seconds since 1970', '<time:1767225600>', time('2026-01-01T00:00:00Z', '1767225600')],
    ['a day that is not', '<time:2026-02-30>', error('2026-02-30')],
    ['an hour that is not', '<time:2026-01-01T25:00Z>', error('2026-01-01T25:00Z')],
    ['a zone that is not', '<time:2026-01-01T00:00:00+99:00>', error('2026-01-01T00:00:00+99:00')],
    ['words', '<time:next "Friday"&>', error('next &quot;Friday&quot;&amp;')],
    ['before the year 1', '<time:0001-01-01T00:00:00+10:00>', error('0001-01-01T00:00:00+10:00')],
    ['nothing', '<time:>', '<p>&lt;time:&gt;</p>'],
  ]);
});

describe('other texts', () => {
  it.each([
    ['/me waves', true],
    ['/me', false],
    ['/mention', false],
    [' /me waves', false],
    ['a\n/me waves', false],
    ['/me waves\n* and leaves', false],
  ])('%j is a /me message: %s', (text, isMe) => {
    expect(render(text, NOTHING_RESOLVED).isMe).toBe(isMe);
  });

  it('renders descriptions by the same rules', () => {
    expect(renderDescription('The **main** channel <x>')).toBe(
      '<p>The <strong>main</strong> channel &lt;x&gt;</p>',
    );
  });
});
