// Where faults are tried: real chains (TRON and Solana simulated), a PostgreSQL of its own, a proxy
// before every node and before the database, and the market as a process (server/main.ts) that
// reaches all of them through the proxies alone, with a clock that can be set.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '../../core/families.ts';
import { type DevnetClient, devnetClient } from '../../devnet/client.ts';
import { type Devnet, startDevnet } from '../../devnet/devnet.ts';
import { type EmbeddedPostgres, startPostgres } from '../../host/postgres/postgres.ts';
import { type Place, placeOf } from '../../scripts/demo/place.ts';
import { type Receiver, startReceiver } from '../../server/webhooks/testing/receiver.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { type RunningMarket, startMarketProcess } from '../support/market.ts';
import { newTable, type Table } from './table.ts';

export const families = ['bitcoin', 'evm', 'tron', 'solana'] as const;
/** Of a look at a chain; a silence is noticed soon, a busy machine is none. */
const chainTimeoutMs = 4_000;

export type Server = {
  readonly url: string;
  readonly port: number;
  readonly market: RunningMarket;
  /** Sets its wall clock so many seconds off the others'. */
  skew(seconds: number): Promise<void>;
};

export type Stage = {
  readonly dev: DevnetClient;
  readonly devnet: Devnet;
  readonly place: Place;
  /** Two ways to one node: a chain has two sources. */
  readonly nodes: Readonly<Record<Family, readonly [FaultProxy, FaultProxy]>>;
  readonly database: FaultProxy;
  readonly postgres: EmbeddedPostgres;
  readonly receiver: Receiver;
  readonly table: Table;
  /** Where customers send their requests. */
  readonly front: FaultProxy;
  readonly url: string;
  /** Unix seconds, as chains and customers have them. */
  now(): number;
  /** Moves every clock. */
  move(seconds: number): Promise<void>;
  /** Another process of the market on the same database and the same ways. */
  startServer(env?: Readonly<Record<string, string>>): Promise<Server>;
  readonly servers: Server[];
  /** kill -9 of the first, and another in its place. */
  restart(): Promise<void>;
  /** Before everything that was there by now. */
  undo(step: () => unknown): void;
  close(): Promise<void>;
};

const quiet = { info: () => {}, warn: () => {}, error: () => {} };

export async function startStage(env: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const undo: (() => unknown)[] = [];
  const close = async () => {
    for (const step of undo.splice(0)) await step();
  };
  try {
    return await started(undo, close, env);
  } catch (error) {
    await close();
    throw error;
  }
}

async function started(
  undo: (() => unknown)[],
  close: () => Promise<void>,
  env: Readonly<Record<string, string>>,
): Promise<Stage> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-faults-'));
  undo.unshift(() => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const [devnet, postgres, receiver] = await Promise.all([
    startDevnet({ dir: join(dir, 'chains'), log: quiet, bitcoin: true, moveClock: () => {} }),
    startPostgres({ dir, log: quiet }),
    startReceiver(),
  ]);
  undo.unshift(
    () => devnet.stop(),
    () => postgres.stop(),
    () => receiver.close(),
  );
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
  const database = await opened(portOf(postgres.url));
  const front = await opened(1);
  const clock = { offset: 0 };
  const servers: Server[] = [];
  const common = {
    DATABASE_URL: through(postgres.url, database),
    ...chainsOf(place, devnet, nodes),
    ...settings,
    NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem'),
    ...env,
  };
  await writeFile(join(dir, 'ca.pem'), receiver.ca);
  const toFront = () => front.pointTo(...servers.map(({ port }) => port));
  const stage: Stage = {
    dev,
    devnet,
    place,
    nodes,
    database,
    postgres,
    receiver,
    table: newTable(),
    front,
    url: `http://127.0.0.1:${front.port}`,
    now: () => Math.floor(Date.now() / 1_000) + clock.offset,
    move: async (seconds) => {
      clock.offset = (await dev.time(seconds)).clockOffsetSeconds;
      for (const each of servers) await each.skew(0);
    },
    startServer: async (more = {}) => {
      const context = { after: (step: () => unknown) => undo.unshift(step) };
      const home = await mkdtemp(join(dir, 'home-'));
      const server = await startServer(context as unknown as TestContext, home, clock, {
        ...common,
        ...more,
      });
      servers.push(server);
      toFront();
      return server;
    },
    servers,
    restart: async () => {
      const [first] = servers.splice(0, 1);
      await first?.market.kill();
      await stage.startServer();
    },
    undo: (step) => void undo.unshift(step),
    close,
  };
  await stage.startServer();
  return stage;
}

const settings = {
  PARLEY_NETWORK: 'dev',
  PARLEY_ENCRYPTION_KEY: '42'.repeat(32),
  PARLEY_CHAIN_TIMEOUT_MS: String(chainTimeoutMs),
  PARLEY_FOLLOW_INTERVAL_MS: '400',
  PARLEY_RATE_LIMIT: '1000000',
  PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.1',
  PARLEY_DEV_PORT: '',
  PARLEY_LOG_LEVEL: 'warn',
  VALKEY_URL: '',
};

async function startServer(
  context: TestContext,
  home: string,
  clock: { readonly offset: number },
  env: Readonly<Record<string, string>>,
): Promise<Server> {
  const file = `${home}.clock`;
  const set = (seconds: number) => writeFile(file, String(clock.offset + seconds));
  await set(0);
  const preload = new URL('./skewed-clock.ts', import.meta.url).href;
  const main = [process.execPath, `--import=${preload}`, 'server/main.ts', '--json'];
  const own = { ...env, PARLEY_TEST_CLOCK: file };
  const market = await startMarketProcess(
    context,
    home,
    own,
    env.PARLEY_TEST_SHELL === undefined
      ? main
      : [...(JSON.parse(env.PARLEY_TEST_SHELL) as string[]), ...main],
  );
  return {
    url: market.ready.url,
    port: portOf(market.ready.url),
    market,
    skew: async (seconds) => {
      await rm(`${file}.seen`, { force: true });
      await set(seconds);
      market.child.kill('SIGUSR2');
      const wanted = String(clock.offset + seconds);
      for (let tries = 0; tries < 400; tries += 1) {
        if ((await readFile(`${file}.seen`, 'utf8').catch(() => '')) === wanted) return;
        await sleep(25);
      }
      throw new Error('the server did not look at its clock');
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

function chainsOf(place: Place, devnet: Devnet, nodes: Stage['nodes']): Record<string, string> {
  const { bitcoin, evm, tron, solana } = place;
  const urls = (family: Family) =>
    nodes[family].map((proxy) => through(place[family].rpcUrl, proxy)) as [string, string];
  const genesisHash = devnet.chains.find(({ family }) => family === 'solana')?.genesisHash;
  const [rpcUrl, secondUrl] = urls('bitcoin');
  const chains = [
    {
      family: 'bitcoin',
      chain: bitcoin.chain,
      network: 'regtest',
      rpcUrl,
      second: { rpcUrl: secondUrl },
    },
    {
      family: 'evm',
      chain: evm.chain,
      chainId: evm.chainId,
      rpcUrls: urls('evm'),
      policy: 'evm-dev',
    },
    {
      family: 'tron',
      chain: tron.chain,
      chainId: tron.chainId,
      contract: tron.escrows,
      creation: tron.creation,
      sources: urls('tron').map((url) => ({ url })),
      world: 'dev',
    },
    {
      family: 'solana',
      chain: solana.chain,
      genesisHash,
      rpcUrls: urls('solana'),
      program: solana.program,
      world: 'dev',
    },
  ];
  const assets = Object.values(place.coins).map(({ chain, symbol, token, decimals }) => ({
    chain,
    symbol,
    address: token,
    decimals,
  }));
  return { PARLEY_CHAINS: JSON.stringify(chains), PARLEY_ASSETS: JSON.stringify(assets) };
}
