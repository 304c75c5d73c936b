import fc from 'fast-check';

const words = (text: string): string[] => text.trim().split(/ +/);

/** Pieces that begin, end or break every construct of the dialect, and what attackers add to them. */
const PIECES = [
  ...words(String.raw`* ** *** _ ~~ ${'` `` ``` ````'} ~~~ $$ [ ]( ](< ) ![ < > | \ \| ( / = # " ' & 0 é ﬁ`),
  ...words(
    '@** @_** @* @_* #** >t @5** : :smile: :x: <time: 2026-01-01> |12** all** topic** Ada devs general word',
  ),
  ...words(
    'https:// http://a.b/ example.com a@b.com mailto: javascript: JaVaScRiPt: data:text/html, vbscript: // ftp://a.b',
  ),
  ...words('<script> </script> " <!-- --> <![CDATA[ </p> </code> {.a} %00 %3Cscript%3E'),
  ...words(
    String.raw`\frac{ \sqrt[ \text{ \href{javascript:x}{ \htmlClass{a}{ \def\a{ \color{ \begin{matrix} & \\ } $ ^ _ {`,
  ),
  ...words('sms: http://a@b.c/ (http://a.b/(c ,a.com :) (: <3 ;) :D'),
  ...words('&lt; &colon; &#106; &#x3c; &amp; &#0; &quot;'),
  ...['<img src=x onerror=alert(1)>', '" onclick="x()', "' onmouseover='x()", ' ', '  ', '/me ', '[x]: y'],
  ...['> ', '>> ', '- ', '  - ', '1. ', '7) ', '    ', '\t', '# ', '---\n', '|-|-|\n', '===\n'].map(
    (line) => `\n${line}`,
  ),
  ...words('quote spoiler js math "><script>').map((kind) => `\n\`\`\`${kind}\n`),
  ...['\n', '\n\n', '\r\n', '\r', '\n```\n', '\n~~~quote\n', '\n~~~\n'],
  // Controls, marks that nobody sees, marks that turn the direction of writing, halves of characters.
  ...[
    0x1, 0x1b, 0x7f, 0x85, 0xa0, 0x200b, 0x200d, 0x202e, 0x2028, 0xfe0f, 0xfeff, 0xfffe, 0xd800, 0xdfff,
  ].map((code) => String.fromCharCode(code)),
  ...words('🙂 👨‍👩‍👧‍👦 👍🏽 1️⃣ 🇩🇪'),
];

const piece = fc.constantFrom(...PIECES);

/** Whole constructs, with a dot where a text goes. */
const CONSTRUCTS = [
  ...['*·*', '**·**', '~~·~~', '`·`', '$$·$$', '<·>', ':·:', '<time:·>', '\n# ·\n', 'https://a.b/·'],
  ...['[·](/b)', '[a](·)', '[a](<·> "·")', ' @**·**', ' @_**·|12**', ' @*·*', ' #**·**', ' #**general>·**'],
  ...[' #**general>·@5**', '\n```quote\n·\n```\n', '\n```spoiler ·\n·\n```\n', '\n~~~·\n·\n~~~\n'],
  ...['\n~~~math\n·\n~~~\n', '\n1. ·\n  2. ·\n', '***·***', 'http://a.b/(·)', '<time:1 June 2026 ·>'],
  ...['\n> ·\n', '\n- ·\n', '\na|·\n-|-\n·|b\n'],
];

/** The construct around the text; further lines of the text get the mark of the line that it begins in. */
function around(construct: string, inner: string): string {
  const mark = /\n(> |- )·/.exec(construct)?.[1]?.replace('-', ' ') ?? '';
  return construct.replaceAll('·', () => inner.replaceAll('\n', `\n${mark}`));
}

const nested = fc.letrec<{ text: string; construct: string }>((tie) => ({
  text: fc
    .array(fc.oneof({ depthSize: 'small' }, piece, tie('construct')), { maxLength: 4 })
    .map((texts) => texts.join('')),
  construct: fc
    .tuple(fc.constantFrom(...CONSTRUCTS), tie('text'))
    .map(([construct, inner]) => around(construct, inner)),
})).text;

/** Texts that a hostile, or merely unlucky, person may send; without NUL, which the domain refuses before. */
export const hostileText: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 6, arbitrary: nested },
    { weight: 6, arbitrary: fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')) },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.oneof(piece, fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 40 })
        .map((pieces) => pieces.join('')),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(piece, fc.integer({ min: 1, max: 60 })).map(([p, times]) => p.repeat(times)),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
  )
  .map((text) => text.replaceAll('\u0000', ''));
