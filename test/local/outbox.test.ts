import { expect, test } from 'vitest';
import { LocalOutbox } from '../../infra/local/outbox.ts';

const mail = (subject: string, text = '') => ({
  to: 'ada@example.com',
  from: 'no-reply@mail.example.com',
  subject,
  text,
  at: '2026-11-23T01:31:32.759Z',
});

const shown = (outbox: LocalOutbox): string =>
  String(outbox.page({ method: 'GET', path: '/outbox/' })?.body).split('</style>')[1] ?? '';

test('the page shows a mail with its links, and escapes markup', () => {
  const lines: string[] = [];
  const outbox = new LocalOutbox((line) => lines.push(line));
  expect(shown(outbox)).toContain('No mail yet.');
  outbox.add(mail('<b>Hello</b>', 'Follow http://127.0.0.1:9991/invite/abc now.\n<script>'));
  const page = shown(outbox);
  expect(page).toContain('<h2>&lt;b&gt;Hello&lt;/b&gt;</h2>');
  expect(page).toContain('2026-11-23 01:31:32 UTC');
  const link = 'http://127.0.0.1:9991/invite/abc';
  expect(page).toContain(`<pre>Follow <a href="${link}">${link}</a> now.\n&lt;script&gt;</pre>`);
  expect(lines).toEqual([`Mail to ada@example.com: <b>Hello</b> (${link})`]);
});

test('the page shows the newest 100 mails, the newest first', () => {
  const outbox = new LocalOutbox(() => {});
  for (let i = 1; i <= 101; i++) outbox.add(mail(`mail ${i}`));
  const subjects = [...shown(outbox).matchAll(/<h2>mail (\d+)<\/h2>/g)].map(([, number]) => Number(number));
  expect(subjects).toEqual(Array.from({ length: 100 }, (_, i) => 101 - i));
});

test('the page leaves other paths and methods to others', () => {
  const outbox = new LocalOutbox(() => {});
  expect(outbox.page({ method: 'GET', path: '/outbox' })).toBeUndefined();
  expect(outbox.page({ method: 'POST', path: '/outbox/' })).toBeUndefined();
});
