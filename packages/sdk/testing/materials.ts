// Tests only: unsigned bytes of all four families as an honest market builds them, by the terms and
// the same pure plans.

import { rateOf } from '@parley/chains/bitcoin/fees.ts';
import { bitcoinEscrow, buildSpend, paymentUri, vsizeOf } from '@parley/chains/bitcoin/plan.ts';
import * as evm from '@parley/chains/evm/plan.ts';
import type { EvmCall, Material } from '@parley/chains/interface/material.ts';
import {
  solanaDeployment,
  solanaEscrow,
  solanaTransaction,
  type Wanted,
} from '@parley/chains/solana/plan.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { type TokenProgram, tokenProgram } from '@parley/chains/solana/programs.ts';
import { solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import * as tron from '@parley/chains/tron/plan.ts';
import { type TronCall, tronTransaction } from '@parley/chains/tron/plan.ts';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import type { Family } from '@parley/core/families.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { base58 } from '@scure/base';
import type { ChainView } from '../trade.ts';
import type { Asked } from '../verify-material.ts';
import { bitcoinView, evmView, now, secret, termsOf } from './honest.ts';

type View<F extends Family> = ChainView & { family: F };
export const someone = (byte: number) => new Uint8Array(32).fill(byte);
const contract = tronAddressOfKey(someone(9));
const deployment: tron.TronDeployment = { chainId: 7, contract };
export const tronView: View<'tron'> = {
  family: 'tron',
  chain: 'tron-dev',
  deployment,
  policy: tronDevPolicy,
};
export const solanaView: View<'solana'> = {
  family: 'solana',
  chain: 'solana-dev',
  deployment: solanaDeployment,
  policy: solanaChains['solana-dev'].policy,
};
export const viewOf = { evm: evmView, bitcoin: bitcoinView, tron: tronView, solana: solanaView };

/** Terms of a leg on this family, of its token or its coin. */
export function termsOn(family: Family, isToken: boolean, own = secret): EscrowTerms {
  const hashlock = hashlockOf(own);
  if (family === 'bitcoin') return { ...termsOf('b', now + 20_000), hashlock };
  if (family === 'evm') {
    const terms = { ...termsOf('a', now + 20_000), hashlock };
    return isToken ? terms : { ...terms, token: null };
  }
  const addressOf = family === 'tron' ? tronAddressOfKey : solanaAddressOfSeed;
  const party = (byte: number) => ({ address: addressOf(someone(byte)), pubkey: null });
  const lane = { number: '5a'.repeat(12), counter: 3 };
  return {
    chain: `${family}-dev`,
    hashlock,
    payout: party(1),
    refund: party(2),
    token: isToken ? addressOf(someone(3)) : null,
    amount: 600_000_000n,
    timelock: now + 20_000,
    ...(family === 'tron' && { fundBefore: now + 10_000, lane }),
  };
}

/** The payments to the escrow on Bitcoin. */
export const outputs = [{ txid: 'cd'.repeat(32), vout: 1, amount: 1_000_000n }];

type How = {
  /** The allowance that the contract has already. */
  readonly allowed?: bigint;
  readonly standing?: boolean;
  /** Bitcoin: satoshis. */
  readonly fee?: bigint;
  /** Solana: micro-lamports a unit. */
  readonly unitPrice?: bigint;
  /** TRON. */
  readonly envelope?: Partial<typeof envelope>;
};

export function callsOn(terms: EscrowTerms, asked: Asked, allowed = 0n): TronCall[] {
  if (asked.verb === 'fund') {
    return tron.fundCalls(terms, deployment, allowed, asked.laneSignature);
  }
  if (asked.verb === 'refund') {
    const { release } = asked;
    if (release !== undefined) return [tron.releaseCall(terms, deployment, release)];
    return [tron.refundCall(terms, deployment)];
  }
  return [tron.claimCall(terms, deployment, asked.secret)];
}

export const envelope = {
  refBlockBytes: '00ff',
  refBlockHash: '0123456789abcdef',
  feeLimitSun: 30_000_000n,
  expiration: (now + 600) * 1_000,
  timestamp: now * 1_000,
};

export function tronMaterial(terms: EscrowTerms, calls: readonly TronCall[], more = {}): Material {
  const escrow = tron.tronEscrow(terms, deployment).address;
  const transactions = calls.map((call) => tronTransaction(call, { ...envelope, ...more }));
  const from = calls[0]?.from ?? '';
  return { chain: 'tron-dev', family: 'tron', sign: 'tron-txid', from, transactions, escrow };
}

export const blockhash = base58.encode(someone(7));

export function built(family: Family, terms: EscrowTerms, asked: Asked, how: How = {}): Material {
  const { allowed = 0n, standing = false, fee = 400n, unitPrice = 1_000n } = how;
  if (family === 'tron') {
    return tronMaterial(terms, callsOn(terms, asked, allowed), how.envelope);
  }
  if (family === 'solana') {
    const owner: TokenProgram | null = terms.token === null ? null : tokenProgram;
    const circumstances = { blockhash, unitPrice, tokenProgram: owner };
    const isReleased = asked.verb === 'refund' && asked.isReleased === true;
    const wanted: Wanted = isReleased ? { verb: 'release' } : asked;
    return {
      chain: 'solana-dev',
      family,
      sign: 'solana-tx',
      lastValidBlockHeight: 1_000,
      transaction: solanaTransaction(terms, solanaDeployment, wanted, circumstances),
      escrow: solanaEscrow(terms, solanaDeployment).address,
    };
  }
  if (family === 'bitcoin') return onBitcoin(terms, asked, fee);
  const { deployment: own } = evmView;
  const allowance = standing ? 'standing' : 'exact';
  const calls = (): EvmCall[] => {
    if (asked.verb === 'fund') return evm.fundCalls(terms, own, allowed, { ...asked, allowance });
    if (asked.verb === 'claim') return [evm.claimCall(terms, own, asked.secret)];
    if (asked.release !== undefined) return [evm.releaseCall(terms, own, asked.release)];
    return [evm.refundCall(terms, own)];
  };
  const txs = calls();
  return {
    chain: 'evm-dev',
    family,
    sign: 'evm-tx',
    chainId: 31_337,
    ...(asked.verb === 'fund' ? { from: terms.refund.address } : {}),
    txs,
    escrow: evm.evmEscrow(terms, own).address,
  };
}

function onBitcoin(terms: EscrowTerms, asked: Asked, fee: bigint): Material {
  const { network } = bitcoinView;
  const { address: escrow } = bitcoinEscrow(terms, network);
  const base = { chain: 'bitcoin-regtest', family: 'bitcoin', escrow } as const;
  if (asked.verb === 'fund') {
    const uri = paymentUri(escrow, 1_000_000n);
    return { ...base, sign: 'btc-payment', payTo: escrow, amountSats: '1000000', uri };
  }
  const { psbtBase64, sighashHexes } = buildSpend(terms, network, asked.verb, outputs, fee);
  const feeRateSatPerVbyte = rateOf(fee, vsizeOf(terms, network, asked.verb, 1));
  const feeSats = fee.toString();
  const ladder = [{ at: now, feeRateSatPerVbyte, feeSats }];
  return {
    ...base,
    sign: 'btc-sighash',
    psbtBase64,
    sighashHexes,
    ...(terms.form === 'p2tr' && { scheme: 'schnorr' }),
    feeSats,
    feeRateSatPerVbyte,
    ladder,
  };
}
