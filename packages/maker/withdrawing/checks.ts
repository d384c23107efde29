// The checks before a payment is signed: of nodes that agree, of the balances of this moment, and of
// promises. A chain, a wallet and promises are given.

import { setTimeout as wait } from 'node:timers/promises';
import { factsOf, has } from '@parley/core/families.ts';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import { nodesOf } from '@parley/sdk/chains.ts';
import { onItsWayMs } from '@parley/sdk/settle/hands/nonces.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import { Failure, needsYou } from '@parley/trader/failures.ts';
import type { SpendSearch } from '@parley/trader/paying/spent.ts';
import type { PinnedOn } from '@parley/trader/sources.ts';
import type { OwnChain, OwnChains } from '../chains.ts';
import type { ChainConfig, Config } from '../config/config.ts';
import type { Deal } from '../journal.ts';
import type { Log } from '../log.ts';
import { type Commitment, type Costs, holdingOf, takenOf } from '../rules/inventory.ts';
import type { Stock } from '../stock.ts';
import type { Known } from './rules.ts';
import type { Withdrawal } from './withdrawal.ts';

/** A Core node scans all outputs for the coins of a payment. */
export const coinsLimitMs = 180_000;

export type WithdrawalsInput = {
  readonly config: Pick<Config, 'store' | 'assets' | 'addresses' | 'chains'>;
  readonly chains: OwnChains;
  readonly store: Pick<Store, 'getSwap' | 'swapIds'>;
  /** Those that are open have coins of the wallet in their fundings. */
  readonly deals: ReadonlyMap<string, Deal>;
  readonly stock: Stock;
  readonly promises: {
    commitments(): readonly Commitment[];
    /** In the place of the same one as it was before. */
    withdrawing(of: Commitment): void;
    withdrawn(id: string): void;
  };
  readonly log: Log;
  /** The maker's clock, by which balances are read. */
  readonly now: () => Millis;
  readonly signal: AbortSignal;
  /** Why nothing new is paid, whatever is promised; null: it may be. */
  readonly closedWhy: string | null;
  /** Before nodes that differ are asked again; default 1.5 s. */
  readonly agreePauseMs?: Millis;
  /** Finds the spender of the coins of a payment of Bitcoin; default by the chain's nodes. */
  readonly searchOn?: (of: PinnedOn<'bitcoin'>) => SpendSearch;
};

export type Own = OwnChain & { readonly of: ChainConfig };

/** Nodes may be a block apart for a moment. */
const agreeTries = 3;
const agreePauseMs = 1_500;

/** Its costs are read by chain and token alone. */
export function ruleOf({
  chain,
  token,
  decimals,
}: Pick<Withdrawal, 'chain' | 'token' | 'decimals'>) {
  const unbounded = { mostOpen: null, mostADay: null, lean: null, sellDownTo: null, buyUpTo: null };
  return { name: '', chain, token, decimals, ...unbounded };
}

/** A nonce may be on its way that an earlier process has signed with, and nobody has seen. */
export async function isTooSoon({ store }: WithdrawalsInput, own: Own, startedMs: Millis) {
  if (!has(own.source.view, 'nonces') || Date.now() - startedMs > onItsWayMs) return false;
  return (await store.swapIds(startedMs - onItsWayMs)).length > 0;
}

/** The facts by balances of this moment, and by promises of later ones. Throws why not. */
export async function mustBeGood(
  input: WithdrawalsInput,
  own: Own,
  asked: Withdrawal,
  limit: () => AbortSignal,
): Promise<() => Known> {
  const { config, stock } = input;
  const named = config.addresses.get(asked.name)?.[asked.chain];
  const to = named === undefined ? null : own.source.adapter.parseAddress(named);
  if (to !== asked.to) {
    const sentence = `[addresses.${asked.name}] of the maker that runs has ${to ?? 'no address'} on ${asked.chain}`;
    throw needsYou('other_settings', `${sentence}: start it again with the settings of now`);
  }
  await own.source.adapter.checkAmount(asked.token, asked.amount, limit());
  await mustAgree(own, asked, limit, input.agreePauseMs ?? agreePauseMs);
  await stock.read();
  return () => knownOf(input, own, asked);
}

export function knownOf(
  { config, stock, promises, now }: Omit<WithdrawalsInput, 'store' | 'deals' | 'chains'>,
  { of }: { readonly of: ChainConfig },
  asked: Parameters<typeof ruleOf>[0],
): Known {
  const all = config.assets.filter(({ chain }) => chain === asked.chain);
  const costs = all.flatMap((each) => stock.costsOf(each) ?? []);
  return {
    balances: stock.balances,
    reserves: stock.reserves,
    commitments: promises.commitments(),
    nowMs: now(),
    costs: stock.costsOf(ruleOf(asked)),
    dearest: costs.reduce<Costs | null>(
      (most, each) => (most && most.fund >= each.fund ? most : each),
      null,
    ),
    leastSwaps: of.warnBelowSwaps,
    coinDecimals: factsOf[of.family].coin.decimals,
  };
}

/** All nodes that answer say the same balances. On Bitcoin a coin counts where all have it. */
async function mustAgree(
  { source, wallet }: Own,
  { chain, token }: Withdrawal,
  limit: () => AbortSignal,
  pauseMs: Millis,
): Promise<void> {
  const nodes = nodesOf(source);
  if (nodes.length < 2 || has(wallet, 'coins')) return;
  const refund = { address: wallet.address, pubkey: null };
  let differ: string[] = [];
  for (let tries = 0; tries < agreeTries; tries += 1) {
    if (tries > 0) await wait(pauseMs);
    const asking = nodes.map(async (node) => {
      const coin = await node.held?.({ token: null, refund }, limit());
      return `${coin} and ${token === null ? coin : await node.held?.({ token, refund }, limit())}`;
    });
    const said = await Promise.allSettled(asking);
    differ = [...new Set(said.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])))];
    if (differ.length === 1) return;
    const [first] = said;
    if (differ.length === 0 && first?.status === 'rejected') throw first.reason;
  }
  const sentence = `the nodes of ${chain} differ about the balances of ${wallet.address}`;
  throw new Failure('chain_unavailable', 'nodes_disagree', `${sentence}: ${differ.join(', or ')}`);
}

/** Its change cannot be spent before a block has it, and others are promised coins by then. */
export async function mustLeaveCoins(
  { promises, now }: WithdrawalsInput,
  { id, chain }: Withdrawal,
  left: BaseUnits,
): Promise<void> {
  const others = promises.commitments().filter((each) => each.id !== id);
  const coin = holdingOf({ chain, token: null });
  const taken = takenOf(coin, { units: left, readAtMs: now() }, others);
  if (left >= taken) return;
  const sentence =
    `${left} sats would be left in confirmed coins until a block has the change, and ${taken} ` +
    'are promised: withdraw less, or wait until open swaps are funded';
  throw needsYou('short', sentence);
}
