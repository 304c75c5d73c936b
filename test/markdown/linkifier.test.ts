import { describe, expect, it } from 'vitest';
import { compileLinkifiers, type Linkifiers } from '../../shared/markdown/linkifier-engine.ts';
import { NOTHING_RESOLVED } from '../../shared/markdown/references.ts';
import { render } from '../../shared/markdown/render.ts';
import { expandUrlTemplate, parseUrlTemplate } from '../../shared/markdown/url-template.ts';

const compiled = (...rules: [pattern: string, urlTemplate: string][]): Linkifiers =>
  compileLinkifiers(rules.map(([pattern, urlTemplate]) => ({ pattern, urlTemplate })));

const issues = compiled(['#(?P<id>[0-9]+)', 'https://x.example/{id}']);
const html = (text: string, linkifiers = issues): string =>
  render(text, { ...NOTHING_RESOLVED, linkifiers }).html;
const link = (id: string, text = `#${id}`): string => `<a href="https://x.example/${id}">${text}</a>`;

describe('linkifiers in messages (companion facts 4.1)', () => {
  it.each([
    ['#1', link('1')],
    [
      'see #1, (#2) "#3" \'#4\' a:#5 <#6',
      `see ${link('1')}, (${link('2')}) "${link('3')}" '${link('4')}' a:${link('5')} &lt;${link('6')}`,
    ],
    ['#1\n#2', `${link('1')}<br>\n${link('2')}`],
    ['**#1** and *#2*', `<strong>${link('1')}</strong> and <em>${link('2')}</em>`],
    ['a#1 #1a #1_', `a#1 #1a ${link('1')}_`],
    ['**a**#1 `b`#2', '<strong>a</strong>#1 <code>b</code>#2'],
    [
      '`#1` [#2](https://y.example) https://y.example/ #3',
      `<code>#1</code> <a href="https://y.example">#2</a> <a href="https://y.example/">https://y.example/</a> ${link('3')}`,
    ],
  ])('%j', (text, expected) => {
    expect(html(text).replaceAll('&quot;', '"')).toBe(`<p>${expected}</p>`);
  });

  it('leave code blocks alone, and work in quotes and lists', () => {
    expect(html('```\n#1\n```')).not.toContain('<a');
    expect(html('> #1')).toContain(link('1'));
    expect(html('* #1')).toContain(link('1'));
  });

  it('apply in the order of the list, each to the remaining text', () => {
    const two = compiled(
      ['ab(?P<id>[0-9]+)', 'https://first.example/{id}'],
      ['[a-z]+(?P<n>[0-9]+)', 'https://second.example/{n}'],
    );
    expect(two.linksIn('ab1 cd2').map(({ url }) => url)).toEqual([
      'https://first.example/1',
      'https://second.example/2',
    ]);
  });

  it('encode values as the template says, and make no dangerous links', () => {
    const open = compiled(['go:(?P<to>\\S+)', '{+to}']);
    expect(html('go:javascript:alert(1)', open)).toBe('<p>go:javascript:alert(1)</p>');
    const search = compiled(['q:(?P<q>\\S+)', 'https://x.example/?q={q}']);
    expect(html('q:a"b&<c>', search)).toContain('href="https://x.example/?q=a%22b%26%3Cc%3E"');
  });

  it('stop if a pattern takes too long, and take linear time for one search', () => {
    const nested = compiled(['(?P<x>(a|aa)+)!', 'https://x.example/{x}']);
    expect(html('a'.repeat(10_000), nested)).toBe(`<p>${'a'.repeat(10_000)}</p>`);
    const greedy = compiled(['(?P<y>b(.*c)?)', 'https://x.example/{y}']);
    const links = greedy.linksIn('b '.repeat(5_000));
    expect(links.length).toBeGreaterThan(50);
    expect(links.length).toBeLessThan(5_000);
  });
});

describe('URL templates (RFC 6570)', () => {
  const values = {
    var: 'value',
    hello: 'Hello World!',
    path: '/foo/bar',
    empty: '',
    half: '50%',
    x: '1024',
    y: '768',
  };

  it.each([
    ['{var}', 'value'],
    ['{hello}', 'Hello%20World%21'],
    ['{half}', '50%25'],
    ['O{empty}X', 'OX'],
    ['O{undef}X', 'OX'],
    ['{x,hello,y}', '1024,Hello%20World%21,768'],
    ['{var:3}', 'val'],
    ['{+hello}', 'Hello%20World!'],
    ['{+half}', '50%25'],
    ['{+path}/here', '/foo/bar/here'],
    ['{#path}', '#/foo/bar'],
    ['X{.var}', 'X.value'],
    ['{/var,x}/here', '/value/1024/here'],
    ['{;x,y,empty}', ';x=1024;y=768;empty'],
    ['{?x,y,undef,empty}', '?x=1024&y=768&empty='],
    ['?fixed=yes{&x*}', '?fixed=yes&x=1024'],
    ['https://ü.example/%7E', 'https://%C3%BC.example/%7E'],
  ])('%j expands to %j', (template, expected) => {
    const parsed = parseUrlTemplate(template) ?? expect.fail('it is valid');
    expect(expandUrlTemplate(parsed, values)).toBe(expected);
  });

  it.each([
    '{',
    '}',
    '{}',
    '{a',
    'a}',
    '{a b}',
    '{=a}',
    '{a:0}',
    '{a:10000}',
    '{a,}',
    '{{a}}',
    'a b',
    '%zz',
    '<',
  ])('%j is not valid', (template) => {
    expect(parseUrlTemplate(template)).toBeUndefined();
  });
});
