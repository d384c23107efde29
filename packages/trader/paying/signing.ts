// A payment by a wallet of a trader's own, to one address. It is signed here and not sent: its bytes
// are to be on disk before any node has them.

import { transferCall } from '@parley/chains/evm/builders.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import type { Kept } from '@parley/sdk/stores/store.ts';
import type { OwnWallet } from '../chains.ts';
import { Failure } from '../failures.ts';
import { type PinnedChain, tronAt, urlsOf } from '../sources.ts';
import type { Payment } from './payment.ts';
import { mustSucceed, parseWallet, solanaPayment } from './solana.ts';
import { tronPayment } from './tron.ts';

export type Payer = {
  readonly chain: ChainKey;
  readonly of: PinnedChain;
  readonly wallet: OwnWallet;
  /** EVM: nonces that are spoken for. */
  readonly taken?: ReadonlySet<number>;
};

/**
 * Tried first by a node where the chain lets it be: one that would fail is not signed. On Bitcoin
 * its coins are set apart until `release` of the wallet. Throws Failure `no_coins`, `pay_fails`,
 * ParleyError `bad_address`, and the error of a node.
 */
export async function signedPayment(
  { chain, of, wallet, taken = new Set() }: Payer,
  payment: Payment,
  signal: AbortSignal,
): Promise<Kept> {
  const { to, token, amount } = payment;
  switch (wallet.family) {
    case 'bitcoin': {
      if (wallet.signPayment === undefined) {
        throw new Failure('local', 'no_coins', `the wallet on ${chain} has a key and no coins`);
      }
      return wallet.signPayment(to, amount, signal);
    }
    case 'evm': {
      if (of.family !== wallet.family) throw notOf(chain, of, wallet);
      return wallet.sign(of.chainId, transferCall(token, to, amount), signal, taken);
    }
    case 'tron': {
      const nodes = { chain, sources: tronAt(of.nodes) };
      return wallet.sign(await tronPayment(nodes, wallet.address, payment, signal), signal);
    }
    case 'solana': {
      const nodes = { chain, rpcUrls: urlsOf(chain, of) };
      const made = await solanaPayment(
        nodes,
        wallet.address,
        { ...payment, to: parseWallet(to) },
        signal,
      );
      await mustSucceed(nodes, made, signal);
      const material = { chain, transaction: made, escrow: '', lastValidBlockHeight: 0 };
      return wallet.sign({ ...material, family: 'solana', sign: 'solana-tx' }, signal);
    }
  }
}

function notOf(chain: ChainKey, { family }: PinnedChain, wallet: OwnWallet): Error {
  return new Error(`the wallet on ${chain} is of ${wallet.family}, and the chain of ${family}`);
}

/**
 * `lost`: no version of it will ever be mined. `deep`: as deep as the policy wants it. `unseen`:
 * Bitcoin shows no output of it, as while it waits and once its receiver has spent it.
 */
export type PaymentState = 'waiting' | 'unseen' | 'mined' | 'deep' | 'reverted' | 'lost';

/** `minedForMs`: since it was first seen in a block; null: it was not. */
export async function stateOfPayment(
  wallet: OwnWallet,
  kept: Kept,
  policy: { readonly confirmations: number; readonly settleSeconds: number },
  minedForMs: number | null,
  signal: AbortSignal,
): Promise<PaymentState> {
  const isOld = minedForMs !== null && minedForMs >= policy.settleSeconds * 1_000;
  switch (wallet.family) {
    case 'bitcoin': {
      const blocks = (await wallet.confirmations?.(kept, signal)) ?? null;
      if (blocks === null) return 'unseen';
      return blocks >= policy.confirmations ? 'deep' : 'mined';
    }
    case 'evm': {
      const { state } = await wallet.outcome(kept, signal);
      if (state === 'waiting') return 'waiting';
      const isDeep = await wallet.isNonceDeep(kept, policy.confirmations, signal);
      if (state === 'succeeded') return isDeep ? 'deep' : 'mined';
      return isDeep ? state : 'waiting';
    }
    case 'tron':
    case 'solana': {
      const outcome = await wallet.outcome(kept, signal);
      if (outcome.state === 'waiting' || outcome.doubt !== undefined) return 'waiting';
      return outcome.state === 'succeeded' ? (isOld ? 'deep' : 'mined') : outcome.state;
    }
  }
}

/**
 * The same payment at a higher fee, of which no more than one is ever mined; `gone`: a block has
 * spent a coin of it, and `spent.ts` says by what. null: it cannot be raised now, or dies by itself.
 */
export async function raisedPayment(
  wallet: OwnWallet,
  kept: Kept,
  { to, amount }: Pick<Payment, 'to' | 'amount'>,
  signal: AbortSignal,
): Promise<Kept | 'gone' | null> {
  switch (wallet.family) {
    case 'bitcoin': {
      const raised = await wallet.signRaise?.(kept, { payTo: to, amountSats: amount }, signal);
      if (raised === 'coins_gone') return 'gone';
      return raised === undefined || raised === 'no_fee' ? null : raised;
    }
    case 'evm':
      return wallet.raise(kept, { mostFeeWei: null }, signal);
    case 'tron':
    case 'solana':
      return null;
  }
}

/** Gives free what the signature of a payment holds, which no node has and nobody keeps. */
export function unsignPayment(wallet: OwnWallet, kept: Kept): void {
  if (has(wallet, 'coins')) wallet.release?.(kept.raw, kept);
  if (has(wallet, 'nonces')) wallet.forget();
}
