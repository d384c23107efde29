// A market for the rules of wallets: the real application and the real adapters of Bitcoin and EVM,
// whose nodes show nothing yet, and swaps agreed over HTTP between accounts that signed in with
// wallets of their own.

import { randomBytes } from 'node:crypto';
import { nothingSeen } from '@parley/core/facts.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { Asset } from '../../db/assets.ts';
import { seedAssets } from '../../market/assets.ts';
import type { Settings } from '../../settings/config.ts';
import { nodelessAdapters } from '../../settle/testing/rows.ts';
import { type Answer, startEdge, type TestEdge } from './edge.ts';

export const bitcoin = 'bitcoin';
export const evm = 'evm-dev';

export type Exchange = {
  readonly edge: TestEdge;
  readonly btc: Asset;
  readonly eth: Asset;
};

export async function startExchange(settings: Partial<Settings> = {}): Promise<Exchange> {
  const adapters = nodelessAdapters().map((each) => ({
    ...each,
    checkAmount: async () => {},
    preflight: async () => {},
    readEscrow: async () => nothingSeen,
  }));
  const served = new Map(adapters.map((each) => [each.chain, each]));
  const edge = await startEdge({ adapters: served, settings });
  const [btc, eth] = await seedAssets(edge.deps.db, edge.deps, [
    { chain: bitcoin, symbol: 'BTC', address: null, decimals: 8 },
    { chain: evm, symbol: 'ETH', address: null, decimals: 18 },
  ]);
  return { edge, btc: btc as Asset, eth: eth as Asset };
}

/** The amount of an RFQ or quote in this asset. */
const amountOf = (asset: Asset) => (asset.symbol === 'BTC' ? '1000000' : '100000000000000000');

/** Asks to give `base` for `quote`, or the other way round. */
export function ask(
  { edge, btc, eth }: Exchange,
  key: string,
  direction: 'sell_base' | 'buy_base',
  base: 'BTC' | 'ETH' = 'BTC',
): Promise<Answer> {
  const [given, taken] = base === 'BTC' ? [btc, eth] : [eth, btc];
  const body = {
    direction,
    baseAssetId: given.id,
    baseAmount: amountOf(given),
    quoteAssetId: taken.id,
    ttlSeconds: 600,
  };
  return edge.call('POST', '/v1/rfqs', { key, body });
}

export function quote(
  { edge, btc, eth }: Exchange,
  key: string,
  rfq: { id: string; quoteAssetId: string },
): Promise<Answer> {
  const quoteAmount = amountOf(rfq.quoteAssetId === btc.id ? btc : eth);
  return edge.call('POST', `/v1/rfqs/${rfq.id}/quotes`, { key, body: { quoteAmount } });
}

/** A swap in which `giver` gives bitcoin and `other` native coins; its id. */
export async function agree(exchange: Exchange, giver: string, other: string): Promise<string> {
  const { call } = exchange.edge;
  const { rfq } = must(await ask(exchange, giver, 'sell_base'));
  const { thread } = must(await quote(exchange, other, rfq));
  const { quoteAmount } = thread;
  const hashlock = hashlockOf(randomBytes(32).toString('hex'));
  const url = `/v1/threads/${thread.id}/accept`;
  must(await call('POST', url, { key: giver, body: { quoteAmount, hashlock } }));
  const { swap } = must(await call('POST', url, { key: other, body: { quoteAmount } }));
  return swap.id;
}

export function setAddress(
  { edge }: Exchange,
  key: string,
  swapId: string,
  body: { chain: string; address: string; keySignature?: string },
): Promise<Answer> {
  return edge.call('POST', `/v1/swaps/${swapId}/address`, { key, body });
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
export function must({ status, body }: Answer): any {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}
