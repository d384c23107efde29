// A real Chromium for tests: PARLEY_CHROMIUM, or one that is installed. The runner brings Debian's
// before the first test. Where there is none it is said clearly, and fails.
//
// The headless shell comes first: the same engine without the browser's own windows, profiles and
// services, for half of the processor time of `chromium --headless`.

import { accessSync, constants } from 'node:fs';
import type { Browser, Download } from 'playwright-core';
import { shared } from './shared.ts';

/** The limit for a page's display: a machine that others use has taken over 15 s for a heading. */
export const pageLimitMs = 60_000;

export const chromiumPackage = 'chromium-headless-shell';
const others = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const usual = [chromiumPackage, ...others];
const folders = ['/usr/bin', '/usr/local/bin', '/snap/bin'];

export function findChromium(): string | null {
  const own = process.env.PARLEY_CHROMIUM;
  const all = own ? [own] : usual.flatMap((name) => folders.map((folder) => `${folder}/${name}`));
  return all.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export async function launch(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) {
    throw new Error(
      `no Chromium: as root, apt-get install ${chromiumPackage}, or name one in PARLEY_CHROMIUM`,
    );
  }
  // The runner asks where Chromium is, and needs nothing of this.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/**
 * The browser of the files of a process: each has profiles of its own in it, and closes them. It
 * starts in 0.2 s of the processor. One for all processes took 10 s: the runner handed on each
 * message of a page.
 */
export const sharedBrowser = shared(launch, (browser) => browser.close());

/** A file that a page saves, as `setInputFiles` takes it. */
export async function savedBy(saving: Promise<Download>) {
  const download = await saving;
  const buffer = Buffer.concat(await (await download.createReadStream()).toArray());
  return { name: download.suggestedFilename(), mimeType: 'application/octet-stream', buffer };
}
