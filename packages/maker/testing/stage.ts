// A maker's small world: two assets, one pair of them, its limits, its promises over a balance, and
// a log that nobody reads. Clock, price and switch are the test's.

import { PassThrough } from 'node:stream';
import type { ParleyClient } from '@parley/sdk/client.ts';
import type { AssetConfig, Limits, PairConfig } from '../config/config.ts';
import { createDoubts } from '../doubts.ts';
import type { Deal, Journal } from '../journal.ts';
import { openLog } from '../log.ts';
import { createMetrics, metricsAt } from '../metrics.ts';
import type { Prices } from '../prices/sources.ts';
import { createPromises } from '../promises.ts';
import type { Mode } from '../rules/decide.ts';
import { parsePrice } from '../rules/price.ts';
import { createSettling, type SettlingInput } from '../settling.ts';
import { createTurns } from '../turns.ts';

const asset = (name: string, chain: string, decimals: number): AssetConfig => ({
  name,
  chain,
  token: null,
  decimals,
  reserve: 0n,
  highValueFrom: null,
  paper: null,
  mostOpen: null,
  mostADay: null,
  lean: null,
  sellDownTo: null,
  buyUpTo: null,
});
export const btc = asset('btc', 'bitcoin', 8);
export const sol = asset('sol', 'solana', 9);
export const pair: PairConfig = {
  name: 'btc/sol',
  base: btc,
  quote: sol,
  least: 1n,
  most: 10n ** 9n,
  price: ['p'],
  spreadBps: 100n,
  tiers: [],
  leastSpreadBps: 0n,
  slipBps: 50n,
  gives: ['base', 'quote'],
  levels: [],
};
/** 150 basis points for 0.01 BTC and more, and 50 against buying any for the 10 000 that are held. */
export const pricedPair: PairConfig = {
  ...pair,
  tiers: [{ from: 1_000_000n, spreadBps: 150n }],
  base: { ...btc, lean: { target: 0n, per: 10n ** 12n, bps: 50n, mostBps: 60n } },
};
export const limits: Limits = {
  mostSwaps: 2,
  mostSwapsATaker: 2,
  mostQuotes: 3,
  mostQuotesATaker: 2,
  quoteSeconds: 90,
  leastSettledOfTaker: 0,
  levelSeconds: 60,
  quotesAMinute: 500,
  requestsAMinute: 100,
  balanceSeconds: 30,
  pollMs: 1_000,
  cancelSeconds: 15,
  batchSeconds: 0,
};
const costs = { fund: 0n, claim: 0n, refund: 0n, deposit: 0n, settlesFromAmount: true };

/** `price`: that of a bitcoin in SOL; null: the source has none that is good. */
export type At = { ms: number; price: string | null; mode: Mode };

export type Parts = {
  readonly at: At;
  readonly assets?: readonly AssetConfig[];
  readonly limits?: Limits;
  readonly sols?: bigint;
};

/** The parts that quoting and accepting share. */
export function partsOf({ at, assets = [btc, sol], sols = 10n ** 12n, ...given }: Parts) {
  const deals = new Map<string, Deal>();
  const prices: Prices = {
    of: () => (at.price === null ? null : parsePrice(at.price)),
    all: () => new Map(),
    close: () => undefined,
  };
  const common = {
    prices,
    limits: given.limits ?? limits,
    mode: () => at.mode,
    now: () => at.ms,
  };
  const promises = createPromises({
    ...common,
    assets,
    deals,
    stock: {
      payable: new Map(),
      reserves: new Map(),
      costsOf: () => costs,
      get balances() {
        return new Map([
          ['bitcoin coin', { units: 10n ** 12n, readAtMs: at.ms }],
          ['solana coin', { units: sols, readAtMs: at.ms }],
        ]);
      },
      read: async () => undefined,
    },
  });
  return {
    ...common,
    deals,
    promises,
    turns: createTurns(),
    log: openLog(new PassThrough().resume(), () => 0),
    metrics: metricsAt(createMetrics(), 'one'),
    signal: new AbortController().signal,
  };
}

/** One that was accepted, and is open. */
export const dealOf = (threadId: string, swapId: string, acceptedAt = 0): Deal => ({
  market: 'https://one.example',
  threadId,
  rfqId: 'r',
  takerId: 'u',
  pair: 'btc/sol',
  gives: 'base',
  base: 1n,
  quote: 1n,
  acceptedAt,
  swapId,
  end: null,
  endedAt: null,
});

/** In memory alone. */
const journalOf = (deals: Map<string, Deal>): Journal => ({
  deals,
  keep: async (deal) => void deals.set(deal.threadId, deal),
  close: async () => {},
});

type Settled = Pick<SettlingInput, 'store' | 'now'> &
  Partial<SettlingInput> & { readonly client?: object | null };

/** A desk that settles `deal` alone; `lines` is its log. */
export function settlingOf(deal: Deal, { client = {}, ...given }: Settled) {
  const { deals, promises } = partsOf({ at: { ms: 0, price: null, mode: 'open' } });
  deals.set(deal.threadId, deal);
  promises.dealt(deal, null);
  const out = new PassThrough();
  const lines: string[] = [];
  out.on('data', (line: Buffer) => lines.push(`${line}`));
  const stop = new AbortController();
  const log = openLog(out, () => 0);
  const metrics = createMetrics();
  const own = { client: client as ParleyClient, promises, log, metrics: metricsAt(metrics, 'one') };
  const settling = createSettling({
    marketOf: () => own,
    log,
    signal: stop.signal,
    pollMs: 0,
    batchMs: 0,
    chains: {},
    journal: journalOf(deals),
    doubts: createDoubts({ log, metrics, now: given.now }),
    ...given,
  });
  const end = async () => {
    stop.abort(new Error('enough'));
    await settling.stopped();
  };
  return { ...settling, deals, promises, metrics, lines, end };
}
