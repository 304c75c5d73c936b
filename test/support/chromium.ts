import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The programs of the system that may be a Chromium. */
const programs = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)));

/** Where a Chromium is on this machine: what `CHROMIUM_PATH` names, else one of the system. Undefined if there is none. */
export const chromiumPath: string | undefined = [process.env.CHROMIUM_PATH ?? programs]
  .flat()
  .find(isProgram);

if (chromiumPath === undefined) {
  console.warn(
    'Tests in a real browser are skipped: there is no Chromium here. Install one (apt install chromium), or set CHROMIUM_PATH.',
  );
}

/** Starts the browser, without a window. */
export const startChromium = (): Promise<Browser> =>
  chromium.launch(chromiumPath === undefined ? {} : { executablePath: chromiumPath });

/**
 * Uses a new window, which reaches this machine only. What the browser complains of, a breach of the policy above all, fails
 * the test.
 */
export async function useWindow(
  browser: Browser,
  use: (page: Page) => Promise<void>,
  options: BrowserContextOptions,
): Promise<void> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(60_000);
  await context.route(
    ({ hostname }) => hostname !== '127.0.0.1',
    (route) => route.abort(),
  );
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (line) => {
    // Chromium reports each status of 400 and above, and asks for an icon by itself.
    if (line.type() === 'error' && !line.text().startsWith('Failed to load resource'))
      complaints.push(line.text());
  });
  page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await use(page);
  expect(complaints).toEqual([]);
  await context.close();
}

/**
 * Follows where a window is sent, to an address of the mobile client. There is no such client here, so only the developer
 * tools of the browser see the address.
 */
export async function addressOfApplication(page: Page): Promise<{ readonly address: Promise<string> }> {
  const tools = await page.context().newCDPSession(page);
  await tools.send('Network.enable');
  const address = new Promise<string>((resolve) => {
    tools.on('Network.responseReceivedExtraInfo', ({ headers }) => {
      const location = headers.Location ?? headers.location;
      if (location?.startsWith('zulip:')) resolve(location);
    });
  });
  return { address };
}
