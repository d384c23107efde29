// Nonces on their way, and what the market's answer leaves of a claim to one.

import assert from 'node:assert/strict';
import test from 'node:test';
import { keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ParleyApiError } from '../../errors.ts';
import { memoryStore } from '../../stores/memory.ts';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import { evmView } from '../../testing/honest.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import { contextOf, type SettleInput } from '../context.ts';
import { marketLimitMs } from '../market.ts';
import type { SetLeg } from '../record.ts';
import { send } from '../send.ts';
import { onItsWayMs, takenNonces } from './nonces.ts';

const owner = privateKeyToAccount(`0x${'01'.repeat(32)}`);
const { chain, chainId } = evmView;
const leg = { chain, family: 'evm', leg: 'a' } as SetLeg;

async function signed(nonce: number, keptAtMs: number, onChain = chainId): Promise<Kept> {
  const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, gas: 21_000n };
  const of = { type: 'eip1559', chainId: onChain, to: owner.address, nonce } as const;
  const raw = await owner.signTransaction({ ...of, ...fees, value: BigInt(keptAtMs) });
  return { raw, txid: keccak256(raw), keptAtMs };
}

function record(id: string, slots: Partial<SwapRecord>): SwapRecord {
  const legs = { a: { chain }, b: { chain: 'bitcoin' } };
  const none = { funding: null, claim: null, refund: null, publicSecret: null };
  return { trade: { party: 'maker' }, swap: { id, legs }, ...none, ...slots } as never;
}

function side(more: Partial<SettleInput> = {}) {
  const sent: string[] = [];
  const adapter = {
    readSigned: async (raw: string) => raw,
    broadcast: async (raw: string) => void sent.push(raw),
  };
  const context = contextOf({
    swapId: 'mine',
    client: null,
    sources: new Map([[chain, { view: evmView, adapter } as never]]),
    wallets: new Map(),
    store: memoryStore(),
    ...more,
  });
  const wallet = { family: 'evm', address: owner.address } as EvmWallet;
  return { context, on: { context, leg, wallet }, sent };
}

test('a nonce is on its way for longer than a market holds what it relays, and no longer', async () => {
  assert.ok(onItsWayMs > marketLimitMs);
  const { context, on } = side();
  const now = Date.now();
  const slack = 5_000;
  const young = await signed(3, now - onItsWayMs + slack);
  const old = await signed(4, now - onItsWayMs - 1);
  const elsewhere = await signed(5, now, chainId + 1);
  await context.store.putSwap(record('young', { funding: young }));
  await context.store.putSwap(record('old', { funding: old }));
  await context.store.putSwap(record('elsewhere', { funding: elsewhere }));
  assert.deepEqual([...(await takenNonces(on))], [3]);
});

for (const isTaken of [true, false]) {
  const then = isTaken ? 'is not sent, where its nonce was given away meanwhile' : 'is sent alone';
  test(`a funding that the market kept for long and refuses ${then}`, async () => {
    const store = memoryStore();
    const broadcast = async () => {
      const later = await signed(3, isTaken ? 11 : 9);
      await store.putSwap(record('other', { claim: null, refund: later }));
      throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'too long' });
    };
    const { context, sent } = side({ store, client: { broadcast } as never });
    const funding = await signed(3, 10);
    if (isTaken) await assert.rejects(send(context, leg, funding), { code: 'refused_by_node' });
    else await send(context, leg, funding);
    assert.deepEqual(sent, isTaken ? [] : [funding.raw]);
  });
}
