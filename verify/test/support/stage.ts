// Where swaps are tried whole: real chains (TRON and Solana simulated), and markets as processes
// (apps/market/main.ts) with databases of their own, behind one address.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Family } from '@parley/core/families.ts';
import { type Place, placeOf } from '@parley/dev/demo/place.ts';
import { type DevnetClient, devnetClient } from '@parley/dev/devnet/client.ts';
import { type Devnet, startDevnet } from '@parley/dev/devnet/devnet.ts';
import { type Receiver, startReceiver } from '@parley/market/webhooks/testing/receiver.ts';
import { faultProxy } from './fault-proxy.ts';
import { type Ending, type RunningMarket, startMarketProcess } from './market.ts';
import { shared } from './shared.ts';

export const families = ['bitcoin', 'evm', 'tron', 'solana'] as const;
/** The limit of a read of a chain; a silence is noticed soon, a busy machine is none. */
const chainTimeoutMs = 4_000;

type Env = Readonly<Record<string, string>>;

export type Server = {
  readonly url: string;
  readonly port: number;
  readonly market: RunningMarket;
};

export type Stage = {
  /** Everything of this test lies under it. */
  readonly dir: string;
  readonly dev: DevnetClient;
  readonly place: Place;
  readonly receiver: Receiver;
  /** Where customers send their requests: to the server that was started last. */
  readonly url: string;
  /** Unix seconds, as chains and customers have them. */
  now(): number;
  /** Moves these clocks, and those of the servers that are started from then on. */
  move(seconds: number): Promise<void>;
  /** Another process of the market, by default in a home of its own. */
  startServer(how?: { readonly env?: Env; readonly home?: string }): Promise<Server>;
  readonly servers: readonly Server[];
  close(): Promise<void>;
};

/** Where customers deal: a market, its chains and, of a stage, a receiver of their webhooks. */
export type Ground = Pick<Stage, 'url' | 'dev' | 'place' | 'now'> &
  Partial<Pick<Stage, 'receiver'>>;

/** A market leaves nothing on them for the next: a stage may follow another one. */
type Chains = Awaited<ReturnType<typeof startChains>>;

type StageOptions = {
  /** Chains that stay when the stage is closed; else it starts its own. */
  readonly chains?: Chains;
  /** The environment of every market. */
  readonly env?: Env;
  /** The URL by which markets know a node; its own unless told. */
  readonly way?: (family: Family, rpcUrl: string) => Promise<string>;
  /** What starts each market's command. */
  readonly shell?: readonly string[];
  /** Of Node, for each market. */
  readonly flags?: readonly string[];
};

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const preload = new URL('./skewed-clock.ts', import.meta.url).href;

async function startChains() {
  const dir = await mkdtemp(join(tmpdir(), 'parley-chains-'));
  const [devnet, receiver] = await Promise.all([
    startDevnet({ dir, log: quiet, bitcoin: true, moveClock: () => {} }),
    startReceiver(),
  ]);
  return {
    devnet,
    receiver,
    stop: async () => {
      await receiver.close();
      await devnet.stop();
      await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** For the stages of all test files of a process. */
export const sharedChains = shared(startChains, (chains) => chains.stop());

export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const undo: (() => unknown)[] = [];
  const close = async () => {
    for (const step of undo.splice(0)) await step();
  };
  try {
    return await started(undo, close, options);
  } catch (error) {
    await close();
    throw error;
  }
}

async function started(
  undo: (() => unknown)[],
  close: () => Promise<void>,
  { chains, env = {}, way = async (_, rpcUrl) => rpcUrl, shell = [], flags = [] }: StageOptions,
): Promise<Stage> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-stage-'));
  undo.unshift(() => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const { devnet, receiver, stop } = chains ?? (await startChains());
  if (chains === undefined) undo.unshift(stop);
  const front = await faultProxy(1);
  undo.unshift(() => front.close());
  const authority = join(dir, 'ca.pem');
  await writeFile(authority, receiver.ca);
  const dev = devnetClient(devnet.dev);
  const status = await dev.status();
  const place = placeOf(status);
  const ways = families.map(async (family) => [family, await way(family, place[family].rpcUrl)]);
  const urls = Object.fromEntries(await Promise.all(ways)) as Record<Family, string>;
  const common = {
    ...chainsOf(place, devnet, urls),
    ...settings,
    NODE_EXTRA_CA_CERTS: authority,
    ...env,
  };
  const ending: Ending = { after: (step) => void undo.unshift(step) };
  const servers: Server[] = [];
  let offset = status.clockOffsetSeconds;
  return {
    dir,
    dev,
    place,
    receiver,
    url: `http://127.0.0.1:${front.port}`,
    now: () => Math.floor(Date.now() / 1_000) + offset,
    move: async (seconds) => {
      offset = (await dev.time(seconds)).clockOffsetSeconds;
    },
    startServer: async ({ env: more = {}, home } = {}) => {
      const where = home ?? (await mkdtemp(join(dir, 'home-')));
      const own = { ...common, ...more, PARLEY_TEST_CLOCK: String(offset) };
      const node = [process.execPath, ...flags, `--import=${preload}`];
      const main = [...node, 'apps/market/main.ts', '--json'];
      const market = await startMarketProcess(ending, where, own, [...shell, ...main]);
      const { url } = market.ready;
      const port = Number(new URL(url).port);
      front.pointTo(port);
      servers.push({ url, port, market });
      return { url, port, market };
    },
    servers,
    close,
  };
}

const settings = {
  DATABASE_URL: '',
  PARLEY_NETWORK: 'dev',
  PARLEY_ENCRYPTION_KEY: '42'.repeat(32),
  PARLEY_CHAIN_TIMEOUT_MS: String(chainTimeoutMs),
  // At 400 ms, and every statement of it logged, following took a third of test/secrets.
  PARLEY_FOLLOW_INTERVAL_MS: '1000',
  PARLEY_RATE_LIMIT: '1000000',
  PARLEY_MINT_LIMIT: '1000',
  PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.1',
  PARLEY_DEV_PORT: '',
  PARLEY_LOG_LEVEL: 'warn',
  VALKEY_URL: '',
};

function chainsOf(
  { bitcoin, evm, tron, solana, coins }: Place,
  devnet: Devnet,
  urls: Readonly<Record<Family, string>>,
): Env {
  const genesisHash = devnet.chains.find(({ family }) => family === 'solana')?.genesisHash;
  const { chain, chainId, escrows: contract, creation } = tron;
  const sources = [{ url: urls.tron }];
  const chains = [
    { family: 'bitcoin', chain: bitcoin.chain, network: 'regtest', rpcUrl: urls.bitcoin },
    { family: 'evm', ...evm, rpcUrl: undefined, rpcUrls: [urls.evm], policy: 'evm-dev' },
    { family: 'tron', chain, chainId, contract, creation, sources, world: 'dev' },
    {
      family: 'solana',
      chain: solana.chain,
      genesisHash,
      rpcUrls: [urls.solana],
      program: solana.program,
      world: 'dev',
    },
  ];
  const assets = Object.values(coins).map(({ chain, symbol, token: address, decimals }) => {
    return { chain, symbol, address, decimals };
  });
  return { PARLEY_CHAINS: JSON.stringify(chains), PARLEY_ASSETS: JSON.stringify(assets) };
}
