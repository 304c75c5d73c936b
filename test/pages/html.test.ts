import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { field } from '../../shared/pages/form.ts';
import { html } from '../../shared/pages/html.ts';
import { documentOf } from '../../shared/pages/layout.ts';
import { POLICY } from '../../shared/pages/style.ts';

describe('html', () => {
  it('escapes text, but not HTML', () => {
    const hostile = `<img src=x onerror="a('b')">&amp;`;
    const escaped = '&lt;img src=x onerror=&quot;a(&apos;b&apos;)&quot;&gt;&amp;amp;';
    expect(String(html`<p title="${hostile}">${html`<b>${hostile}</b>`}</p>`)).toBe(
      `<p title="${escaped}"><b>${escaped}</b></p>`,
    );
  });

  it('accepts lists, numbers, and undefined', () => {
    expect(String(html`${[html`<i>`, 1, ['<', undefined]]}${false}${0}`)).toBe('<i>1&lt;0');
  });
});

describe('a page', () => {
  it('escapes its title, and has the only style that its policy allows', () => {
    const text = documentOf({ title: '</title><script>', above: '<b>', content: 'x' });
    expect(text).toContain('<title>&lt;/title&gt;&lt;script&gt; - &lt;b&gt;</title>');
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(text) ?? [];
    const digest = createHash('sha256').update(style).digest('base64');
    expect(POLICY).toContain(`style-src 'sha256-${digest}'`);
  });
});

describe('a field', () => {
  it('shows its error beside it', () => {
    const text = String(
      field({ name: 'email', label: 'Email', autocomplete: 'email', hint: 'h', error: 'e' }),
    );
    expect(text).toContain('<label for="email">');
    expect(text).toContain('aria-describedby="email-hint email-error" aria-invalid="true"');
    expect(text).toContain('<p class="error" id="email-error">e</p>');
  });
});
