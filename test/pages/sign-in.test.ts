import { describe, expect, it } from 'vitest';
import { handler as showSignIn } from '../../functions/pages/showSignIn.ts';
import { Browser, hiddenField } from '../support/browser.ts';
import { newRealm } from '../support/realm.ts';

describe('the sign-in page', () => {
  it('names the organization, and gives a new browser a cookie', async () => {
    const browser = new Browser(await newRealm());
    const { status, text, headers } = await browser.open(showSignIn);
    expect(status).toBe(200);
    expect(text).toContain('<title>Sign in - Test</title>');
    expect(headers['Set-Cookie']).toMatch(/^__Host-parlance-visitor=[\w-]{22}; Path=\/; Max-Age=86400;/);
    const again = await browser.open(showSignIn);
    expect(again.headers).not.toHaveProperty('Set-Cookie');
    expect(hiddenField(again, 'form_token')).toMatch(/^[\w-]{43}$/);
  });

  it('gives a browser with a broken cookie another one', async () => {
    const browser = new Browser(await newRealm());
    browser.cookies.set('__Host-parlance-visitor', '"><script>');
    const { headers } = await browser.open(showSignIn);
    expect(headers).toHaveProperty('Set-Cookie');
  });

  it('goes on to paths of this service only', async () => {
    const browser = new Browser(await newRealm());
    const nextOf = async (next: string) =>
      hiddenField(await browser.open(showSignIn, { query: { next } }), 'next');
    expect(await nextOf('/account?a=%22')).toBe('/account?a=%22');
    for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      expect(await nextOf(next)).toBe('');
    }
    expect(await nextOf('/"><script>alert(1)</script>')).toBe('/%22%3E%3Cscript%3Ealert(1)%3C/script%3E');
  });

  it('refuses a host that is no organization with a page', async () => {
    const realm = await newRealm();
    const { status, text } = await new Browser(realm).open(showSignIn, { headers: { host: 'nobody.test' } });
    expect(status).toBe(404);
    expect(text).toContain('There is no organization at this address.');
  });
});
