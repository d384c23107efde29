// The app for browsers at start. `npm ci` has built it; it is built anew where its sources are newer
// than the build, beside the start. A failure here stops only the app.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { AppChain } from '@parley/core/app-chain.ts';
import { lockFolder } from '@parley/host/folder-lock.ts';
import { readBuild, type WebBuild } from '../edge/web/build.ts';
import type { Web } from '../edge/web/routes.ts';
import type { Settings } from '../settings/config.ts';

const ownRoot = fileURLToPath(new URL('../../..', import.meta.url));
const folder = 'packages/web/dist';
/** All that the bundler may read, beside its own packages. */
const sources = [
  ...['web', 'trader', 'sdk', 'chains', 'core'].map((name) => `packages/${name}`),
  'contracts',
  'package-lock.json',
];
/** Files below them that the bundler does not read: `generated.ts` holds types alone. */
const unread = /^dist|^\.|\.test\.ts$|^generated\.ts$/;
const documents = [
  'docs',
  'README.md',
  'packages/sdk/README.md',
  'scripts/site',
  'package-lock.json',
];
const buildLimitMs = 120_000;
/** A busy machine gives little to a build that holds up no start. */
const behindLimitMs = 600_000;
const lookMs = 250;

/** `said`: a line for the operator, null where there is nothing to say. */
export type OpenedWeb = {
  readonly build: WebBuild | null;
  readonly said: string | null;
  /** A newer one that is being built. */
  readonly later?: Promise<OpenedWeb>;
};

/** Waits for a build that is due. `root`: that of the repository. */
export async function openWeb(root = ownRoot, isBehind = false): Promise<OpenedWeb> {
  try {
    const said = await builtOnce(root, isBehind);
    const read = await readBuild(join(root, folder));
    return { build: read, said: read === null ? 'not built: npm run web' : said };
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    return { build: null, said: `not built, \`npm run web\` says more: ${line}` };
  }
}

/** The build of now: one that is due is made at the lowest priority, and comes later. */
export async function openWebAtOnce(root = ownRoot): Promise<OpenedWeb> {
  if (!(await isAppOld(root).catch(() => false))) return openWeb(root);
  const later = openWeb(root, true);
  const build = await readBuild(join(root, folder)).catch(() => null);
  return { build, said: `being built${build === null ? '' : ': its sources are newer'}`, later };
}

/** Without the app: tests of the API start with it. */
export const noWeb: Promise<OpenedWeb> = Promise.resolve({ build: null, said: null });

/** Served as it is opened, and anew once the later build is there. */
export function webOf({ build, later }: OpenedWeb, config: Web['config']): Web {
  const web: Web = { build, config, isBuilding: later !== undefined };
  void later?.then((newer) => {
    web.isBuilding = false;
    web.build = newer.build ?? build;
  });
  return web;
}

/** The facts that only this market can tell its app; packages/web/market/config.ts reads it. */
export function webConfig(
  { productName, shortName, network }: Settings,
  { offsetMs }: { readonly offsetMs: number },
  chains: readonly AppChain[],
  dev: object | null,
): object {
  const clockOffsetSeconds = Math.round(offsetMs / 1_000);
  return { productName, shortName, network, clockOffsetSeconds, chains, dev };
}

/** The first of several processes that start together builds, and the others wait for it. */
async function builtOnce(root: string, isBehind: boolean): Promise<string | null> {
  const limit = performance.now() + buildLimitMs;
  while (await isAppOld(root)) {
    const lock = await lockFolder(join(root, 'packages/web'), 'build');
    if (lock !== null) {
      try {
        return (await isAppOld(root)) ? await build(root, isBehind) : null;
      } finally {
        await lock.release();
      }
    }
    if (performance.now() > limit) {
      throw new Error(`another process did not build it in ${buildLimitMs / 1_000} s`);
    }
    await sleep(lookMs);
  }
  return null;
}

/**
 * Packs the files of the app where they are not packed, and builds the site of the documents where
 * one of them is newer: at the lowest priority, since nobody waits for it. Gives whether anything
 * was due. A build that fails leaves what was there.
 */
export async function finishBuilds(running: WebBuild | null, root = ownRoot): Promise<boolean> {
  const isPacked = running === null || running.files.some(({ br }) => br !== null);
  const isToPack = !isPacked && existsSync(join(root, 'node_modules/vite'));
  const areDocsOld = await isOld(root, {
    needs: 'vitepress',
    built: `${folder}-docs`,
    of: documents,
  });
  const due = [...(isToPack ? ['pack'] : []), ...(areDocsOld ? ['docs'] : [])];
  if (due.length === 0) return false;
  const lock = await lockFolder(join(root, 'packages/web'), 'documents');
  if (lock === null) return false;
  try {
    for (const part of due) {
      await run(root, ['--only', part], true);
      if (part === 'pack' && running !== null) await takePacked(running, join(root, folder));
    }
  } finally {
    await lock.release();
  }
  return true;
}

/** Packed files of another build are not those of the one that is served. */
async function takePacked(running: WebBuild, from: string): Promise<void> {
  const packed = await readBuild(from);
  if (packed?.hash !== running.hash) return;
  for (const file of running.files) {
    const { br = null, gzip = null } = packed.files.find(({ path }) => path === file.path) ?? {};
    Object.assign(file, { br, gzip });
  }
}

const isAppOld = (root: string) => isOld(root, { needs: 'vite', built: folder, of: sources });

type Build = { readonly needs: string; readonly built: string; readonly of: readonly string[] };

async function isOld(root: string, { needs, built, of }: Build): Promise<boolean> {
  // Without the development packages what is there is served.
  if (!existsSync(join(root, 'node_modules', needs))) return false;
  const builtAt = (await stat(join(root, built, 'build.json')).catch(() => null))?.mtimeMs ?? 0;
  for (const each of of) {
    if ((await newestIn(join(root, each))) > builtAt) return true;
  }
  return false;
}

/** When the newest file there was changed, in milliseconds. */
async function newestIn(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isDirectory()) return found.mtimeMs;
  const inside = (await readdir(path)).filter((name) => !unread.test(name));
  const each = await Promise.all(inside.map((name) => newestIn(join(path, name))));
  return Math.max(0, ...each);
}

async function build(root: string, isBehind: boolean): Promise<string> {
  const { seconds } = JSON.parse(await run(root, ['--only', 'app', '--unpacked'], isBehind)) as {
    seconds: number;
  };
  return `built in ${seconds.toFixed(1)} s`;
}

/** Ends with this process. `isBehind`: at the lowest priority. Gives what it printed. */
async function run(root: string, args: readonly string[], isBehind: boolean): Promise<string> {
  const command = [join(root, 'scripts/web.ts'), ...args, '--json'];
  const building = promisify(execFile)(process.execPath, command, { timeout: behindLimitMs });
  const { child } = building;
  if (isBehind && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const end = () => child.kill();
  process.once('exit', end);
  const { stdout } = await building.finally(() => process.off('exit', end));
  return stdout;
}
