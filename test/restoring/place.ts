// Dev chains that outlive the market on them, a market as an operator starts it in any home, and
// the operator's commands.

import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type DevnetClient, devnetClient } from '../../devnet/client.ts';
import { startDevnet } from '../../devnet/devnet.ts';
import { type Place, placeOf } from '../../scripts/demo/place.ts';
import type { ChainSettings } from '../../server/settings/chains.ts';
import { devAssets, devChains } from '../../server/start/dev-network.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { type RunningMarket, startMarketProcess } from '../support/market.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const root = fileURLToPath(new URL('../..', import.meta.url));
const shim = fileURLToPath(new URL('./shifted-clock.ts', import.meta.url));
const commandMs = 120_000;

export type World = {
  readonly dev: DevnetClient;
  readonly place: Place;
  /** Everything of this test lies under it. */
  readonly dir: string;
  /** Between the markets and their Bitcoin node: what the other families lack is a slow one. */
  readonly bitcoin: FaultProxy;
  readonly bitcoinPort: number;
  now(): number;
  /** All chains and the clocks of all markets. */
  move(seconds: number): Promise<void>;
  market(t: TestContext, home: string, env?: Record<string, string>): Promise<RunningMarket>;
  /** `npm run` something of an operator's, in a home. Answers what it printed. */
  command(script: string, args: readonly string[], env?: Record<string, string>): Promise<Said>;
  stop(): Promise<void>;
};

export type Said = { readonly status: number; readonly out: string; readonly err: string };

export async function startWorld(webhookCa: string): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-restoring-'));
  const devnet = await startDevnet({
    dir: join(dir, 'chains'),
    log: quiet,
    bitcoin: true,
    moveClock: () => undefined,
  });
  const dev = devnetClient(devnet.dev);
  const clock = { offset: 0, file: join(dir, 'clock') };
  await writeFile(clock.file, '0');
  const ca = join(dir, 'webhooks.pem');
  await writeFile(ca, webhookCa);
  const chains = devChains(devnet);
  const node = chains.find(({ family }) => family === 'bitcoin') as { rpcUrl: string };
  const bitcoinPort = Number(new URL(node.rpcUrl).port);
  const bitcoin = await faultProxy(bitcoinPort);
  const served = chains.map((each): ChainSettings => {
    if (each.family !== 'bitcoin') return each;
    const rpcUrl = new URL(node.rpcUrl);
    rpcUrl.port = String(bitcoin.port);
    return { ...each, rpcUrl: rpcUrl.href };
  });
  const env = {
    PARLEY_CHAINS: JSON.stringify(served),
    PARLEY_ASSETS: JSON.stringify(devAssets(chains, devnet)),
    PARLEY_FOLLOW_INTERVAL_MS: '500',
    PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    // What waits to be accepted still stands after the missing hour.
    PARLEY_ACCEPT_TTL: '86400',
    PARLEY_MINT_LIMIT: '1000',
    PARLEY_RATE_LIMIT: '100000',
    PARLEY_LOG_LEVEL: 'warn',
    NODE_EXTRA_CA_CERTS: ca,
    PARLEY_TEST_CLOCK: clock.file,
    NODE_OPTIONS: `--import=${shim}`,
  };
  return {
    dev,
    place: placeOf(await dev.status()),
    dir,
    bitcoin,
    bitcoinPort,
    now: () => Math.floor(Date.now() / 1_000) + clock.offset,
    move: async (seconds) => {
      clock.offset = (await dev.time(seconds)).clockOffsetSeconds;
      // Whole or not at all; a market looks at it every 100 ms (shifted-clock.ts).
      await writeFile(`${clock.file}.new`, String(clock.offset));
      await rename(`${clock.file}.new`, clock.file);
      await sleep(300);
    },
    market: (t, home, more = {}) => startMarketProcess(t, home, { ...env, ...more }),
    command: (script, args, more = {}) => run(script, args, more),
    stop: async () => {
      await bitcoin.close();
      await devnet.stop();
      await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

function run(script: string, args: readonly string[], env: Record<string, string>): Promise<Said> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: { ...process.env, ...env }, timeout: commandMs };
    execFile(process.execPath, [script, ...args], options, (error, out, err) => {
      const status = error === null ? 0 : Number(error.code ?? 1);
      resolve({ status, out, err });
    });
  });
}
