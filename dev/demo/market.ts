// Finds the market that the demo plays on, a running one or one that it starts and stops itself,
// and the names that it goes by.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { isLoopback } from '@parley/market/settings/networks.ts';

export type Stage = {
  readonly url: string;
  /** Control address of the dev network. */
  readonly dev: string;
  stop(): Promise<void>;
};

/** A real node takes a minute by itself before it makes a block. */
const { PARLEY_JAVA_TRON, PARLEY_SOLANA_VALIDATOR } = process.env;
/** It bounds a hang alone: usual are 5 s, and minutes on a machine that does ten things. */
const startLimitMs = PARLEY_JAVA_TRON || PARLEY_SOLANA_VALIDATOR ? 600_000 : 300_000;
const stopLimitMs = 20_000;
const brandLimitMs = 10_000;
const usualUrl = 'http://127.0.0.1:8080';
const root = resolve(import.meta.dirname, '../..');

type Ready = { ready?: unknown; url?: unknown; dev?: unknown };

/**
 * A running market: where it and its control address are is given, or in the file that it writes
 * when ready.
 */
export async function runningMarket(
  url: string | undefined,
  dev: string | undefined,
): Promise<Stage> {
  const stop = async () => undefined;
  if (dev !== undefined) return { url: url ?? usualUrl, dev, stop };
  const ready = await announced(url);
  return { url: url ?? ready.url, dev: ready.dev, stop };
}

/** Where the state of `npm start` is, and of what plays beside it. */
export function marketHome(): string {
  return resolve(process.env.PARLEY_HOME ?? join(root, '.parley'));
}

async function announced(url: string | undefined): Promise<{ url: string; dev: string }> {
  const file = join(marketHome(), 'ready.json');
  const how = 'say where its dev network is with --dev URL (it prints the address when ready)';
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw new Error(`no market has written ${file}: ${how}`, { cause });
  });
  const ready = parsed(text);
  const there = ready?.url;
  const dev = ready?.dev;
  const isSame = typeof there === 'string' && (url === undefined || isSamePlace(there, url));
  if (isSame && typeof dev === 'string') return { url: there, dev };
  throw new Error(`${file} is of ${String(there)}, not of ${url ?? 'a dev network'}: ${how}`);
}

/** Whether both lead to one server: `localhost` is as good as the address that it stands for. */
export function isSamePlace(a: string, b: string): boolean {
  const one = new URL(a);
  const other = new URL(b);
  if (one.protocol !== other.protocol || one.port !== other.port) return false;
  const areLoopback = isLoopback(one.hostname) && isLoopback(other.hostname);
  return one.hostname === other.hostname || areLoopback;
}

/** Starts a market of its own on free ports, its state in a temporary folder; `signal` gives up. */
export async function ownMarket(signal?: AbortSignal): Promise<Stage> {
  const home = await mkdtemp(join(tmpdir(), 'parley-demo-'));
  const child = spawn(process.execPath, [join(root, 'apps/market/main.ts'), '--json'], {
    cwd: root,
    env: { ...process.env, ...fresh, PARLEY_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async () => {
    await end(child);
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    return { ...(await readyLine(child, signal)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Settings that a market of one's own must not inherit. */
const fresh = {
  PORT: '0',
  HOST: '127.0.0.1',
  PARLEY_NETWORK: 'dev',
  PARLEY_CHAINS: '',
  PARLEY_ASSETS: '',
  PARLEY_DEV_PORT: '0',
  // Parties settle by themselves here: with the clock moved by days a keeper would be first.
  PARLEY_KEEPER: 'off',
  DATABASE_URL: '',
  PARLEY_LOG_LEVEL: 'warn',
};

function readyLine(child: ChildProcess, signal?: AbortSignal) {
  return new Promise<{ url: string; dev: string }>((accept, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    let said = '';
    const fail = (why: string) => reject(new Error(`the market did not start: ${why}\n${said}`));
    const timer = setTimeout(() => fail(`not ready after ${startLimitMs} ms`), startLimitMs);
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`it ended with ${code}`));
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
    });
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { ready, url, dev } = parsed(line) ?? {};
      if (ready !== true) return;
      clearTimeout(timer);
      if (typeof url === 'string' && typeof dev === 'string') accept({ url, dev });
      else fail(`its ready line names no dev network: ${line}`);
    });
  });
}

function parsed(line: string): Ready | null {
  try {
    return JSON.parse(line) as Ready;
  } catch {
    return null;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
  await ended;
  clearTimeout(timer);
}

/** In the texts that wallets sign, in keys and in headers. */
export type Brand = { readonly productName: string; readonly shortName: string };

/**
 * From the environment, else from the market itself. For play money only: with real money one
 * market could so ask for a signature that is meant for another.
 */
export async function brandOf(
  url: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Brand> {
  const ask = (path: string) =>
    fetch(new URL(path, url), { signal: AbortSignal.timeout(brandLimitMs) });
  const titleOf = async () => {
    const { info } = (await (await ask('/v1/openapi.json')).json()) as { info: { title: string } };
    return info.title.replace(/ API$/, '');
  };
  // The header of a refusal carries the short name: `x-<name>-error`.
  const headerOf = async () => {
    const { headers, body } = await ask('/v1/me');
    await body?.cancel();
    const names = [...headers.keys()].map((name) => /^x-([a-z\d]{1,16})-error$/.exec(name)?.[1]);
    return names.find((name) => name !== undefined) ?? 'parley';
  };
  return {
    productName: env.PARLEY_PRODUCT_NAME || (await titleOf()),
    shortName: env.PARLEY_SHORT_NAME || (await headerOf()),
  };
}
