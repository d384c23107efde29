// The maker's knowledge of its wallets: balances and fees, read again and again by its own nodes.

import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import { standingOf } from '@parley/sdk/balance.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { OwnChains } from './chains.ts';
import type { AssetConfig } from './config/config.ts';
import type { Doubts } from './doubts.ts';
import type { Log } from './log.ts';
import type { AssetRule } from './rules/decide.ts';
import {
  type Balance,
  balanceGoodMs,
  type Costs,
  type Holding,
  holdingOf,
  swapsPayable,
} from './rules/inventory.ts';

const readMs = 60_000;

export type Stock = ReturnType<typeof createStock>;

export type StockInput = {
  readonly chains: OwnChains;
  readonly assets: readonly AssetConfig[];
  readonly log: Log;
  readonly doubts: Pick<Doubts, 'read'>;
  readonly now: () => Millis;
  readonly signal: AbortSignal;
  /** Below so many swaps the log warns, by chain. */
  readonly warnBelow: ReadonlyMap<string, number>;
};

type Wanted = Pick<AssetRule, 'chain' | 'token'> & { readonly decimals: number | null };

export function createStock(input: StockInput) {
  const { chains, assets, log, doubts, now, signal, warnBelow } = input;
  const balances = new Map<Holding, Balance>();
  const costs = new Map<Holding, Costs & { readonly atMs: Millis }>();
  const payable = new Map<string, number>();
  const faults = new Map<string, string>();
  const poor = new Set<string>();
  /** Each chain's own coin too, which pays for all. */
  const wanted = new Map<Holding, Wanted>();
  const coins = Object.keys(chains).map((chain) => ({ chain, token: null, decimals: null }));
  for (const { chain, token, decimals } of [...coins, ...assets]) {
    wanted.set(holdingOf({ chain, token }), { chain, token, decimals });
  }
  /** Tokens whose own decimals are as pinned. */
  const counted = new Set<Holding>();
  const reserves = new Map<Holding, BaseUnits>(
    assets.map((each) => [holdingOf(each), each.reserve]),
  );

  /** One decimal too many is a tenth of the price. */
  const mustCount = async (holding: Holding, asset: Wanted, limit: AbortSignal) => {
    const { chain, token, decimals } = asset;
    if (token === null || counted.has(holding)) return;
    const own = await chains[chain]?.source.adapter.decimals?.(token, limit);
    if (own !== decimals) {
      throw new Error(`the token says that it has ${own} decimals, the settings say ${decimals}`);
    }
    counted.add(holding);
  };

  const readOne = async (holding: Holding, asset: Wanted) => {
    const { chain, token } = asset;
    const own = chains[chain];
    if (own === undefined) return;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(readMs)]);
    const readAtMs = now();
    try {
      await mustCount(holding, asset, limit);
      const held = await standingOf(own, { token }, limit);
      if (held === null) throw new Error(`the wallet on ${chain} does not say what it has`);
      balances.set(holding, { units: held.spendable, owned: held.confirmed, readAtMs });
      const known = await own.source.adapter.costs?.(token, limit);
      if (known === undefined) throw new Error(`the fees of ${chain} cannot be read`);
      const { fund, claim, refund, deposit, settlesFromAmount } = known;
      costs.set(holding, {
        fund: fund.most,
        claim: claim.most,
        refund: refund.most,
        settlesFromAmount,
        deposit: deposit?.locked ?? 0n,
        atMs: now(),
      });
      faults.delete(holding);
      doubts.read(holding, chain, null);
    } catch (error) {
      if (signal.aborted) return;
      doubts.read(holding, chain, error);
      const sentence = messageOf(error);
      if (faults.get(holding) !== sentence)
        log.warn('balance_unread', { holding, error: sentence });
      faults.set(holding, sentence);
    }
  };

  /** Too little gas is told once, and once more when it is enough again. */
  const lookAtGas = () => {
    for (const chain of Object.keys(chains)) {
      const coin = holdingOf({ chain, token: null });
      const held = balances.get(coin);
      const dearest = [...wanted]
        .filter(([, each]) => each.chain === chain)
        .flatMap(([holding]) => costs.get(holding) ?? [])
        .reduce<Costs | null>((most, each) => (most && most.fund >= each.fund ? most : each), null);
      if (held === undefined || dearest === null) continue;
      const swaps = swapsPayable(held.units, dearest);
      payable.set(chain, swaps);
      const least = warnBelow.get(chain) ?? 0;
      if (swaps < least && !poor.has(chain)) {
        poor.add(chain);
        log.warn('gas_low', { chain, address: chains[chain]?.wallet.address, swaps, least });
      } else if (swaps >= least && poor.delete(chain)) log.info('gas_enough', { chain, swaps });
    }
  };

  return {
    balances: balances as ReadonlyMap<Holding, Balance>,
    reserves: reserves as ReadonlyMap<Holding, BaseUnits>,
    payable: payable as ReadonlyMap<string, number>,
    /** null where none is known that is new enough. */
    costsOf: ({ chain, token }: AssetRule): Costs | null => {
      const found = costs.get(holdingOf({ chain, token }));
      return found === undefined || now() - found.atMs > balanceGoodMs ? null : found;
    },
    /** All at once; one that cannot be read is told, and keeps what was read last. */
    read: async (): Promise<void> => {
      await Promise.all([...wanted].map(([holding, asset]) => readOne(holding, asset)));
      lookAtGas();
    },
  };
}
