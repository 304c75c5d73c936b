import { describe, expect, it } from 'vitest';
import { handler as downloadKey } from '../../functions/pages/downloadKey.ts';
import { handler as revokeDevice } from '../../functions/pages/revokeDevice.ts';
import { handler as showAccount } from '../../functions/pages/showAccount.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { addKey } from '../../shared/domain/account/api-key.ts';
import { Browser } from '../support/browser.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

/** A browser in which the member has signed in. */
async function signedIn() {
  const realm = await newRealm();
  const { member } = realm.people;
  const apiKey = await addKey(realm.outside, realm.realm, member.email, 'Firefox on Linux');
  const browser = new Browser(realm);
  browser.signIn({ ...member, apiKey });
  return { realm, member, browser, apiKey };
}

const labels = async ({ outside, realm, people }: TestRealm) =>
  ((await outside.table.get('account', { realm, email: people.member.email }))?.keys ?? []).map(
    ({ label }) => label,
  );

describe('the page of an account', () => {
  it('lists the devices, and marks the present one', async () => {
    const { browser, member } = await signedIn();
    const { status, text, headers } = await browser.open(showAccount);
    expect(status).toBe(200);
    expect(headers['Content-Type']).toBe('text/html; charset=utf-8');
    expect(text).toContain(member.email);
    expect(text).toMatch(/First API key.*Firefox on Linux<span class="mark">This device<\/span>/s);
  });

  it('shows labels as text', async () => {
    const { browser, realm, member } = await signedIn();
    await addKey(realm.outside, realm.realm, member.email, '"><script>alert(1)</script>');
    const { text } = await browser.open(showAccount);
    expect(text).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  it('confirms an action only with fixed texts', async () => {
    const { browser } = await signedIn();
    const notice = 'role="status"';
    expect((await browser.open(showAccount, { query: { done: 'revoked' } })).text).toContain(notice);
    for (const done of ['<b>', 'constructor', '__proto__', 'x'.repeat(10_000)]) {
      expect((await browser.open(showAccount, { query: { done } })).text).not.toContain(notice);
    }
  });

  it('signs another device out at once', async () => {
    const { browser, realm, member } = await signedIn();
    const page = await browser.open(showAccount);
    const { status, headers } = await browser.submit(revokeDevice, page, { key: 'first' });
    expect([status, headers.Location]).toEqual([303, '/account?done=revoked']);
    expect((await realm.call(getOwn, member)).status).toBe(401);
    expect((await browser.open(showAccount)).status).toBe(200);
    // The same form again finds nothing to do.
    expect((await browser.submit(revokeDevice, page, { key: 'first' })).status).toBe(400);
  });

  it('signs this browser out', async () => {
    const { browser, realm } = await signedIn();
    const page = await browser.open(showAccount);
    const [, id = ''] = /name="key" value="(\w+)">\s*<button class="quiet"/.exec(page.text) ?? [];
    const { status, headers } = await browser.submit(revokeDevice, page, { key: id });
    expect([status, headers.Location]).toEqual([303, '/login/']);
    expect(browser.cookies.size).toBe(0);
    expect(await labels(realm)).toEqual([]);
  });

  it('hands out a zuliprc with a key that works', async () => {
    const { browser, realm, member } = await signedIn();
    const page = await browser.open(showAccount);
    const { status, text, headers } = await browser.submit(downloadKey, page, {});
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'Content-Disposition': 'attachment; filename="zuliprc"' });
    const [, apiKey = ''] = /^key=(\w{32})$/m.exec(text) ?? [];
    expect(text).toBe(`[api]\nemail=${member.email}\nkey=${apiKey}\nsite=${browser.origin}\n`);
    expect((await realm.call(getOwn, { ...member, apiKey })).status).toBe(200);
    expect(await labels(realm)).toEqual(['Firefox on Linux', 'zuliprc']);
  });

  it('takes two round trips in a warm container', async () => {
    const { browser, realm } = await signedIn();
    await browser.open(showAccount);
    realm.meter.reset();
    await browser.open(showAccount);
    expect(realm.meter.roundTrips).toBeLessThanOrEqual(2);
  });
});
