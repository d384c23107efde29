// A real Chromium for tests: PARLEY_CHROMIUM, or one that is installed. The runner brings Debian's
// before the first test. Where there is none it is said clearly, and fails.
//
// The headless shell comes first: the same engine without the browser's own windows, profiles and
// services, for half of the processor time of `chromium --headless`.

import { accessSync, constants } from 'node:fs';
import type { Browser, BrowserServer, BrowserType, Download, LaunchOptions } from 'playwright-core';
import { ask } from './asking.ts';
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

async function startedBy<T>(
  start: (type: BrowserType, how: LaunchOptions) => Promise<T>,
): Promise<T> {
  const executablePath = findChromium();
  if (executablePath === null) {
    throw new Error(
      `no Chromium: as root, apt-get install ${chromiumPackage}, or name one in PARLEY_CHROMIUM`,
    );
  }
  // The runner asks where Chromium is, and needs nothing of this.
  const { chromium } = await import('playwright-core');
  return start(chromium, { executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

export const launch = (): Promise<Browser> => startedBy((type, how) => type.launch(how));

/** Its process decides itself what a signal ends. */
const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };

/** For other processes of this machine. */
export const launchServer = (): Promise<BrowserServer> =>
  startedBy((type, how) => type.launchServer({ ...how, ...signals, host: '127.0.0.1' }));

/**
 * The run's one Chromium (verify/test/runner/browser.ts), or one of this process's own. A process
 * sees only the profiles that it made, and they end with its connection.
 */
async function connect(): Promise<Browser> {
  const path = process.env.PARLEY_TEST_BROWSER;
  if (path === undefined) return launch();
  const { answer, socket } = await ask(path, 'no Chromium could be started for this process');
  socket.destroy();
  return (await import('playwright-core')).chromium.connect(answer);
}

/** The browser of the files of a process: each has profiles of its own in it, and closes them. */
export const sharedBrowser = shared(connect, (browser) => browser.close());

/** A file that a page saves, as `setInputFiles` takes it: the browser may be another process's. */
export async function savedBy(saving: Promise<Download>) {
  const download = await saving;
  const buffer = Buffer.concat(await (await download.createReadStream()).toArray());
  return { name: download.suggestedFilename(), mimeType: 'application/octet-stream', buffer };
}
