import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DemoName } from '../../infra/local/demo.ts';
import { type CertifiedProvider, startCertifiedProvider } from '../support/certified-provider.ts';
import { addressOfApplication, chromiumPath, startChromium, useWindow } from '../support/chromium.ts';
import { type LocalService, STARTING, startLocalService } from '../support/local-service.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/openid-provider.ts';
import { basic } from '../support/raw-request.ts';
import { newPad, readMobile } from '../support/single-sign-on.ts';

const PASSWORD = 'nine brisk otters';

/** The pages as people see them: a real browser, at the whole service of `npm start`. */
describe.skipIf(chromiumPath === undefined)('in a real browser', { timeout: 180_000 }, () => {
  let provider: CertifiedProvider;
  let service: LocalService;
  let browser: Browser;
  let member: { readonly email: string; readonly authorization: string };

  beforeAll(async () => {
    provider = await startCertifiedProvider('http://127.0.0.1/complete/oidc');
    const configuration = {
      MAIL_DOMAIN: 'mail.example.com',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
      OIDC_NAME: 'Ant ID',
    };
    [service, browser] = await Promise.all([startLocalService(configuration), startChromium()]);
    member = credentialsIn(await readFile(service.zuliprc('member'), 'utf8'));
    const passwords = await readFile(join(dirname(service.zuliprc('member')), '../demo-passwords'), 'utf8');
    const old_password = /^member@example\.com +(.*)$/m.exec(passwords)?.[1] ?? '';
    const body = new URLSearchParams({ old_password, new_password: PASSWORD });
    const headers = { authorization: member.authorization };
    const reply = await fetch(`${service.address}/api/v1/settings`, { method: 'PATCH', headers, body });
    expect(await reply.json()).toMatchObject({ result: 'success' });
  }, STARTING);

  afterAll(async () => {
    await browser?.close();
    await service?.end();
    provider?.stop();
  });

  const withWindow = (use: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) =>
    useWindow(browser, use, options);

  async function signIn(page: Page): Promise<void> {
    await page.goto(`${service.address}/`);
    await page.getByLabel('Email address').fill(member.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/account');
  }

  const zuliprc = async (page: Page): Promise<string> => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download zuliprc' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('zuliprc');
    return readFile(await download.path(), 'utf8');
  };

  /** The status of a request with these credentials. */
  const statusFor = async (authorization: string): Promise<number> =>
    (await fetch(`${service.address}/api/v1/users/me`, { headers: { authorization } })).status;

  /** Waits for events with these credentials, of a kind that nobody causes here. */
  async function pollFor(authorization: string): Promise<{ readonly answer: Promise<Response> }> {
    const body = new URLSearchParams({ event_types: '["realm_domains"]' });
    const queue = await fetch(`${service.address}/api/v1/register`, {
      method: 'POST',
      headers: { authorization },
      body,
    });
    const { queue_id, last_event_id } = (await queue.json()) as Record<string, string>;
    const query = new URLSearchParams({ queue_id: queue_id ?? '', last_event_id: String(last_event_id) });
    return { answer: fetch(`${service.address}/api/v1/events?${query}`, { headers: { authorization } }) };
  }

  it('the root leads to the sign-in, which works by keyboard alone', () =>
    withWindow(async (page) => {
      await page.goto(`${service.address}/`);
      expect(new URL(page.url()).pathname).toBe('/login/');
      await page.keyboard.type(member.email);
      await page.keyboard.press('Tab');
      await page.keyboard.type('wrong');
      await page.keyboard.press('Enter');
      const alert = page.getByRole('alert');
      await alert.waitFor();
      expect(await alert.textContent()).toBe('The email address or the password is not valid.');
      const password = page.getByLabel('Password');
      expect(await page.evaluate('document.activeElement.id')).toBe('password');
      expect(await password.getAttribute('aria-describedby')).toBe('problem');
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/account');
      expect(await page.getByRole('heading', { level: 1 }).textContent()).not.toBe('Sign in');
      expect(await page.getByText('This device').count()).toBe(1);
    }));

  it('hands out a zuliprc that works, until its device is signed out', () =>
    withWindow(async (page) => {
      await signIn(page);
      const text = await zuliprc(page);
      expect(text).toContain(`site=${service.address}`);
      const { authorization } = credentialsIn(text);
      expect(await statusFor(authorization)).toBe(200);
      const { answer } = await pollFor(authorization);
      await page.reload();
      await page.getByRole('button', { name: 'Sign out zuliprc' }).click();
      await page.getByRole('status').waitFor();
      expect(await statusFor(authorization)).toBe(401);
      // A poll that goes on waiting would end with a heartbeat.
      expect((await answer).status).toBe(401);
    }));

  /** Signs in at the provider, whose page is open. */
  async function signInThere(page: Page, name: string): Promise<void> {
    await page.getByPlaceholder('Enter any login').fill(name);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  it('signs in by a provider of OpenID Connect, and hands out a zuliprc that works', () =>
    withWindow(async (page) => {
      await page.goto(`${service.address}/`);
      await page.getByRole('link', { name: 'Sign in with Ant ID' }).click();
      await signInThere(page, 'guest');
      await page.waitForURL('**/account');
      expect(await page.textContent('main')).toContain('You are signed in as guest@example.com.');
      const { email, authorization } = credentialsIn(await zuliprc(page));
      expect(email).toBe('guest@example.com');
      expect(await statusFor(authorization)).toBe(200);
    }));

  it('hands the mobile client a key by the provider, which works (companion facts 3.14)', () =>
    withWindow(async (page) => {
      const pad = newPad();
      const handedOver = await addressOfApplication(page);
      await page.goto(`${service.address}/accounts/login/social/oidc?mobile_flow_otp=${pad}`);
      await signInThere(page, 'moderator');
      const Location = await handedOver.address;
      const { url, apiKey } = readMobile({ headers: { Location } }, pad);
      const email = url.searchParams.get('email') ?? '';
      expect([url.protocol, url.host, email]).toEqual(['zulip:', 'login', 'moderator@example.com']);
      expect(url.searchParams.get('realm')).toBe(service.address);
      expect(await statusFor(basic({ email, apiKey }))).toBe(200);
    }));

  it('signs out, and the session is gone for good', () =>
    withWindow(async (page) => {
      await signIn(page);
      const cookies = await page.context().cookies();
      expect(cookies.find(({ name }) => name.endsWith('session'))).toMatchObject({
        httpOnly: true,
        sameSite: 'Lax',
      });
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.waitForURL('**/login/');
      await page.context().addCookies(cookies);
      await page.goto(`${service.address}/account`);
      expect(new URL(page.url()).pathname).toBe('/login/');
    }));

  it('changes the password', () =>
    withWindow(async (page) => {
      await signIn(page);
      await page.getByLabel('Current password').fill('wrong');
      await page.getByLabel('New password').fill('seven slow snails');
      await page.getByRole('button', { name: 'Change password' }).click();
      expect(await page.getByRole('alert').textContent()).toContain('old password');
      await page.getByLabel('Current password').fill(PASSWORD);
      await page.getByLabel('New password').fill(`${PASSWORD} again`);
      await page.getByRole('button', { name: 'Change password' }).click();
      expect(await page.getByRole('status').textContent()).toBe('Your password is changed.');
      await page.getByLabel('Current password').fill(`${PASSWORD} again`);
      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.waitForURL('**/account?done=password');
    }));

  it.each(['light', 'dark'] as const)('pages follow the colours of the system: %s', (colorScheme) =>
    withWindow(
      async (page) => {
        await page.goto(`${service.address}/login/`);
        const shade = (property: string): Promise<number> =>
          page.evaluate(`Number(/\\d+/.exec(getComputedStyle(document.body).${property})[0])`);
        const [ground, ink] = [await shade('backgroundColor'), await shade('color')];
        expect(colorScheme === 'light' ? ground - ink : ink - ground).toBeGreaterThan(150);
      },
      { colorScheme },
    ),
  );

  it('fits a narrow screen', () =>
    withWindow(
      async (page) => {
        await signIn(page);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        );
      },
      { viewport: { width: 320, height: 640 } },
    ));

  /** Calls the API as a demo account. */
  async function call(
    account: DemoName,
    method: string,
    path: string,
    given: Record<string, string>,
  ): Promise<Record<string, string>> {
    const { authorization } = credentialsIn(await readFile(service.zuliprc(account), 'utf8'));
    const request = { method, headers: { authorization }, body: new URLSearchParams(given) };
    const reply = await fetch(`${service.address}/api/v1${path}`, request);
    return (await reply.json()) as Record<string, string>;
  }

  /** The newest link of this kind in the outbox, once there is one. */
  const linkInOutbox = (page: Page, path: string): Promise<string> =>
    vi.waitFor(
      async () => {
        await page.goto(`${service.address}/outbox/`);
        const link = await page.locator(`a[href*="${path}"]`).first().getAttribute('href', { timeout: 500 });
        return link ?? expect.fail();
      },
      { timeout: 60_000, interval: 200 },
    );

  it('a user with a forgotten password requests a link, and sets a new password', () =>
    withWindow(async (page) => {
      const { email } = credentialsIn(await readFile(service.zuliprc('moderator'), 'utf8'));
      await page.goto(`${service.address}/login/`);
      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      await page.waitForURL('**/accounts/password/reset/');
      await page.keyboard.type(email);
      await page.keyboard.press('Enter');
      await page.getByRole('status').waitFor();
      await page.goto(await linkInOutbox(page, '/accounts/set-password/'));
      await page.keyboard.type('password1');
      await page.keyboard.press('Enter');
      const field = page.getByLabel('New password');
      await page.locator('#password-error').waitFor();
      expect(await page.evaluate('document.activeElement.id')).toBe('password');
      expect(await field.getAttribute('aria-describedby')).toBe('password-hint password-error');
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/login/?done=password');
      await page.getByLabel('Email address').fill(email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL('**/account');
    }));

  it('an invited user joins and is signed in, and the link does not work again', () =>
    withWindow(async (page) => {
      await call('owner', 'POST', '/invites', { invitee_emails: 'ada@example.com', stream_ids: '[]' });
      const link = await linkInOutbox(page, '/invite/');
      await page.goto(link);
      expect(await page.getByLabel('Email address').inputValue()).toBe('ada@example.com');
      await page.getByLabel('Your name').fill('Ada Ant');
      await page.getByLabel('Password').fill(PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/account?done=joined');
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Ada Ant');
      expect((await page.goto(link))?.status()).toBe(400);
      expect(await page.textContent('main')).toContain('This link does not work any more');
    }));

  it('a reusable link leads to the page of the invitation', () =>
    withWindow(async (page) => {
      const { invite_link = '' } = await call('owner', 'POST', '/invites/multiuse', {});
      expect(new URL(invite_link).pathname).toMatch(/^\/join\/[\w-]+\/$/);
      await page.goto(invite_link);
      expect(new URL(page.url()).pathname).toMatch(/^\/invite\//);
      await page.getByLabel('Email address').fill('bo@example.com');
      await page.getByLabel('Your name').fill('Bo');
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Join' }).click();
      await page.waitForURL('**/account?done=joined');
    }));

  it('refuses a form of another site, and changes nothing', () =>
    withWindow(async (page) => {
      await signIn(page);
      const devices = page.locator('.devices li');
      const before = await devices.count();
      await page.route('http://evil.example/', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<form method="post" action="${service.address}/account/zuliprc"><button>Win</button></form>`,
        }),
      );
      await page.goto('http://evil.example/');
      const [reply] = await Promise.all([
        page.waitForResponse('**/account/zuliprc'),
        page.getByRole('button', { name: 'Win' }).click(),
      ]);
      // Without its cookie, which the browser keeps back, it leads to the sign-in; with it, it would be refused.
      expect([303, 403]).toContain(reply.status());
      await page.goto(`${service.address}/account`);
      expect(await devices.count()).toBe(before);
    }));

  it('an unknown path is a page', () =>
    withWindow(async (page) => {
      for (const [path, status] of [
        ['/login/nowhere', 404],
        ['/accounts/nowhere', 404],
        ['/invite/', 404],
        ['/invite/nonsense', 400],
        ['/account/revoke', 405],
      ] as const) {
        const reply = await page.goto(`${service.address}${path}`);
        expect([path, reply?.status()]).toEqual([path, status]);
        expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
        expect(await page.getByRole('main').count()).toBe(1);
      }
    }));

  it('shows the reference of the API: every area, its operations, and what one of them takes', () =>
    withWindow(async (page) => {
      const reply = await fetch(`${service.address}/api/v1/openapi.json`);
      const { tags } = (await reply.json()) as { tags: { name: string }[] };
      await page.goto(`${service.address}/api/`);
      const areas = page.locator('.opblock-tag');
      await areas.nth(tags.length - 1).waitFor({ timeout: 30_000 });
      expect(await areas.evaluateAll((all) => all.map((area) => area.getAttribute('data-tag')))).toEqual(
        tags.map(({ name }) => name),
      );
      await page.locator('.opblock-tag[data-tag="drafts"]').click();
      const operations = page.locator('.opblock');
      await operations.nth(3).waitFor();
      expect(await operations.count()).toBe(4);
      await operations.nth(1).locator('.opblock-summary-control').click();
      await page.getByText('Try it out').waitFor();
    }));

  it('shows the reference in dark where the system is dark, and on a narrow screen', () =>
    withWindow(
      async (page) => {
        await page.goto(`${service.address}/api/`);
        await page.locator('.opblock-tag').first().waitFor({ timeout: 30_000 });
        const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
        expect(await ground()).toBe('rgb(28, 32, 34)');
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        );
        await page.emulateMedia({ colorScheme: 'light' });
        await expect.poll(ground).toBe('rgba(0, 0, 0, 0)');
      },
      { colorScheme: 'dark', viewport: { width: 340, height: 700 } },
    ));
});

function credentialsIn(text: string) {
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';
  const [email, apiKey] = [value('email'), value('key')];
  return { email, authorization: basic({ email, apiKey }) };
}
