// Where swaps are tried whole: real chains (TRON and Solana simulated), a PostgreSQL, a way to
// every node and to the database that a test may break, and markets as processes (apps/market/main.ts)
// that reach all of them by these ways alone, with clocks that can be set.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '@parley/core/families.ts';
import { type Place, placeOf } from '@parley/dev/demo/place.ts';
import { type DevnetClient, devnetClient } from '@parley/dev/devnet/client.ts';
import { type Devnet, startDevnet } from '@parley/dev/devnet/devnet.ts';
import { type EmbeddedPostgres, startPostgres } from '@parley/host/postgres/postgres.ts';
import { type Receiver, startReceiver } from '@parley/market/webhooks/testing/receiver.ts';
import { type FaultProxy, faultProxy } from './fault-proxy.ts';
import { type RunningMarket, startMarketProcess } from './market.ts';

export const families = ['bitcoin', 'evm', 'tron', 'solana'] as const;
/** The limit of a read of a chain; a silence is noticed soon, a busy machine is none. */
const chainTimeoutMs = 4_000;

export type Env = Readonly<Record<string, string>>;

export type HowToStart = {
  readonly env?: Env;
  readonly home?: string;
};

export type Server = {
  readonly url: string;
  readonly port: number;
  readonly market: RunningMarket;
  /** Sets its wall clock so many seconds off the others'. */
  skew(seconds: number): Promise<void>;
  /** kill -9; customers are not sent there any more. */
  kill(): Promise<void>;
};

export type Stage = {
  /** Everything of this test lies under it. */
  readonly dir: string;
  readonly dev: DevnetClient;
  readonly devnet: Devnet;
  readonly place: Place;
  /** Two ways to one node: a chain has two sources. Unused where a test brings ways of its own. */
  readonly nodes: Readonly<Record<Family, readonly [FaultProxy, FaultProxy]>>;
  readonly database: FaultProxy;
  /** Null where the markets have a database of their own. */
  readonly postgres: EmbeddedPostgres | null;
  readonly receiver: Receiver;
  /** The environment of every market that is started. */
  readonly env: Env;
  /** Where customers send their requests: to every server that runs, by turns. */
  readonly front: FaultProxy;
  readonly url: string;
  /** Unix seconds, as chains and customers have them. */
  now(): number;
  /** Moves every clock. */
  move(seconds: number): Promise<void>;
  /** Another process of the market, by default in a home of its own, on the same ways. */
  startServer(how?: HowToStart): Promise<Server>;
  readonly servers: Server[];
  /** kill -9 of the first, and another in its place. */
  restart(): Promise<void>;
  /** Before everything that was there by now. */
  undo(step: () => unknown): void;
  close(): Promise<void>;
};

/** Where customers deal: a market, its chains and, of a stage, a receiver of their webhooks. */
export type Ground = Pick<Stage, 'url' | 'dev' | 'place' | 'now'> &
  Partial<Pick<Stage, 'receiver'>>;

export type StageOptions = {
  /** The environment of every market. With a DATABASE_URL no PostgreSQL is started. */
  readonly env?: Env;
  /** The URLs by which markets know a node. */
  readonly ways?: (family: Family, rpcUrl: string) => Promise<readonly [string, ...string[]]>;
};

const quiet = { info: () => {}, warn: () => {}, error: () => {} };

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

type Undo = (() => unknown)[];

/** The chains, the database and the receiver, and the ways to them. */
async function startParts(undo: Undo, { env = {}, ways }: StageOptions) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-stage-'));
  undo.unshift(() => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const [devnet, postgres, receiver] = await Promise.all([
    startDevnet({ dir: join(dir, 'chains'), log: quiet, bitcoin: true, moveClock: () => {} }),
    env.DATABASE_URL === undefined ? startPostgres({ dir, log: quiet }) : null,
    startReceiver(),
  ]);
  undo.unshift(
    () => devnet.stop(),
    () => postgres?.stop(),
    () => receiver.close(),
  );
  await writeFile(join(dir, 'ca.pem'), receiver.ca);
  const dev = devnetClient(devnet.dev);
  const place = placeOf(await dev.status());
  const opened = async (port: number) => {
    const proxy = await faultProxy(port);
    undo.unshift(() => proxy.close());
    return proxy;
  };
  const both = async (family: Family) => {
    const port = portOf(place[family].rpcUrl);
    return [await opened(port), await opened(port)] as const;
  };
  const nodes = {
    bitcoin: await both('bitcoin'),
    evm: await both('evm'),
    tron: await both('tron'),
    solana: await both('solana'),
  };
  const database = await opened(postgres === null ? 1 : portOf(postgres.url));
  const front = await opened(1);
  const urls = {} as Record<Family, readonly [string, ...string[]]>;
  for (const family of families) {
    const { rpcUrl } = place[family];
    const [one, other] = nodes[family].map((proxy) => through(rpcUrl, proxy));
    urls[family] = (await ways?.(family, rpcUrl)) ?? [one ?? '', other ?? ''];
  }
  const common = {
    ...(postgres === null ? {} : { DATABASE_URL: through(postgres.url, database) }),
    ...chainsOf(place, devnet, urls),
    ...settings,
    NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem'),
    ...env,
  };
  return { dir, dev, devnet, place, nodes, database, postgres, receiver, front, common };
}

async function started(
  undo: Undo,
  close: () => Promise<void>,
  options: StageOptions,
): Promise<Stage> {
  const { common, ...parts } = await startParts(undo, options);
  const { dir, dev, front } = parts;
  const clock = { offset: 0 };
  const servers: Server[] = [];
  const toFront = () => front.pointTo(...servers.map(({ port }) => port));
  const context = { after: (step: () => unknown) => undo.unshift(step) } as unknown as TestContext;
  const stage: Stage = {
    ...parts,
    env: common,
    url: `http://127.0.0.1:${front.port}`,
    now: () => Math.floor(Date.now() / 1_000) + clock.offset,
    move: async (seconds) => {
      clock.offset = (await dev.time(seconds)).clockOffsetSeconds;
      for (const each of servers) await each.skew(0);
    },
    startServer: async ({ env = {}, home } = {}) => {
      const where = home ?? (await mkdtemp(join(dir, 'home-')));
      const made = await startServer(context, where, clock, { ...common, ...env });
      const server: Server = {
        ...made,
        kill: async () => {
          servers.splice(servers.indexOf(server) >>> 0, 1);
          toFront();
          await made.market.kill();
        },
      };
      servers.push(server);
      toFront();
      return server;
    },
    servers,
    restart: async () => {
      await servers[0]?.kill();
      await stage.startServer();
    },
    undo: (step) => void undo.unshift(step),
    close,
  };
  return stage;
}

const settings = {
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

async function startServer(
  context: TestContext,
  home: string,
  clock: { readonly offset: number },
  env: Env,
): Promise<Omit<Server, 'kill'>> {
  const clockFile = `${home}.clock`;
  const set = (seconds: number) => writeFile(clockFile, String(clock.offset + seconds));
  await set(0);
  const preload = new URL('./skewed-clock.ts', import.meta.url).href;
  const shell = JSON.parse(env.PARLEY_TEST_SHELL ?? '[]') as string[];
  const main = [process.execPath, `--import=${preload}`, 'apps/market/main.ts', '--json'];
  const own = { ...env, PARLEY_TEST_CLOCK: clockFile };
  const market = await startMarketProcess(context, home, own, [...shell, ...main]);
  return {
    url: market.ready.url,
    port: portOf(market.ready.url),
    market,
    skew: async (seconds) => {
      await rm(`${clockFile}.seen`, { force: true });
      await set(seconds);
      market.child.kill('SIGUSR2');
      const wanted = String(clock.offset + seconds);
      for (let tries = 0; tries < 400; tries += 1) {
        if ((await readFile(`${clockFile}.seen`, 'utf8').catch(() => '')) === wanted) return;
        await sleep(25);
      }
      throw new Error('the server did not read its clock');
    },
  };
}

export function portOf(url: string): number {
  return Number(new URL(url).port);
}

export function through(url: string, proxy: FaultProxy): string {
  const other = new URL(url);
  other.port = String(proxy.port);
  return other.href.replace(/\/$/, '');
}

function chainsOf(
  { bitcoin, evm, tron, solana, coins }: Place,
  devnet: Devnet,
  urls: Readonly<Record<Family, readonly [string, ...string[]]>>,
): Env {
  const genesisHash = devnet.chains.find(({ family }) => family === 'solana')?.genesisHash;
  const [rpcUrl, second] = urls.bitcoin;
  const { chain, chainId, escrows: contract, creation } = tron;
  const sources = urls.tron.map((url) => ({ url }));
  const chains = [
    {
      family: 'bitcoin',
      chain: bitcoin.chain,
      network: 'regtest',
      rpcUrl,
      ...(second === undefined ? {} : { second: { rpcUrl: second } }),
    },
    { family: 'evm', ...evm, rpcUrl: undefined, rpcUrls: urls.evm, policy: 'evm-dev' },
    { family: 'tron', chain, chainId, contract, creation, sources, world: 'dev' },
    {
      family: 'solana',
      chain: solana.chain,
      genesisHash,
      rpcUrls: urls.solana,
      program: solana.program,
      world: 'dev',
    },
  ];
  const assets = Object.values(coins).map(({ chain, symbol, token: address, decimals }) => {
    return { chain, symbol, address, decimals };
  });
  return { PARLEY_CHAINS: JSON.stringify(chains), PARLEY_ASSETS: JSON.stringify(assets) };
}
