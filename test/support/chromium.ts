// A real Chromium for tests: PARLEY_CHROMIUM, one that is installed, or Debian's package, which is
// installed where this user may. Everything else is said clearly, and fails.
//
// The headless shell comes first: the same engine without the browser's own windows, profiles and
// services, for half of the processor time of `chromium --headless`.

import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { shared } from './shared.ts';

/** Of what a page is to show: a machine that others use has taken over 15 s for a heading. */
export const pageLimitMs = 60_000;

const shell = 'chromium-headless-shell';
const usual = [shell, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const folders = ['/usr/bin', '/usr/local/bin', '/snap/bin'];

function found(): string | null {
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

/** By Debian's package manager, as root alone. */
function install(): void {
  if (process.getuid?.() !== 0 || process.env.PARLEY_CHROMIUM) return;
  const apt = (...args: string[]) =>
    execFileSync('apt-get', [...args], { stdio: 'ignore', timeout: 240_000 });
  try {
    apt('update');
    apt('install', '-y', '--no-install-recommends', shell);
  } catch {
    // What is missing is said by `launch`.
  }
}

export async function launch(): Promise<Browser> {
  if (found() === null) install();
  const executablePath = found();
  if (executablePath === null) {
    throw new Error(
      `no Chromium: install it (Debian: apt-get install ${shell}), or name one in PARLEY_CHROMIUM`,
    );
  }
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** Of the files of a process: each has profiles of its own in it, and closes them. */
export const sharedBrowser = shared(launch, (browser) => browser.close());
