import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Where a Chromium is on this machine: `CHROMIUM_PATH`, or a program of the system's. Undefined if there is none. */
export const chromiumPath: string | undefined =
  process.env.CHROMIUM_PATH ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find(isProgram);

if (chromiumPath === undefined) {
  console.warn(
    'Tests in a real browser are skipped: there is no Chromium here. Install one (apt install chromium), or set CHROMIUM_PATH.',
  );
}

/** Starts the browser, without a window. */
export const startChromium = (): Promise<Browser> =>
  chromium.launch({
    ...(chromiumPath !== undefined && { executablePath: chromiumPath }),
    // Its sandbox does not run as root, which tests in containers are.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
