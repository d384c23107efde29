// Taking blocks back on real nodes: invalidateblock on bitcoind, rollback on anvil; and what a
// second version of a payment takes.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { createBase58check } from '@scure/base';
import { startBitcoind } from '../../devnet/bitcoind.ts';
import { findBitcoind } from '../../devnet/find-bitcoind.ts';
import { freePort } from '../../devnet/processes.ts';
import { type Rpc, rpcTo } from '../../devnet/rpc.ts';
import { until } from './deals.ts';
import type { Customer } from './people.ts';
import { portOf, type Stage } from './stage.ts';

export function bitcoinRpc({ place }: Stage): Rpc {
  return rpcTo(place.bitcoin.rpcUrl);
}

export function evmRpc({ place }: Stage): Rpc {
  return rpcTo(place.evm.rpcUrl);
}

/** Forgets the last blocks; what was in them is in the mempool again. */
export async function invalidate(rpc: Rpc, blocks: number): Promise<void> {
  const height = await rpc<number>('getblockcount');
  await rpc('invalidateblock', [await rpc('getblockhash', [height - blocks + 1])]);
}

/** Blocks with these transactions in the first of them, and nothing else. */
export async function otherBlocks(
  rpc: Rpc,
  blocks: number,
  transactions: readonly string[] = [],
): Promise<void> {
  for (let at = 0; at < blocks; at += 1) {
    // Never a block that was refused before: each pays a script of its own.
    const to = `raw(51${'20'}${randomBytes(32).toString('hex')})`;
    const { descriptor } = await rpc<{ descriptor: string }>('getdescriptorinfo', [to]);
    await rpc('generateblock', [descriptor, at === 0 ? transactions : []]);
  }
}

const base58check = createBase58check(sha256);

/** The same coins, paid back to their owner at a higher fee: signed, not sent. */
export async function doubleSpend(rpc: Rpc, txid: string, by: Customer): Promise<string> {
  type Out = { value: number; n: number; scriptPubKey: { hex: string } };
  type Decoded = { vin: { txid: string; vout: number }[]; vout: Out[] };
  const paid = await rpc<Decoded>('getrawtransaction', [txid, 1]);
  const inputs = paid.vin.map(({ txid: from, vout }) => ({ txid: from, vout }));
  // They are spent by now, so that the node does not know them as coins any more.
  const coins = await Promise.all(
    inputs.map(async (input) => {
      const { vout } = await rpc<Decoded>('getrawtransaction', [input.txid, 1]);
      const out = vout.find(({ n }) => n === input.vout);
      return { ...input, scriptPubKey: out?.scriptPubKey.hex, amount: out?.value };
    }),
  );
  const total = paid.vout.reduce((sum, { value }) => sum + Math.round(value * 1e8), 0) - 20_000;
  const to = [{ [by.bitcoin.address]: (total / 1e8).toFixed(8) }];
  const raw = await rpc<string>('createrawtransaction', [inputs, to]);
  const key = base58check.encode(Uint8Array.of(0xef, ...hexToBytes(by.bitcoinKey), 0x01));
  const { hex } = await rpc<{ hex: string }>('signrawtransactionwithkey', [raw, [key], coins]);
  return hex;
}

/** The node ends and starts again as it did, without what its mempool held. */
export async function restartBitcoind(stage: Stage): Promise<void> {
  const rpc = bitcoinRpc(stage);
  const pid = await pidOf(portOf(stage.place.bitcoin.rpcUrl));
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').filter(Boolean);
  await rpc('stop');
  await until('the node has ended', async () => !(await isThere(pid)));
  const [file = '', ...args] = command;
  const child = spawn(file, [...args, '-persistmempool=0', `-mocktime=${stage.now()}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  stage.undo(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await until('the node answers', () => rpc('getblockcount'));
  // Loaded at every start, as it was created.
  await until('the faucet is there', async () => (await rpc<string[]>('listwallets')).length > 0);
}

async function pidOf(port: number): Promise<number> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (line.includes('bitcoind') && line.includes(`-rpcport=${port}\0`)) return Number(name);
  }
  throw new Error(`no bitcoind serves port ${port}`);
}

async function isThere(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) !== '';
}

export type SecondNode = {
  readonly port: number;
  /** Up to the first node's chain. */
  follow(): Promise<void>;
  /** Until it is stopped. */
  followOn(): Promise<void>;
  stop(): Promise<void>;
};

/** A second node with the same credentials and the chain so far, which goes on when told to. */
export async function secondBitcoind(stage: Stage): Promise<SecondNode> {
  const first = bitcoinRpc(stage);
  const folder = await mkdtemp(join(tmpdir(), 'parley-second-'));
  const { password } = new URL(stage.place.bitcoin.rpcUrl);
  await writeFile(join(folder, 'rpc.json'), JSON.stringify({ password }));
  const program = await findBitcoind(process.env.PARLEY_BITCOIND, folder, undefined);
  const node = await startBitcoind(program, folder, stage.now());
  const state = { stopped: false };
  const follow = async () => {
    await node.rpc('setmocktime', [stage.now() + 7_200]);
    const height = await first<number>('getblockcount');
    for (let at = (await node.rpc<number>('getblockcount')) + 1; at <= height; at += 1) {
      const block = await first('getblock', [await first('getblockhash', [at]), 0]);
      await node.rpc('submitblock', [block]);
    }
  };
  await follow();
  const followOn = async () => {
    while (!state.stopped) {
      await follow();
      await sleep(100);
    }
  };
  let following: Promise<void> = Promise.resolve();
  return {
    port: portOf(node.rpcUrl),
    follow,
    followOn: async () => {
      following = followOn();
    },
    stop: async () => {
      state.stopped = true;
      await following.catch(() => {});
      await node.running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An anvil that shares the chain so far and goes on by itself; `mines` off: it stands still. */
export async function forkedAnvil(
  stage: Stage,
  mines = true,
): Promise<{ readonly port: number; readonly height: number; stop(): Promise<void> }> {
  const height = Number(await evmRpc(stage)<string>('eth_blockNumber'));
  const port = await freePort();
  const args = ['--fork-url', stage.place.evm.rpcUrl, '--fork-block-number', String(height)];
  const own = ['--port', String(port), '--quiet', '--chain-id', String(stage.place.evm.chainId)];
  const child = spawn('anvil', [...args, ...own], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  stage.undo(stop);
  const rpc = rpcTo(`http://127.0.0.1:${port}`);
  await until('the fork answers', () => rpc('eth_blockNumber'));
  // Another time than the first node's makes other blocks.
  if (mines) await rpc('anvil_mine', ['0x14', '0x3']);
  return { port, height, stop };
}

/** In a block by the node's own word, and looked at by the market since. */
export async function isMined(stage: Stage, txid: string): Promise<void> {
  const rpc = bitcoinRpc(stage);
  await until('it is in a block', async () => {
    const { confirmations = 0 } = await rpc<{ confirmations?: number }>('getrawtransaction', [
      txid,
      1,
    ]);
    return confirmations > 0;
  });
  await sleep(1_500);
}
