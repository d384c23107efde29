// Taking blocks back on real nodes, and nodes beside them: invalidateblock on bitcoind, a fork of
// anvil; and a second version of a payment.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { createBase58check } from '@scure/base';
import { type Rpc, rpcTo } from '../../devnet/rpc.ts';
import { freePort } from '../../host/free-port.ts';
import type { Customer } from '../support/customers.ts';
import { until } from '../support/deals.ts';
import { portOf, type Stage } from '../support/stage.ts';

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
  const key = base58check.encode(Uint8Array.of(0xef, ...hexToBytes(by.keys.bitcoin), 0x01));
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

/** The port of an anvil that shares the chain so far and goes on by itself. */
export async function forkedAnvil(stage: Stage): Promise<number> {
  const height = await evmRpc(stage)<string>('eth_blockNumber');
  const port = await freePort();
  const { rpcUrl, chainId } = stage.place.evm;
  const args = ['--fork-url', rpcUrl, '--fork-block-number', String(Number(height))];
  const own = ['--port', String(port), '--quiet', '--chain-id', String(chainId)];
  const child = spawn('anvil', [...args, ...own], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  stage.undo(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const rpc = rpcTo(`http://127.0.0.1:${port}`);
  await until('the fork answers', () => rpc('eth_blockNumber'));
  // Another time than the first node's makes other blocks.
  await rpc('anvil_mine', ['0x14', '0x3']);
  return port;
}
