// A bitcoind on a signet of our own. Its challenge is OP_TRUE, so a block needs work and nobody's
// signature, and the node makes it by itself. The work is real: two seconds of a core a block. So
// its chain lives on in the user's cache, and the first 120 blocks are made once.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { everydayMiner } from '../../devnet/bitcoin-mining.ts';
import { cacheFolder } from '../../devnet/debian-package.ts';
import { findBitcoind } from '../../devnet/find-bitcoind.ts';
import { endOrphans, startProgram } from '../../devnet/processes.ts';
import { type Rpc, rpcTo } from '../../devnet/rpc.ts';
import { lockFolder } from '../../host/folder-lock.ts';
import { freePort } from '../../host/free-port.ts';

const login = 'parley:signet';
/** Of 50 coins each, spendable a hundred blocks later. */
const ownBlocks = 20;
const maturityBlocks = 100;
/** One in 4.8 million hashes is a block. So many take some seconds: a call has 30. */
const mostTries = 10_000_000;
const readyMs = 60_000;

export type Signet = {
  readonly title: string;
  readonly rpcUrl: string;
  /** Pays an address of so many satoshi, in so many coins, and makes a block. */
  pay(address: string, sats: bigint, coins: number): Promise<void>;
  height(): Promise<number>;
  stop(): Promise<void>;
};

export async function startSignet(work: string, say: (line: string) => void): Promise<Signet> {
  const bitcoind = await findBitcoind(process.env.PARLEY_BITCOIND, work, undefined);
  const folder = join(await cacheFolder(work), 'signet-of-our-own');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(folder, 'signet');
  if (lock === null) throw new Error(`another soak has ${folder}`);
  const data = `-datadir=${folder}`;
  await endOrphans(data);
  const port = await freePort(undefined);
  const rpcUrl = `http://${login}@127.0.0.1:${port}`;
  const rpc = rpcTo(rpcUrl);
  const [user, password] = login.split(':');
  const { running, found } = await startProgram(
    {
      name: 'bitcoind',
      file: bitcoind.file,
      folder,
      args: [
        ...bitcoind.leadingArgs,
        data,
        '-signet',
        '-signetchallenge=51',
        '-server=1',
        '-listen=0',
        '-connect=0',
        '-dnsseed=0',
        '-discover=0',
        '-prune=0',
        `-rpcport=${port}`,
        '-rpcbind=127.0.0.1',
        '-rpcallowip=127.0.0.1',
        '-rpcworkqueue=256',
        `-rpcuser=${user}`,
        `-rpcpassword=${password}`,
        '-fallbackfee=0.00002',
        '-dbcache=16',
      ],
    },
    readyMs,
    () => rpc<{ chain: string }>('getblockchaininfo'),
  );
  const stop = async () => {
    await running.stop();
    await lock.release();
  };
  if (found.chain !== 'signet') {
    await stop();
    throw new Error(`bitcoind runs ${found.chain}, not signet`);
  }
  const wallet = await openWallet(rpc, rpcUrl);
  await makeFirstCoins(rpc, wallet, say);
  const { name, version } = bitcoind.node;
  const mining = keepMining(rpc);
  return {
    title: `${name} ${version}, a signet of our own`,
    rpcUrl,
    height: () => rpc<number>('getblockcount'),
    pay: async (address, sats, coins) => {
      const each = Number(sats / BigInt(coins)) / 1e8;
      for (let n = 0; n < coins; n += 1) await wallet('sendtoaddress', [address, each.toFixed(8)]);
      await mining.untilMined();
    },
    stop: async () => {
      await mining.stop();
      await stop();
    },
  };
}

async function make(rpc: Rpc, address: string | null = null): Promise<void> {
  const method = address === null ? 'generatetodescriptor' : 'generatetoaddress';
  for (let made: readonly string[] = []; made.length === 0; ) {
    made = await rpc<readonly string[]>(method, [1, address ?? everydayMiner, mostTries]);
  }
}

async function openWallet(rpc: Rpc, rpcUrl: string): Promise<Rpc> {
  const { wallets } = await rpc<{ wallets: readonly { name: string }[] }>('listwalletdir');
  if (wallets.some(({ name }) => name === 'own')) await rpc('loadwallet', ['own']);
  else await rpc('createwallet', ['own']);
  return rpcTo(`${rpcUrl}/wallet/own`);
}

async function makeFirstCoins(rpc: Rpc, wallet: Rpc, say: (line: string) => void) {
  const wanted = ownBlocks + maturityBlocks;
  const address = await wallet<string>('getnewaddress', ['', 'bech32']);
  for (let at = await rpc<number>('getblockcount'); at < wanted; at += 1) {
    if (at % 20 === 0) say(`signet: block ${at} of the first ${wanted}`);
    await make(rpc, at < ownBlocks ? address : null);
  }
  // A node that starts thinks itself far behind until it sees a block of today.
  await make(rpc);
}

/** A block whenever something waits for one or for depth, and one now and then. */
function keepMining(rpc: Rpc) {
  const idleMs = 30_000;
  const depth = 7;
  let isOver = false;
  let due = depth;
  let last = 0;
  const step = async () => {
    const { size } = await rpc<{ size: number }>('getmempoolinfo');
    if (size > 0) due = depth;
    if (due === 0 && performance.now() - last < idleMs) return;
    await make(rpc);
    due = Math.max(0, due - 1);
    last = performance.now();
  };
  const loop = (async () => {
    while (!isOver) {
      // A node that is busy for longer than a call may take is asked again.
      await step().catch(() => undefined);
      await sleep(1_000);
    }
  })();
  return {
    untilMined: async () => {
      while ((await rpc<{ size: number }>('getmempoolinfo')).size > 0) await sleep(500);
    },
    stop: async () => {
      isOver = true;
      await loop;
    },
  };
}
