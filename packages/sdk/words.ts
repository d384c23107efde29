// A person's next signature, as values for a screen. The material was checked before: this module
// believes and checks nothing. Pure.

import type { Material } from '@parley/chains/interface/material.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Asked } from './verify-material.ts';

export type Signing = {
  /** `reset`: an approval that has to be zero before it can be another amount. */
  readonly what: 'fund' | 'approve' | 'reset' | 'claim' | 'refund';
  /** Base units of the asset. null: an approval of any amount. */
  readonly amount: BaseUnits | null;
  readonly token: string | null;
  /** The party that may take it: the contract of the escrow, else the escrow or the paid party. */
  readonly to: string;
  readonly chain: ChainKey;
  /** Base units of the chain's own coin; null: the wallet chooses and displays it. */
  readonly feeAtMost: BaseUnits | null;
  /** No block takes it later; null: no such time is in it. */
  readonly until: UnixSeconds | null;
};

/** A warning after an escrow that a person pays by hand; empty where any wallet can. */
export function payableBy({ form }: Pick<EscrowTerms, 'form'>): string {
  if (form === undefined) return '';
  return '. Some exchanges and older wallets cannot pay Taproot (bc1p): then pay from another one';
}

/** One a prompt, in order. */
export function wordsOf(material: Material, { verb }: Asked, terms: EscrowTerms): Signing[] {
  const { chain, escrow } = material;
  const { token, amount, payout, refund, fundBefore } = terms;
  const [contract = escrow] = escrow.split(':');
  const paid = { fund: contract, claim: payout.address, refund: refund.address }[verb];
  const until = verb === 'fund' ? (fundBefore ?? null) : null;
  const last: Signing = { what: verb, amount, token, to: paid, chain, feeAtMost: null, until };
  const before = (data: string): Signing => {
    const allowed = BigInt(`0x${data.slice(-64)}`);
    const isAny = allowed > amount;
    const what = allowed === 0n ? 'reset' : 'approve';
    return { ...last, what, amount: isAny ? null : allowed, until: null };
  };
  switch (material.sign) {
    case 'evm-tx':
      return [...material.txs.slice(0, -1).map(({ data }) => before(data)), last];
    case 'tron-txid':
      return material.transactions.map(({ raw_data }, at) => {
        const [call] = raw_data.contract;
        const isLast = at === material.transactions.length - 1;
        const said = isLast ? last : before(call?.parameter.value.data ?? '');
        const ends = Math.floor(raw_data.expiration / 1_000);
        return { ...said, feeAtMost: BigInt(raw_data.fee_limit), until: ends };
      });
    case 'solana-tx':
      // The deposit is none: it comes back by and by.
      return [{ ...last, feeAtMost: material.costs ? BigInt(material.costs.feeLamports) : null }];
    case 'btc-payment':
      return [last];
    case 'btc-sighash':
      return [{ ...last, feeAtMost: BigInt(material.feeSats) }];
  }
}
