// One bitcoind, Core or Knots, on regtest: on loopback, without peers, its state in our folder.
import { createHmac, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DevnetError } from '@parley/host/failure.ts';
import { freePort } from '@parley/host/free-port.ts';
import type { NodeInfo } from './dev-chain.ts';
import type { Bitcoind } from './find-bitcoind.ts';
import { endOrphans, loopback, type Running, startProgram } from './processes.ts';
import { type Rpc, rpcTo } from './rpc.ts';

const readyLimitMs = 60_000;
const mostTries = 3;
const rpcUser = 'parley';

export type BitcoinNode = {
  readonly rpcUrl: string;
  /** Where pages reach it, through a door (bitcoin-door.ts). */
  readonly doorPort: number;
  readonly rpc: Rpc;
  readonly node: NodeInfo;
  readonly running: Running;
};

/** `mockTime` is what its clock starts at, null for the machine's. */
export async function startBitcoind(
  bitcoind: Bitcoind,
  folder: string,
  mockTime: number | null,
): Promise<BitcoinNode> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await endOrphans(dataArgumentOf(folder));
  for (let tries = 1; ; tries += 1) {
    try {
      return await startOnce(bitcoind, folder, mockTime);
    } catch (error) {
      if (!isPortTaken(error) || tries === mostTries) throw error;
    }
  }
}

/** Another program can take a port between the moment it is found free and the node's own start. */
const isPortTaken = (error: unknown) =>
  error instanceof DevnetError && /Unable to start HTTP server/.test(error.message);

const dataArgumentOf = (folder: string) => `-datadir=${folder}`;

async function startOnce(
  bitcoind: Bitcoind,
  folder: string,
  mockTime: number | null,
): Promise<BitcoinNode> {
  const { node } = bitcoind;
  const kept = await readKept(join(folder, 'rpc.json'));
  const port = await freePort(kept.port);
  const doorPort = await freePort(kept.doorPort);
  const keeps = JSON.stringify({ ...kept, port, doorPort });
  await writeFile(join(folder, 'rpc.json'), keeps, { mode: 0o600 });
  const program = {
    name: 'bitcoind',
    file: bitcoind.file,
    args: [
      ...bitcoind.leadingArgs,
      dataArgumentOf(folder),
      ...nodeArguments(node, port, kept.password, mockTime),
    ],
    folder,
  };
  const rpcUrl = `http://${rpcUser}:${kept.password}@${loopback}:${port}`;
  const rpc = rpcTo(rpcUrl);
  const ask = () => rpc<{ chain: string }>('getblockchaininfo');
  const { running, found: info } = await startProgram(program, readyLimitMs, ask);
  if (info.chain !== 'regtest') {
    await running.stop();
    throw new DevnetError(`bitcoind runs ${info.chain}, and only regtest may run here`, info);
  }
  return { rpcUrl, doorPort, rpc, node, running };
}

function nodeArguments(node: NodeInfo, port: number, password: string, mockTime: number | null) {
  const salt = randomBytes(16).toString('hex');
  const proof = createHmac('sha256', salt).update(password).digest('hex');
  return [
    '-regtest',
    '-server=1',
    '-daemon=0',
    '-printtoconsole=0',
    '-listen=0',
    '-connect=0',
    '-dnsseed=0',
    '-discover=0',
    `-rpcbind=${loopback}`,
    `-rpcallowip=${loopback}`,
    `-rpcport=${port}`,
    // The hash, not the password: command lines are public on a machine.
    `-rpcauth=${rpcUser}:${salt}$${proof}`,
    '-rpcworkqueue=256',
    '-rpcthreads=8',
    '-txindex=1',
    '-prune=0',
    '-fallbackfee=0.00002',
    // Real networks relay only standard transactions; a dev chain that takes more would flatter.
    '-acceptnonstdtxn=0',
    '-dbcache=16',
    '-keypool=20',
    '-maxmempool=64',
    ...(node.name === 'Bitcoin Knots' ? ['-corepolicy=1'] : []),
    // Blocks of a clock that was moved ahead would be refused as from the future.
    ...(mockTime === null ? [] : [`-mocktime=${mockTime}`]),
  ];
}

type Kept = { password: string; port?: number; doorPort?: number };

async function readKept(file: string): Promise<Kept> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return { password: randomBytes(24).toString('base64url') };
  return JSON.parse(text);
}
