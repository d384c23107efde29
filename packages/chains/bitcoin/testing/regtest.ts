// A real bitcoind on regtest for tests: a wallet with coins, blocks on demand, a clock that moves.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBitcoind } from '@parley/dev/devnet/bitcoind.ts';
import { findBitcoind } from '@parley/dev/devnet/find-bitcoind.ts';
import { type Calls, type Rpc, rpcBatchTo, rpcTo } from '@parley/dev/devnet/rpc.ts';

export type Regtest = {
  readonly rpcUrl: string;
  readonly rpc: Rpc;
  readonly wallet: Rpc;
  /** Blocks a second apart, which no wallet has to look at. */
  mine(blocks: number): Promise<string[]>;
  /** Pays from the wallet; `feeRate` in sat per vbyte. */
  pay(address: string, sats: bigint, feeRate?: number): Promise<string>;
  /** Sets the node's clock and mines until the median time past is `time` or more. */
  moveMedianTo(time: number): Promise<void>;
  medianTime(): Promise<number>;
  /** The clock that the node has, Unix seconds: give it to the adapter. */
  now(): number;
  /** Moves that clock, no blocks. */
  moveClock(seconds: number): Promise<void>;
  rawTransaction(txid: string): Promise<string>;
  stop(): Promise<void>;
};

/** OP_TRUE. Two blocks are never the same: each has a time of its own. */
const anyone = 'raw(51)#8lvh9jxk';

export function coins(sats: bigint): string {
  return `${sats / 100_000_000n}.${(sats % 100_000_000n).toString().padStart(8, '0')}`;
}

export async function startRegtest(): Promise<Regtest> {
  const spare = join(tmpdir(), 'parley-bitcoind');
  const limit = AbortSignal.timeout(120_000);
  const bitcoind = await findBitcoind(process.env.PARLEY_BITCOIND, spare, limit);
  const folder = await mkdtemp(join(tmpdir(), 'parley-bitcoin-test-'));
  const node = await startBitcoind(bitcoind, folder, null);
  const { rpc } = node;
  await rpc('createwallet', ['test', false, false, '', false, true, true]);
  const wallet = rpcTo(`${node.rpcUrl}/wallet/test`);
  const batch = rpcBatchTo(node.rpcUrl);
  let clock = Math.floor(Date.now() / 1_000) - 7_200;
  const setClock = async (time: number) => {
    clock = time;
    await rpc('setmocktime', [time]);
  };
  const mine = async (blocks: number): Promise<string[]> => {
    // A second apart, so that the median time past moves on as on a real chain.
    const calls = Array.from(
      { length: blocks },
      (_, at): Calls => [
        ['setmocktime', [clock + at + 1]],
        ['generatetodescriptor', [1, anyone]],
      ],
    );
    clock += blocks;
    const answers = await batch<(string[] | null)[]>(calls.flat());
    return answers.flatMap((hashes) => hashes ?? []);
  };
  await setClock(clock);
  await rpc('generatetoaddress', [101, await wallet('getnewaddress', ['miner', 'bech32'])]);
  await setClock(clock + 200);
  await mine(11);
  const medianTime = async () =>
    (await rpc<{ mediantime: number }>('getblockchaininfo')).mediantime;
  return {
    rpcUrl: node.rpcUrl,
    rpc,
    wallet,
    mine,
    pay: (address, sats, feeRate = 2) =>
      wallet<string>('sendtoaddress', [
        address,
        coins(sats),
        '',
        '',
        false,
        true,
        null,
        'unset',
        null,
        feeRate,
      ]),
    moveMedianTo: async (time) => {
      while ((await medianTime()) < time) {
        await setClock(Math.max(clock, time));
        await rpc('generatetodescriptor', [1, anyone]);
      }
    },
    medianTime,
    now: () => clock,
    moveClock: (seconds) => setClock(clock + seconds),
    rawTransaction: (txid) => rpc<string>('getrawtransaction', [txid]),
    stop: async () => {
      await node.running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Hands every block of one node to another, whose own chain is shorter. */
export async function copyBlocks(from: Regtest, to: Regtest): Promise<void> {
  const read = rpcBatchTo(from.rpcUrl);
  const top = await from.rpc<number>('getblockcount');
  const heights = Array.from({ length: top }, (_, at) => at + 1);
  const hashes = await read<string[]>(heights.map((height) => ['getblockhash', [height]]));
  const blocks = await read<string[]>(hashes.map((hash) => ['getblock', [hash, 0]]));
  await rpcBatchTo(to.rpcUrl)(blocks.map((block) => ['submitblock', [block]]));
}
