import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { addressOf, mail, mailDomain, postedOf, received } from './mail.ts';

let realm: TestRealm;
let to: string;

beforeAll(async () => {
  realm = await newRealm();
  to = await addressOf(realm, realm.people.member, realm.channels.general, { options: [] });
});

const token = () => to.split(/[.@]/)[1];

/** What is posted of mail with these headers and this body. */
const contentOf = async (
  headers: Readonly<Record<string, string>>,
  body: string,
  options: readonly string[] = [],
): Promise<string> => {
  const address = `general.${[token(), ...options].join('.')}@${mailDomain}`;
  return (await postedOf(realm, mail({ To: address, Subject: 'x', ...headers }, body))).content;
};

const plain = { 'Content-Type': 'text/plain; charset=utf-8' };
const html = { 'Content-Type': 'text/html; charset=utf-8' };
const part = (type: string, body: string, more = ''): string => `Content-Type: ${type}\n${more}\n${body}\n`;
const parts = (boundary: string, ...all: readonly string[]): string =>
  `${all.map((one) => `--${boundary}\n${one}`).join('')}--${boundary}--\n`;

describe('mail in various formats', () => {
  it.each([
    ['no type at all', {}, 'Hello', 'Hello'],
    ['plain text', plain, 'Hello\n\nBye ', 'Hello\n\nBye'],
    [
      'base64',
      { ...plain, 'Content-Transfer-Encoding': 'base64' },
      Buffer.from('Grüße 🍰').toString('base64'),
      'Grüße 🍰',
    ],
    [
      'quoted-printable',
      { ...plain, 'Content-Transfer-Encoding': 'quoted-printable' },
      'Gr=C3=BC=C3=9Fe, and a long =\nline',
      'Grüße, and a long line',
    ],
    [
      'Latin 1',
      { 'Content-Type': 'text/plain; charset=ISO-8859-1', 'Content-Transfer-Encoding': 'quoted-printable' },
      'Gr=FC=DFe',
      'Grüße',
    ],
    [
      'a set of characters that does not exist',
      { 'Content-Type': 'text/plain; charset=klingon', 'Content-Transfer-Encoding': 'quoted-printable' },
      'Gr=FC=DFe',
      'Grüße',
    ],
    [
      'text that is flowed',
      { 'Content-Type': 'text/plain; format=flowed' },
      'one \ntwo\nthree',
      'one two\nthree',
    ],
    [
      'HTML alone',
      html,
      '<style>p { color: red }</style><p>Hello <b>world</b></p><p>1 &lt; 2 &amp; 3</p><script>alert(1)</script>',
      'Hello world\n\n1 < 2 & 3',
    ],
    [
      'two alternatives',
      { 'Content-Type': 'multipart/alternative; boundary=b' },
      parts('b', part('text/plain', 'plain'), part('text/html', '<p>rich</p>')),
      'plain',
    ],
    [
      'an alternative without text',
      { 'Content-Type': 'multipart/alternative; boundary=b' },
      parts('b', part('text/plain', ' '), part('text/html', '<p>rich</p>')),
      'rich',
    ],
    [
      'parts in parts',
      { 'Content-Type': 'multipart/mixed; boundary=a' },
      parts(
        'a',
        part(
          'multipart/related; boundary=b',
          parts(
            'b',
            part(
              'multipart/alternative; boundary=c',
              parts('c', part('text/plain', 'deep'), part('text/html', '<p>deep</p>')),
            ),
            part('image/png; name=logo.png', 'AAAA', 'Content-ID: <1>\nContent-Transfer-Encoding: base64\n'),
          ),
        ),
        part('message/rfc822', 'Subject: inner\n\nnot to be read here', 'Content-Disposition: inline\n'),
        part('text/csv', '1,2', "Content-Disposition: attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.csv\n"),
      ),
      'deep\n\n**Attachments:** `logo.png`, `message/rfc822`, `Grüße.csv`',
    ],
    [
      'a part that never ends',
      { 'Content-Type': 'multipart/mixed; boundary=a' },
      '--a\nContent-Type: text/plain\n\nhalf of',
      'half of',
    ],
    [
      'a type without its boundary',
      { 'Content-Type': 'multipart/mixed' },
      'text',
      '(This mail has no text.)',
    ],
    ['broken base64', { ...plain, 'Content-Transfer-Encoding': 'base64' }, '!!!SGVsbG8*=*', 'Hello'],
    ['control characters', plain, 'a\0b\u0007c\td', 'abc\td'],
    ['nothing', plain, ' \n ', '(This mail has no text.)'],
    [
      'nothing but a file',
      { 'Content-Type': 'application/pdf; name=a.pdf' },
      'x',
      '(This mail has no text.)\n\n**Attachments:** `a.pdf`',
    ],
  ])('%s', async (_, headers, body, content) => {
    expect(await contentOf(headers as Record<string, string>, body)).toBe(content);
  });

  it('that is too long for a message is truncated, but the names of its attachments are listed', async () => {
    const text = part('text/plain; charset=utf-8', '🍰'.repeat(20_000));
    const file = part('text/csv', '1', 'Content-Disposition: attachment; filename=a.csv\n');
    const content = await contentOf(
      { 'Content-Type': 'multipart/mixed; boundary=b' },
      parts('b', text, file),
    );
    expect([...content]).toHaveLength(10_000);
    expect(content.endsWith('\n[message cut at the length limit]\n\n**Attachments:** `a.csv`')).toBe(true);
  });

  it('never breaks the worker, whatever its bytes are', async () => {
    const pieces = fc.constantFrom(
      'Content-Type: multipart/mixed; boundary=a',
      'Content-Type: text/html; charset="',
      'Content-Transfer-Encoding: base64',
      'Subject: =?utf-8?B?////?=',
      'From: "<@>, a:b;',
      `To: ${to}`,
      '--a',
      '--a--',
      '',
      '> quoted',
      '-- ',
      '<blockquote',
      '</blockquote>',
      '<!--',
    );
    const lines = fc.array(fc.oneof(pieces, fc.string({ unit: 'binary' })), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(lines, async (more) => {
        const { posted, dropped } = await received(realm, `Delivered-To: ${to}\r\n${more.join('\r\n')}`);
        expect(posted.length + dropped.length).toBe(1);
      }),
      { numRuns: 25 },
    );
  });

  it.each(['<', '<a href=', '<blockquote>', '<!--', '>', '-- \n', 'On 1 <a@b>:\n', 'From: \n'])(
    'of nothing but %j is parsed quickly',
    async (piece) => {
      const body = piece.repeat(Math.ceil(200_000 / piece.length));
      const start = process.cpuUsage();
      for (const type of [html, plain]) await contentOf(type, body);
      expect(process.cpuUsage(start).user).toBeLessThan(10_000_000);
    },
  );
});

describe('quotes and signatures of a mail program', () => {
  const words = 'Yes, at noon.';
  it.each([
    [
      'an answer above',
      `${words}\n\nOn Mon, 1 Jan 2024 at 10:00, Ann <ann@a.example> wrote:\n> Lunch?\n>\n> Ann\n`,
    ],
    [
      'its first line broken',
      `${words}\n\nOn Mon, 1 Jan 2024 at 10:00, Ann Outside\n<ann@a.example> wrote:\n\n> Lunch?`,
    ],
    ['in German', `${words}\n\nAm 01.01.24 um 10:00 schrieb Ann:\n> Mittag?`],
    ['in French', `${words}\n\nLe lun. 1 janv. 2024 à 10:00, Ann <ann@a.example> a écrit :\n> Midi ?`],
    ['in no language', `${words}\n\n2024-01-01 10:00 GMT+01:00 Ann <ann@a.example>:\n> Lunch?`],
    ['an answer below', `On Mon, 1 Jan 2024, Ann wrote:\n> Lunch?\n\n${words}`],
    ['a divider', `${words}\n\n-----Original Message-----\nFrom: Ann\nLunch?`],
    [
      'Outlook',
      `${words}\n\n________________________________\nFrom: Ann\nSent: Monday\nTo: Bob\nSubject: Lunch\n\nLunch?`,
    ],
    ['Outlook in German', `${words}\n\nVon: Ann\nGesendet: Montag\nAn: Bob\nBetreff: Mittag\n\nMittag?`],
    ['a signature', `${words}\n-- \nBob\nBob Ltd.`],
    ['a signature above the quote', `${words}\n-- \nBob\n\nOn Mon, 1 Jan 2024, Ann wrote:\n> Lunch?`],
    ['a telephone', `${words}\n\nSent from my iPhone`],
  ])('are removed: %s', async (_, body) => {
    expect(await contentOf(plain, body)).toBe(words);
  });

  it('are removed from HTML too', async () => {
    const quote =
      '<div>On Mon, 1 Jan 2024, Ann wrote:</div><blockquote>Lunch? <blockquote>x</blockquote></blockquote>';
    expect(await contentOf(html, `<p>${words}</p>${quote}`)).toBe(words);
  });

  it.each([
    ['answers between quotes', '> Lunch?\n\nYes.\n\n> At noon?\n\nNo.'],
    ['nothing but a quote', '> Lunch?'],
    ['nothing but a signature', '-- \nBob'],
    ['lines that only look like it', 'Run it:\n--\nthen\n--\nFrom: here\nOn Monday we wrote this: good'],
    ['a list of what to do', 'To: the shop\nFrom: home'],
  ])('stay if the mail would be empty otherwise: %s', async (_, body) => {
    expect(await contentOf(plain, body)).toBe(body);
  });

  const full = `${words}\n-- \nBob\n\nOn Mon, 1 Jan 2024, Ann wrote:\n> Lunch?`;
  it.each([
    [['include-footer'], `${words}\n--\nBob`],
    [['include-quotes'], `${words}\n\nOn Mon, 1 Jan 2024, Ann wrote:\n> Lunch?`],
    [['include-quotes', 'include-footer'], `${words}\n--\nBob\n\nOn Mon, 1 Jan 2024, Ann wrote:\n> Lunch?`],
    [['prefer-text'], words],
  ])('stay if the address says so: %j (wire facts 9)', async (options, content) => {
    expect(await contentOf(plain, full, options)).toBe(content);
  });

  it('stay in forwarded mail', async () => {
    const body = `FYI\n-- \nBob\n\n---------- Forwarded message ---------\nFrom: Ann\n\nLunch?`;
    expect(await contentOf({ Subject: 'Fwd: Lunch' }, body)).toBe(
      'FYI\n\n---------- Forwarded message ---------\nFrom: Ann\n\nLunch?',
    );
    expect(await contentOf({ Subject: 'Re: Lunch' }, body)).toBe('FYI');
  });

  it('are taken from HTML if the address says "prefer-html" (wire facts 9)', async () => {
    const both = parts('b', part('text/plain', 'plain'), part('text/html', '<p>rich</p>'));
    const type = { 'Content-Type': 'multipart/alternative; boundary=b' };
    expect(await contentOf(type, both, ['prefer-html'])).toBe('rich');
    expect(await contentOf(plain, 'plain', ['prefer-html'])).toBe('plain');
  });
});
