// Starts local chains and the control server. Never in production: everything gives money away.
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Queue, queue } from '@parley/core/queue.ts';
import { DevnetError } from '@parley/host/failure.ts';
import { lockFolder } from '@parley/host/folder-lock.ts';
import type { Log } from '@parley/host/log.ts';
import { startAnvil } from './anvil.ts';
import { bitcoinChain } from './bitcoin-chain.ts';
import { startBitcoind } from './bitcoind.ts';
import { type Clock, openClock } from './clock.ts';
import { deployContracts } from './contracts.ts';
import {
  type ControlParts,
  type DevMarket,
  listenForControl,
  type ResolveAsset,
} from './control.ts';
import type { ChainInfo, DevChain } from './dev-chain.ts';
import { evmChain } from './evm-chain.ts';
import { findBitcoind } from './find-bitcoind.ts';
import { javaTronChain } from './nodes/java-tron.ts';
import { validatorChain } from './nodes/solana-validator.ts';
import type { People } from './people/people.ts';
import type { Running } from './processes.ts';
import { solanaChain } from './solana-chain.ts';
import { tronChain } from './tron-chain.ts';

/** Two blocks a second while something waits to get deep. */
const tickMs = 500;
const miningStopMs = 2_000;
const bitcoinKey = 'bitcoin-regtest';
const tronKey = 'tron-dev';
const solanaKey = 'solana-dev';
/**
 * The lag of TRON's solid block, which is 19 blocks there: people who try the market should not
 * wait for more.
 */
const tronSolidityLag = 4;

export type DevnetOptions = {
  /** State of all chains; one running dev network a folder. */
  readonly dir: string;
  readonly log: Log;
  /** Default: one, `evm-dev` with chain id 31337. */
  readonly evmChains?: readonly { readonly key: string; readonly chainId: number }[];
  /** 'auto' (default): off with one clear line where no bitcoind can be had; true: fail then. */
  readonly bitcoin?: boolean | 'auto';
  readonly tron?: boolean;
  readonly solana?: boolean;
  /** An inbox and an identity provider; default false: a chain needs neither. */
  readonly people?: boolean;
  /** Default: any free port. */
  readonly controlPort?: number;
  /** Moves the market's clock forward; called after the chains have moved. */
  readonly moveClock: (seconds: number) => void | Promise<void>;
  /** The market's knowledge of an asset id or symbol, for the faucet. */
  readonly resolveAsset?: ResolveAsset;
  /** The node of this chain is gone, and nothing starts it again; told once a chain. */
  readonly ended?: (chain: string) => void;
  /** Which market it is of, for programs that are given its control address alone. */
  readonly market?: () => DevMarket | null;
  /** A bitcoind of one's own; default PARLEY_BITCOIND, then PATH, then Debian's package. */
  readonly bitcoind?: string;
  readonly signal?: AbortSignal;
};

export type Devnet = {
  readonly chains: readonly ChainInfo[];
  readonly dev: string;
  /** Null where they were not asked for. */
  readonly people: People | null;
  /** The seconds by which earlier runs moved the clock; the market's clock starts with it. */
  readonly clockOffsetSeconds: number;
  /** Between two steps of the chain's mining; simulators alone, the nodes have calls for it. */
  takeBack(chain: string, blocks: number): Promise<void>;
  stop(): Promise<void>;
};

export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 });
  const dir = await realpath(options.dir);
  const lock = await lockFolder(dir, 'devnet');
  if (lock === null) {
    throw new DevnetError(`another running process uses the dev chains in ${dir}`, { dir });
  }
  let chains: readonly DevChain[] = [];
  let mining: Mining | null = null;
  let people: StartedPeople | null = null;
  const stopChains = async () => {
    // A node that hangs must not hold up its own end.
    await Promise.race([mining?.stop(), sleep(miningStopMs, undefined, { ref: false })]);
    const parts = [...chains, ...(people === null ? [] : [people])];
    const stopped = await Promise.allSettled(parts.map((part) => part.stop()));
    await lock.release();
    const failed = stopped.find(({ status }) => status === 'rejected');
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  };
  try {
    const clock = await openClock(join(dir, 'clock.json'));
    const starts = [startChains(options, dir, clock), openPeople(options, dir)] as const;
    const [chainsStarted, peopleStarted] = await Promise.allSettled(starts);
    // First what is to be stopped again, then why.
    if (chainsStarted.status === 'fulfilled') chains = chainsStarted.value;
    if (peopleStarted.status === 'fulfilled') people = peopleStarted.value;
    if (chainsStarted.status === 'rejected') throw chainsStarted.reason;
    if (peopleStarted.status === 'rejected') throw peopleStarted.reason;
    const parts: ControlParts = {
      chains: new Map(chains.map((chain) => [chain.info.chain, { chain, queue: queue() }])),
      clock,
      clockQueue: queue(),
      moveClock: options.moveClock,
      resolveAsset: options.resolveAsset,
      market: options.market ?? (() => null),
      log: options.log,
    };
    mining = mineByThemselves(parts, options.ended);
    const control = await listenForControl(parts, options.controlPort ?? 0);
    let stopping: Promise<void> | null = null;
    return {
      chains: chains.map(({ info }) => info),
      dev: control.url,
      people: people?.facts ?? null,
      clockOffsetSeconds: clock.offsetSeconds(),
      takeBack: async (name, blocks) => {
        const entry = parts.chains.get(name);
        if (entry?.chain.takeBack === undefined) {
          throw new DevnetError(`no block can be taken back on "${name}" here`);
        }
        await entry.queue(async () => entry.chain.takeBack?.(blocks));
      },
      stop: () => {
        stopping ??= control.close().then(stopChains);
        return stopping;
      },
    };
  } catch (error) {
    await stopChains();
    throw error;
  }
}

type StartedPeople = { readonly facts: People; stop(): Promise<void> };

/** Brings a mail server and an identity provider along, which who wants chains is without. */
async function openPeople(options: DevnetOptions, dir: string): Promise<StartedPeople | null> {
  if (options.people !== true) return null;
  const { startPeople } = await import('./people/people.ts');
  return startPeople(dir, options.log);
}

async function startChains(options: DevnetOptions, dir: string, clock: Clock) {
  const evmChains = options.evmChains ?? [{ key: 'evm-dev', chainId: 31_337 }];
  const starts: Promise<DevChain | null>[] = [];
  if (options.bitcoin !== false) starts.push(startBitcoin(options, dir, clock));
  for (const { key, chainId } of evmChains) {
    starts.push(startEvm(key, chainId, dir, clock, options.signal));
  }
  const { log } = options;
  const classPath = process.env.PARLEY_JAVA_TRON;
  if (options.tron !== false && classPath) {
    starts.push(javaTronChain(tronKey, { dir: join(dir, 'java-tron'), classPath, log }));
  } else if (options.tron !== false) {
    const simulator = { dir: join(dir, tronKey), clock, log, solidityLag: tronSolidityLag };
    starts.push(tronChain(tronKey, simulator));
  }
  const validator = process.env.PARLEY_SOLANA_VALIDATOR;
  if (options.solana !== false && validator) {
    starts.push(validatorChain(solanaKey, { dir: join(dir, 'validator'), validator, log }));
  } else if (options.solana !== false) {
    starts.push(solanaChain({ chain: solanaKey, dir: join(dir, solanaKey), clock, log }));
  }
  const results = await Promise.allSettled(starts);
  const started = results.flatMap((result) =>
    result.status === 'fulfilled' && result.value !== null ? [result.value] : [],
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined && !options.signal?.aborted) return started;
  await Promise.all(started.map((chain) => chain.stop()));
  throw failed?.reason ?? new DevnetError('the start of the dev chains was given up');
}

/** Null when Bitcoin is off: the rest runs without it. */
async function startBitcoin(options: DevnetOptions, dir: string, clock: Clock) {
  const named = options.bitcoind ?? process.env.PARLEY_BITCOIND;
  try {
    const bitcoind = await findBitcoind(named, join(dir, 'bitcoind'), options.signal);
    const mockTime = clock.isMoved() ? clock.now() : null;
    const node = await startBitcoind(bitcoind, join(dir, bitcoinKey), mockTime);
    return await stoppedOnError(node.running, () => bitcoinChain(bitcoinKey, node, clock));
  } catch (error) {
    if (options.bitcoin === true || !(error instanceof DevnetError)) throw error;
    options.log.warn(error.facts, `Bitcoin is off: ${error.message}${meanwhile(options)}`);
    // apt's own words are several lines that help few.
    if (error.cause instanceof Error) {
      options.log.info({ reason: error.cause.message }, 'why there is no bitcoind');
    }
    return null;
  }
}

/** A swap is between two chains, and without Bitcoin one may be all there is. */
function meanwhile({ evmChains, tron, solana }: DevnetOptions): string {
  if (tron !== false || solana !== false || (evmChains?.length ?? 1) > 1) return '';
  return '. Until then PARLEY_DEV_EVM_CHAINS=2 gives two EVM chains to swap between';
}

async function startEvm(
  key: string,
  chainId: number,
  dir: string,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<DevChain> {
  const node = await startAnvil(join(dir, key), chainId);
  return stoppedOnError(node.running, () =>
    evmChain(key, chainId, node, clock, () => deployContracts(node, signal)),
  );
}

async function stoppedOnError<T>(running: Running, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    await running.stop();
    throw error;
  }
}

type Mining = { stop(): Promise<void> };

/** One loop for all chains; a chain that does not answer is told once, until it answers again. */
function mineByThemselves(parts: ControlParts, ended: DevnetOptions['ended']): Mining {
  const halt = new AbortController();
  const silent = new Set<string>();
  const step = async (name: string, { chain, queue }: { chain: DevChain; queue: Queue }) => {
    try {
      await queue(() => chain.tick());
      silent.delete(name);
    } catch (cause) {
      if (silent.has(name) || halt.signal.aborted) return;
      silent.add(name);
      parts.log.error({ err: cause, chain: name }, 'a dev chain does not answer');
    }
  };
  const loop = async (name: string, entry: { chain: DevChain; queue: Queue }) => {
    while (!halt.signal.aborted) {
      if (entry.chain.hasEnded?.() === true) return ended?.(name);
      await step(name, entry);
      await sleep(tickMs, undefined, { signal: halt.signal }).catch(() => undefined);
    }
  };
  const loops = [...parts.chains].map(([name, entry]) => loop(name, entry));
  return {
    stop: async () => {
      halt.abort();
      await Promise.all(loops);
    },
  };
}
