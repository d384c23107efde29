// A market as an operator grows it: server processes, a watchtower apart, Debian's Valkey and one
// PostgreSQL, behind Debian's nginx with ops/nginx/parley.conf. Each process has ways of its own to
// the database and to Valkey, which may be broken.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { privateKeyToAddress } from 'viem/accounts';
import { freePort } from '../../host/free-port.ts';
import { type Program, type RunningProxy, startProxy } from '../proxy-soak/programs.ts';
import { makeCertificate, trusted } from '../support/certificate.ts';
import { until } from '../support/deals.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { portOf, type Server, type Stage, startStage, through } from '../support/stage.ts';
import { startValkey, type TestValkey } from '../support/valkey.ts';

/** One server process, with what only it uses. */
export type Process = {
  readonly server: Server;
  readonly metricsPort: number;
  readonly database: FaultProxy;
  readonly valkey: FaultProxy;
  /** kill -9, and another at the same port with the same settings. */
  replace(): Promise<void>;
};

export type Watchtower = { readonly pid: number; kill(): Promise<void>; start(): Promise<void> };

export type Market = {
  /** Of customers who come by nginx. */
  readonly stage: Stage;
  readonly valkey: TestValkey;
  readonly watchtower: Watchtower;
  readonly processes: readonly Process[];
  readonly proxy: RunningProxy;
  close(): Promise<void>;
};

type Undo = (() => unknown)[];

/** Of so many server processes. */
export async function openMarket(program: Program, count: number): Promise<Market> {
  const undo: Undo = [];
  const close = async () => {
    for (const step of undo.splice(0)) await step();
  };
  try {
    return { ...(await opened(program, count, undo)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Opened = Omit<Market, 'close'>;

async function opened(program: Program, count: number, undo: Undo): Promise<Opened> {
  const certificate = trusted(makeCertificate(['DNS:localhost']));
  const place = { certificate, port: await freePort(), httpPort: await freePort() };
  const url = `https://localhost:${place.port}`;
  const base = await startStage({
    env: {
      PARLEY_PUBLIC_URL: url,
      PARLEY_TRUSTED_PROXIES: '127.0.0.1',
      PARLEY_KEEPER: 'apart',
      PARLEY_DATABASE_CONNECTIONS: '20',
      // All makers of the soak come from one address.
      PARLEY_FEED_SOCKETS_PER_IP: '10000',
    },
  });
  undo.unshift(() => base.close());
  const stage: Stage = { ...base, url };
  const valkey = await startValkey();
  undo.unshift(() => valkey.stop());
  const processes: Process[] = [];
  while (processes.length < count) processes.push(await startProcess(stage, valkey, undo));
  const ports = processes.map(({ server }) => server.port);
  const proxy = await startProxy(program, place, ports);
  undo.unshift(() => proxy.stop());
  const watchtower = await openWatchtower(stage, undo);
  return { stage, valkey, watchtower, processes, proxy };
}

async function startProcess(stage: Stage, valkey: TestValkey, undo: Undo): Promise<Process> {
  const database = await faultProxy(portOf(stage.postgres?.url ?? ''));
  const counters = await faultProxy(portOf(valkey.url));
  undo.unshift(
    () => database.close(),
    () => counters.close(),
  );
  const metricsPort = await freePort();
  const env = {
    DATABASE_URL: through(stage.postgres?.url ?? '', database),
    VALKEY_URL: through(valkey.url, counters),
    PARLEY_METRICS_PORT: String(metricsPort),
  };
  let server = await stage.startServer({ env });
  const { port } = server;
  return {
    get server() {
      return server;
    },
    metricsPort,
    database,
    valkey: counters,
    replace: async () => {
      await server.kill();
      server = await stage.startServer({ env: { ...env, PORT: String(port) } });
    },
  };
}

async function openWatchtower(stage: Stage, undo: Undo): Promise<Watchtower> {
  const key = `0x${randomBytes(32).toString('hex')}` as const;
  const keyFile = join(stage.dir, 'gas.key');
  await writeFile(keyFile, key, { mode: 0o600 });
  const gas = { chain: 'evm-dev', address: privateKeyToAddress(key) };
  await stage.dev.faucet({ ...gas, amount: 10n ** 19n });
  const keys = [{ chain: 'evm-dev', keyFile, dailyCap: `${10n ** 18n}`, claimGraceSeconds: 0 }];
  let child: ChildProcess | null = null;
  const start = async () => {
    let said = '';
    const started = spawn(process.execPath, ['watchtower/main.ts'], {
      env: {
        ...process.env,
        ...stage.env,
        PARLEY_HOME: join(stage.dir, 'watchtower'),
        PARLEY_KEEPER: JSON.stringify(keys),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk;
      });
    }
    await until('the watchtower watches', async () => {
      if (started.exitCode !== null) throw new Error(said);
      return said.includes('Watching: evm-dev');
    });
  };
  const kill = async () => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  undo.unshift(kill);
  await start();
  return {
    get pid() {
      return child?.pid ?? 0;
    },
    kill,
    start,
  };
}
