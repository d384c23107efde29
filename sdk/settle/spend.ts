// Signed claims and refunds. They are built from the customer's own record and chain sources, never
// by the market: it could name coins that do not exist, be slow when time is short, or learn from
// the question what nobody should know yet. What comes out is checked like anybody's bytes.

import type { Material, Signed } from '../../chains/material.ts';
import type { LegName } from '../../core/trade.ts';
import { VerificationError } from '../errors.ts';
import type { Kept, SwapRecord } from '../stores/store.ts';
import { type Asked, outputsOf, verifyMaterial } from '../verify-material.ts';
import type { AccountWallet, BitcoinWallet } from '../wallets/wallet.ts';
import { type Context, legOf, sourceOf, walletOf, watchedOf } from './context.ts';

export type Spending = Asked & { readonly verb: 'claim' | 'refund' };

/** A signed claim or refund of this leg, not sent. */
export async function spend(
  context: Context,
  record: SwapRecord,
  name: LegName,
  asked: Spending,
): Promise<Kept> {
  const leg = legOf(record, name);
  const { adapter, view } = sourceOf(context, leg.chain);
  const input = { escrow: watchedOf(record, name), feeRateSatPerVbyte: null };
  const built =
    asked.verb === 'claim'
      ? await adapter.buildClaim(input, asked.secret, context.limit())
      : await adapter.buildRefund(input, context.limit());
  const outputs = built.sign === 'btc-sighash' ? outputsOf(built.psbtBase64) : null;
  const limits = { validUntil: null, outputs, now: await context.now() };
  verifyMaterial(built, asked, leg.escrow.terms, view, limits);
  return signed(context, record, name, asked, built);
}

async function signed(
  context: Context,
  record: SwapRecord,
  name: LegName,
  asked: Spending,
  built: Material,
): Promise<Kept> {
  const { chain } = legOf(record, name);
  const wallet = walletOf(context, chain);
  if (wallet.family !== 'bitcoin') {
    const [sign] = signingsOf(context, built, wallet);
    if (sign === undefined) throw new VerificationError('sign', 'something', 'nothing');
    return sign();
  }
  if (built.sign !== 'btc-sighash') {
    throw new VerificationError('sign', `for a ${wallet.family} wallet`, built.sign);
  }
  const psbt = await signedPsbt(context, wallet, asked, built);
  const { adapter } = sourceOf(context, chain);
  const { txid, raw } = await adapter.readSigned(psbt, context.limit());
  return { txid, raw };
}

/**
 * What is signed for a call of contracts, in order, each when it is its turn: the approvals of a
 * token, and then the funding; or the claim or refund alone.
 */
export function signingsOf(
  context: Context,
  built: Material,
  wallet: AccountWallet,
): (() => Promise<Kept>)[] {
  if (built.sign === 'evm-tx' && wallet.family === 'evm') {
    return built.txs.map((call) => () => wallet.sign(built.chainId, call, context.limit()));
  }
  if (built.sign === 'tron-txid' && wallet.family === 'tron') {
    return built.transactions.map((each) => () => wallet.sign(each, context.limit()));
  }
  if (built.sign === 'solana-tx' && wallet.family === 'solana') {
    return [() => wallet.sign(built, context.limit())];
  }
  throw new VerificationError('sign', `for a ${wallet.family} wallet`, built.sign);
}

async function signedPsbt(
  context: Context,
  wallet: BitcoinWallet,
  asked: Spending,
  built: Material & { sign: 'btc-sighash' },
): Promise<Signed> {
  const signaturesHex = await wallet.signSighashes(built.sighashHexes, context.limit());
  const preimage = asked.verb === 'claim' ? { preimageHex: asked.secret } : {};
  return { psbtBase64: built.psbtBase64, signaturesHex, ...preimage };
}
