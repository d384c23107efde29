// Several swaps of one key funded at once, on a real anvil and the TRON dev chain: in one
// transaction that each of them keeps first, and without those that fail.

import assert from 'node:assert/strict';
import { decodeFunctionData, type Hex, parseEther } from 'viem';
import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { LegName } from '@parley/core/trade.ts';
import { type SettleInput, settle } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Store } from '../stores/store.ts';
import type { Coin } from '../testing/four-chains.ts';
import { evmKey, onChains, recordOf, running, sideOf, withAdapter } from '../testing/sides.ts';
import { timed } from '../testing/timed.ts';
import { type FundedTogether, fundingsTogether } from './fund-together.ts';

const on = onChains(async ({ anvil, chains }) => {
  const { address } = chains.walletsOf.taker.evm;
  await anvil.call('anvil_setBalance', [address, `0x${parseEther('100').toString(16)}`]);
});

type Many = {
  readonly sides: readonly SettleInput[];
  readonly store: Store;
  /** The batches that were sent. */
  readonly batches: FundedTogether[];
};

/** Takers of as many swaps, with one store, who fund first. */
async function takers(
  count: number,
  coins: Record<LegName, Coin> = { a: 'SOL', b: 'ETH' },
  store: Store = memoryStore(),
): Promise<Many> {
  const batches: FundedTogether[] = [];
  const fundsTogether = fundingsTogether({ withinMs: 1_500, onSent: (each) => batches.push(each) });
  const sides: SettleInput[] = [];
  for (let at = 0; at < count; at += 1) {
    sides.push(await sideOf(on.chains.swap(coins), 'taker', { store, fundsTogether }));
  }
  return { sides, store, batches };
}

/** Runs them until each has funded. */
async function funded(sides: readonly SettleInput[]): Promise<string[]> {
  const stop = new AbortController();
  const runs = sides.map((side) => running({ ...side, signal: stop.signal }));
  const told = await Promise.all(runs.map(({ next }) => next('funded')));
  const said = await Promise.all(runs.map(({ next }) => next('seen')));
  assert.ok(said.every(({ txid }, at) => txid === told[at]?.txid));
  stop.abort(new Error('enough'));
  await Promise.allSettled(runs.map(({ end }) => end));
  return told.map(({ txid }) => txid ?? '');
}

const countOf = () => on.anvil.countOf(on.chains.walletsOf.taker.evm.address);
const idsOf = (sides: readonly SettleInput[]) => sides.map(({ swapId }) => swapId).toSorted();

async function gasOf(txid: string): Promise<number> {
  const receipt = await on.anvil.call<{ gasUsed: string; status: string }>(
    'eth_getTransactionReceipt',
    [txid],
  );
  assert.equal(receipt.status, '0x1');
  return Number(receipt.gasUsed);
}

timed('ten are funded by one transaction, which each keeps, for less gas than alone', async () => {
  const single = await takers(1);
  const [alone = ''] = await funded(single.sides);
  assert.deepEqual(single.batches, []);
  const many = await takers(10);
  const before = await countOf();
  const txids = await funded(many.sides);
  assert.equal((await countOf()) - before, 1);
  assert.equal(new Set(txids).size, 1);
  assert.deepEqual(many.batches.map(({ swapIds }) => swapIds.toSorted()), [idsOf(many.sides)]);
  for (const side of many.sides) {
    const { funding, owedBy } = await recordOf(side);
    assert.deepEqual(funding?.batch?.toSorted(), idsOf(many.sides));
    assert.ok(owedBy);
  }
  const { txid = '' } = many.batches[0] ?? {};
  const saved = (await gasOf(alone)) * 10 - (await gasOf(txid));
  assert.ok(saved > 9 * 21_000, `ten at once save ${saved} gas`);
});
