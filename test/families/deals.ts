// Deals between traders of TRON and Solana over HTTP: agreed, watched, and what is built signed by
// the wallets' own libraries and sent.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TronWeb } from 'tronweb';
import type { SolanaMaterial, TronMaterial } from '../../chains/interface/material.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import type { Place, Trader } from './people.ts';

export type Coin = readonly ['tron' | 'solana', 'native' | 'token'];
/** What is traded of each, in base units. */
export const units: Readonly<Record<'tron' | 'solana', bigint>> = {
  tron: 50_000_000n,
  solana: 2_000_000_000n,
};

export function assetOf(place: Place, [family, kind]: Coin): Promise<string> {
  const { chain, tokens = [] } = place[family];
  return place.assetOf(chain, kind === 'native' ? null : (tokens[0]?.address ?? ''));
}

export type Deal = { readonly swapId: string; readonly secret: string };

/** The taker gives `b` and is the initiator; the maker gives `a`. */
export async function agree(
  place: Place,
  taker: Trader,
  maker: Trader,
  b: Coin,
  a: Coin,
): Promise<Deal> {
  const rfq = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: await assetOf(place, b),
    baseAmount: units[b[0]].toString(),
    quoteAssetId: await assetOf(place, a),
    ttlSeconds: 600,
  });
  const price = units[a[0]].toString();
  const thread = await maker.client.quote(rfq.id, price);
  assert.equal(thread.initiator, 'taker');
  const secret = randomBytes(32).toString('hex');
  await taker.client.accept(thread.id, { quoteAmount: price, hashlock: hashlockOf(secret) });
  const { swap } = await maker.client.accept(thread.id, { quoteAmount: price });
  assert.ok(swap);
  for (const [trader, coin] of [
    [taker, a],
    [taker, b],
    [maker, a],
    [maker, b],
  ] as const) {
    const { address } = trader[coin[0]];
    const { chain } = place[coin[0]];
    await trader.client.setAddress(swap.id, { chain, address });
  }
  return { swapId: swap.id, secret };
}

export async function reaches(trader: Trader, { swapId }: Deal, status: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const swap = await trader.client.swap(swapId);
    if (swap.status === status) return;
    await sleep(300);
  }
  assert.equal((await trader.client.swap(swapId)).status, status);
}

/** Each at its own chain's depth. */
export async function bothLegs(trader: Trader, { swapId }: Deal, status: string) {
  for (let tries = 0; ; tries += 1) {
    const swap = await trader.client.swap(swapId);
    const { a, b } = swap.legs;
    if (a.status === status && b.status === status) return swap;
    assert.ok(tries < 100, `the legs are ${a.status} and ${b.status}, not ${status}`);
    await sleep(300);
  }
}

/** Signs each transaction and sends it; on TRON the next one when the one before has succeeded. */
export async function sendAll(
  place: Place,
  trader: Trader,
  material: TronMaterial | SolanaMaterial,
): Promise<void> {
  if (material.sign === 'solana-tx') {
    await trader.client.broadcast('solana', await trader.signSolana(material));
    return;
  }
  const node = new TronWeb({ fullHost: place.tron.rpcUrl });
  for (const at of material.transactions.keys()) {
    const signed = await trader.signTron(material, at);
    assert.ok('visible' in signed && 'raw_data' in signed, 'as wallets give it, nothing left out');
    const { txid } = await trader.client.broadcast(at === 0 ? 'tron' : place.tron.chain, signed);
    await included(node, txid);
  }
}

/** A block has it, and it succeeded. */
async function included(node: TronWeb, txid: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const info = await node.trx.getUnconfirmedTransactionInfo(txid);
    if ('id' in info) {
      assert.equal(info.receipt.result ?? 'SUCCESS', 'SUCCESS');
      return;
    }
    assert.ok(tries < 100, `${txid} is in no block`);
    await sleep(100);
  }
}

export const asMaterial = (built: unknown) =>
  built as (TronMaterial | SolanaMaterial) & { validUntil: number };
